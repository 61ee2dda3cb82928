/**
 * Jobs: work on a schedule. A due time is claimed in the unit that does the work, so that it is worked off once,
 * however often the server restarts; times that passed while it was down are worked off once, at the next start.
 *
 * @module
 */

import { Cron } from "croner";

import {
  acrossAccounts,
  type Clock,
  type Database,
  instantOf,
  type Migrations,
  type Store,
  tables,
} from "../db/mod.ts";
import type { Log } from "../log.ts";
import { createLoop } from "../loop.ts";
import { definePlugin } from "../plugin/define.ts";
import type { AnyJob, JobContext } from "../plugin/types.ts";

/** What it needs. */
export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly jobs: readonly AnyJob[];
  /** Runs `work` with the context of a job, and records what it emits. Lent by calls. */
  readonly inJob: (
    db: Database,
    job: AnyJob,
    work: (context: JobContext) => Promise<void>,
  ) => Promise<void>;
}

/** Runs jobs when they are due. */
export interface Scheduler {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Runs all that is due by the clock. For tests with a clock of their own. */
  runDue(): Promise<void>;
}

interface ScheduleRow {
  name: string;
  next_at: string;
  last_run_at: string | null;
  last_error: string | null;
}

const schedules = (db: Database) => tables<{ jobs_schedules: ScheduleRow }>(acrossAccounts(db));

const tick = 1000;
/** When a schedule is due that has come to its end. */
const never = "9999-12-31T23:59:59Z";

/** Makes the scheduler. */
export function createScheduler({ store, clock, log, jobs, inJob }: SchedulerOptions): Scheduler {
  const nextAfter = (job: AnyJob, ms: number): string => {
    const next = new Cron(job.schedule, { paused: true, timezone: "UTC" }).nextRun(new Date(ms));
    return next === null ? never : instantOf(next.getTime());
  };

  const learn = async (db: Database): Promise<void> => {
    for (const job of jobs) {
      const next_at = nextAfter(job, clock.ms());
      await schedules(db)
        .insertInto("jobs_schedules")
        .values({ name: job.name, next_at, last_run_at: null, last_error: null })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .execute();
    }
  };

  const due = async (): Promise<AnyJob[]> => {
    const rows = await store.read((db) =>
      schedules(db)
        .selectFrom("jobs_schedules")
        .select("name")
        .where("next_at", "<=", clock.now())
        .execute(),
    );
    return jobs.filter(({ name }) => rows.some((row) => row.name === name));
  };

  /** Moves the schedule on, in the unit at hand; false where another run has done so. */
  const take = async (db: Database, job: AnyJob): Promise<boolean> => {
    const { numUpdatedRows } = await schedules(db)
      .updateTable("jobs_schedules")
      .set({ next_at: nextAfter(job, clock.ms()), last_run_at: clock.now(), last_error: null })
      .where("name", "=", job.name)
      .where("next_at", "<=", clock.now())
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };

  const run = async (job: AnyJob): Promise<void> => {
    const { pending } = job;
    if (pending !== undefined && !(await store.read((db) => pending(db, clock.now())))) return;
    let first = true;
    let more = true;
    while (more) {
      more = await store.write(async (db) => {
        if (first && !(await take(db, job))) return false;
        let again = false;
        await inJob(db, job, async (context) => {
          again = (await job.handler(context)) === true;
        });
        return again;
      });
      first = false;
    }
  };

  const note = async (job: AnyJob, error: unknown): Promise<void> => {
    log.error({ err: error }, `The job "${job.name}" failed`);
    const last_error = error instanceof Error ? error.message : String(error);
    await store.write((db) =>
      schedules(db)
        .updateTable("jobs_schedules")
        .set({ next_at: nextAfter(job, clock.ms()), last_error })
        .where("name", "=", job.name)
        .execute(),
    );
  };

  const runDue = async (): Promise<void> => {
    for (const job of await due()) await run(job).catch((error: unknown) => note(job, error));
  };

  const loop = createLoop(
    async () => {
      await runDue();
      return tick;
    },
    (error) => log.error({ err: error }, "The jobs could not be read"),
  );

  return {
    runDue,
    stop: loop.stop,
    async start() {
      await store.write(learn);
      loop.start();
    },
  };
}

const migrations: Migrations = {
  "0001_create": [
    `create table jobs_schedules (
      name text primary key, next_at text not null, last_run_at text, last_error text)`,
  ],
};

/** The schedule's table, as a plugin of core. */
export const jobsPlugin = definePlugin({
  name: "jobs",
  summary: "When which job is due.",
  migrations,
});
