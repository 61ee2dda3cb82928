/**
 * The one writer. Concurrent units share one commit, each in a savepoint of its own: what one pays for the disk, all
 * have paid. No caller hears of success before COMMIT has returned.
 *
 * @module
 */

import type { Database, HandleMaker } from "./handle.ts";
import { type SqliteConnection, versionOf } from "./sqlite.ts";

/** Runs units of work. */
export interface Writer {
  /** Runs `work` in a unit. Rejects with what `work` threw (then nothing of it remains) or with the commit's fault. */
  write<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Waits for the units at hand and refuses further ones. */
  close(): Promise<void>;
  /** Changes with each commit that wrote a table of this plugin, and with every commit of another process. */
  version(plugin: string): string;
  /** Commits so far, and the units in them. */
  readonly stats: { commits: number; units: number };
}

interface Unit {
  readonly work: (db: Database) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  readonly unit: Unit;
  readonly failed: boolean;
  readonly value: unknown;
  readonly error: unknown;
}

/** At most so many units share a commit, */
const mostUnits = 256;
/** and after so many milliseconds the timers get their turn. */
const slice = 5;
/** A unit awaits nothing but its database; one that has not settled by then never will in time. */
const unitTimeout = 250;
/** How long another process may hold the write lock before a caller is told. */
const busyTimeout = 10_000;

/** Makes the writer of a connection; `committing` is called just before each commit, and nothing runs in between. */
export function createWriter(
  connection: SqliteConnection,
  handle: HandleMaker,
  committing: () => void = () => {},
): Writer {
  const run = (sql: string): void => void connection.statement(sql).run();
  const queue: Unit[] = [];
  const stats = { commits: 0, units: 0 };
  const versions = new Map<string, number>();
  let flushing = false;
  let closed = false;
  let idle: (() => void) | undefined;

  const write = <T>(work: (db: Database) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (closed) return reject(new Error("The database is closed"));
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      schedule();
    });

  const schedule = (): void => {
    if (flushing) return;
    flushing = true;
    setImmediate(() => void flush());
  };

  const flush = async (): Promise<void> => {
    try {
      if (await begin()) await commitBatch();
    } finally {
      flushing = false;
      // Looked at after the flag is down: a unit that came in between would else wait for ever.
      if (queue.length > 0) schedule();
      else idle?.();
    }
  };

  const begin = async (): Promise<boolean> => {
    const since = performance.now();
    for (;;) {
      try {
        connection.begin("begin immediate");
        return true;
      } catch (error) {
        if (isBusy(error) && performance.now() - since < busyTimeout) {
          await Bun.sleep(2);
          continue;
        }
        for (const unit of queue.splice(0)) unit.reject(error);
        return false;
      }
    }
  };

  const commitBatch = async (): Promise<void> => {
    const outcomes: Outcome[] = [];
    const batch: Unit[] = [];
    const started = performance.now();
    const watch = watchdog();
    try {
      while (queue.length > 0 && batch.length < mostUnits && performance.now() - started < slice) {
        const unit = queue.shift() as Unit;
        batch.push(unit);
        outcomes.push(await savepoint(unit, watch));
        // The disk was full or the like: SQLite itself has rolled back all of it.
        if (!connection.database.inTransaction) throw outcomes.at(-1)?.error;
      }
      committing();
      run("commit");
    } catch (error) {
      if (connection.database.inTransaction) run("rollback");
      // The unit whose savepoint could not be ended has no outcome; it is told all the same.
      for (const unit of batch) unit.reject(error);
      return;
    } finally {
      watch.stop();
    }
    for (const table of connection.written) {
      const plugin = pluginOf(table);
      versions.set(plugin, (versions.get(plugin) ?? 0) + 1);
    }
    connection.written.clear();
    stats.commits++;
    stats.units += outcomes.length;
    // A refusal, too, may rest on what a sibling wrote: nobody is told before the commit.
    for (const { unit, failed, value, error } of outcomes) {
      if (failed) unit.reject(error);
      else unit.resolve(value);
    }
  };

  const savepoint = async (unit: Unit, watch: Watchdog): Promise<Outcome> => {
    run("savepoint unit");
    const { db, revoke } = handle(connection);
    try {
      const value = await watch.over(() => unit.work(db));
      revoke();
      run("release unit");
      return { unit, failed: false, value, error: undefined };
    } catch (error) {
      revoke();
      if (connection.database.inTransaction) {
        run("rollback to unit");
        run("release unit");
      }
      return { unit, failed: true, value: undefined, error };
    }
  };

  return {
    write,
    stats,
    version: (plugin) => `${versionOf(connection)} ${versions.get(plugin) ?? 0}`,
    async close() {
      closed = true;
      if (flushing || queue.length > 0) await new Promise<void>((resolve) => (idle = resolve));
      connection.database.close();
    },
  };
}

/** Tables are named after their plugin: `identity_api_keys`. */
const pluginOf = (table: string): string => table.split("_", 1)[0] ?? table;

interface Watchdog {
  over<T>(work: () => Promise<T>): Promise<T>;
  stop(): void;
}

/** Ends a unit that does not settle. One timer serves a whole batch. */
function watchdog(): Watchdog {
  let began = performance.now();
  let bite: (error: Error) => void = () => {};
  const look = (): void => {
    const left = began + unitTimeout - performance.now();
    if (left > 0) timer = setTimeout(look, left);
    else bite(new UnitTimeout());
  };
  let timer = setTimeout(look, unitTimeout);
  return {
    over: (work) =>
      new Promise((resolve, reject) => {
        began = performance.now();
        bite = reject;
        work().then(resolve, reject);
      }),
    stop: () => clearTimeout(timer),
  };
}

/** A unit awaited something else than its database. */
class UnitTimeout extends Error {
  constructor() {
    super(`A unit had not settled after ${unitTimeout} ms: it may await nothing but its database`);
  }
}

/** Does another process hold the lock? */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}
