/**
 * Jobs: each due time once, however often the server starts; nothing where nothing is to do.
 */

import { expect, test } from "bun:test";

import { defineEvent, defineJob, definePlugin, type Plugin, t } from "#core";

import { fakeClock } from "../../core/db/mod.ts";
import { serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

/** What a test's jobs have done, and what they are to do. */
interface Diary {
  runs: string[];
  once: string[];
  slices: number;
  failing: boolean;
  waiting: boolean;
  asked: number;
}

function chores(diary: Diary): Plugin {
  const tidied = defineEvent({
    name: "chores.tidied",
    summary: "It was tidied up.",
    scope: null,
    listing: null,
    payload: t.Object({ run: t.Integer() }),
  });
  return definePlugin({
    name: "chores",
    summary: "Work on a schedule.",
    events: { tidied },
    jobs: {
      tidy: defineJob({
        name: "chores.tidy",
        summary: "Tidies up, in slices.",
        schedule: "*/10 * * * *",
        emits: [tidied],
        async handler({ now, as }) {
          diary.runs.push(now);
          as("account").emit(tidied, { run: diary.runs.length });
          if (diary.failing) throw new Error("The broom is broken");
          return diary.runs.length % diary.slices !== 0;
        },
      }),
      once: defineJob({
        name: "chores.once",
        summary: "Works once, and never again.",
        schedule: "0 5 8 15 1 * 2027",
        async handler({ now }) {
          diary.once.push(now);
        },
      }),
      wait: defineJob({
        name: "chores.wait",
        summary: "Works only where something waits.",
        schedule: "* * * * *",
        pending: async () => {
          diary.asked++;
          return diary.waiting;
        },
        async handler({ now }) {
          diary.runs.push(`waited ${now}`);
        },
      }),
    },
  });
}

const newDiary = (): Diary => ({
  runs: [],
  once: [],
  slices: 1,
  failing: false,
  waiting: false,
  asked: 0,
});

// 08:00:00, a due time of every schedule here.
const begin = async (diary: Diary) => {
  const clock = fakeClock(1_800_000_000_000);
  const plugins = [notesPlugin(), chores(diary)];
  const server = await serve({ plugins, clock });
  return { clock, server, again: () => serve({ plugins, clock, dir: server.dir }) };
};

const schedule = async (server: Served, name: string) =>
  (await server.rows("jobs_schedules")).find((row) => row.name === name);

test("a job runs at its due time, once, and not before", async () => {
  const diary = newDiary();
  const { server, clock } = await begin(diary);
  await using _ = server;
  const { scheduler } = server.app;
  await scheduler.runDue();
  expect(diary.runs).toEqual([]);
  expect((await schedule(server, "chores.tidy")).next_at).toBe("2027-01-15T08:10:00Z");
  clock.advance(599_999);
  await scheduler.runDue();
  expect(diary.runs).toEqual([]);
  clock.advance(1);
  await Promise.all([scheduler.runDue(), scheduler.runDue(), scheduler.runDue()]);
  await scheduler.runDue();
  expect(diary.runs).toEqual(["2027-01-15T08:10:00Z"]);
  expect(await schedule(server, "chores.tidy")).toEqual({
    name: "chores.tidy",
    next_at: "2027-01-15T08:20:00Z",
    last_run_at: "2027-01-15T08:10:00Z",
    last_error: null,
  });
});

test("a due time is worked off once across restarts, and those missed meanwhile once together", async () => {
  const diary = newDiary();
  const first = await begin(diary);
  await using _ = first.server;
  const { clock } = first;
  clock.advance(600_000);
  await first.server.app.scheduler.runDue();
  await first.server.stop();
  const second = await first.again();
  await second.app.scheduler.runDue();
  expect(diary.runs).toHaveLength(1);
  await second.stop();
  // Down for five hours, thirty due times.
  clock.advance(5 * 3_600_000);
  const third = await first.again();
  await third.app.scheduler.runDue();
  await third.app.scheduler.runDue();
  expect(diary.runs).toEqual(["2027-01-15T08:10:00Z", "2027-01-15T13:10:00Z"]);
  expect((await schedule(third, "chores.tidy")).next_at).toBe("2027-01-15T13:20:00Z");
  await third.stop();
});

test("two servers on the same data work off a due time once between them", async () => {
  const diary = newDiary();
  const { server, clock, again } = await begin(diary);
  await using _ = server;
  const second = await again();
  for (let i = 0; i < 5; i++) {
    clock.advance(600_000);
    await Promise.all([server.app.scheduler.runDue(), second.app.scheduler.runDue()]);
  }
  expect(diary.runs).toHaveLength(5);
  await second.stop();
});

test("a job that has more to do is called again at once, each slice in a unit of its own", async () => {
  const diary = { ...newDiary(), slices: 4 };
  const { server, clock } = await begin(diary);
  await using _ = server;
  clock.advance(600_000);
  await server.app.scheduler.runDue();
  expect(diary.runs).toHaveLength(4);
  expect(await server.payloads("chores.tidied")).toEqual([
    { run: 1 },
    { run: 2 },
    { run: 3 },
    { run: 4 },
  ]);
});

test("a job that fails takes its work back, says why, and is due again at its next time", async () => {
  const diary = { ...newDiary(), failing: true };
  const { server, clock } = await begin(diary);
  await using _ = server;
  const { scheduler } = server.app;
  clock.advance(600_000);
  await scheduler.runDue();
  await scheduler.runDue();
  expect(diary.runs).toHaveLength(1);
  expect(await server.events()).toEqual([]);
  expect(await schedule(server, "chores.tidy")).toMatchObject({
    next_at: "2027-01-15T08:20:00Z",
    last_run_at: null,
    last_error: "The broom is broken",
  });
  diary.failing = false;
  clock.advance(600_000);
  await scheduler.runDue();
  expect(diary.runs).toHaveLength(2);
  expect(await server.events()).toEqual(["chores.tidied"]);
  expect((await schedule(server, "chores.tidy")).last_error).toBeNull();
});

test("a job with nothing to do costs no commit", async () => {
  const diary = newDiary();
  const { server, clock } = await begin(diary);
  await using _ = server;
  const { scheduler, store } = server.app;
  await scheduler.runDue();
  const before = store.stats.units;
  for (let i = 0; i < 9; i++) {
    clock.advance(60_000);
    await scheduler.runDue();
  }
  expect(diary.asked).toBeGreaterThanOrEqual(9);
  expect(diary.runs).toEqual([]);
  // The one unit is of the job that is due once.
  expect([store.stats.units - before, diary.once.length]).toEqual([1, 1]);
  diary.waiting = true;
  await scheduler.runDue();
  await scheduler.runDue();
  expect(diary.runs).toEqual(["waited 2027-01-15T08:09:00Z"]);
});

test("a schedule that has come to its end is due no more", async () => {
  const diary = newDiary();
  const { server, clock, again } = await begin(diary);
  await using _ = server;
  for (let i = 0; i < 4; i++) {
    clock.advance(300_000);
    await server.app.scheduler.runDue();
  }
  expect(diary.once).toEqual(["2027-01-15T08:05:00Z"]);
  expect((await schedule(server, "chores.once")).next_at).toBe("9999-12-31T23:59:59Z");
  await server.stop();
  const second = await again();
  await second.app.scheduler.runDue();
  expect(diary.once).toHaveLength(1);
  await second.stop();
});
