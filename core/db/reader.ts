/**
 * Readers: connections that cannot write. Reads that begin in one turn of the event loop share a snapshot: opening and
 * closing one costs as much as a small query, and a busy server answers many reads a turn. A commit ends the sharing,
 * so that whoever has been told of a write also sees it.
 *
 * @module
 */

import type { Database, HandleMaker } from "./handle.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** Runs reads. */
export interface Reader {
  /** Runs `work` in one read transaction: all that it sees is of one moment. */
  read<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /**
   * Something is about to be committed: reads that begin afterwards see it. Called before the commit, for it also
   * empties the log into the file, which a snapshot that still is open would keep growing.
   */
  renew(): void;
  close(): void;
}

interface Snapshot {
  readonly connection: SqliteConnection;
  /** Reads under way on it. */
  users: number;
  /** May further reads join? */
  open: boolean;
}

/** Makes a reader of some connections. */
export function createReader(
  connections: readonly SqliteConnection[],
  handle: HandleMaker,
): Reader {
  const free = [...connections];
  const waiting: (() => void)[] = [];
  let shared: Snapshot | undefined;

  const close = (snapshot: Snapshot): void => {
    snapshot.open = false;
    if (shared === snapshot) shared = undefined;
    if (snapshot.users === 0) giveBack(snapshot);
  };

  const giveBack = ({ connection }: Snapshot): void => {
    connection.statement("commit").run();
    free.push(connection);
    waiting.shift()?.();
  };

  const begin = (connection: SqliteConnection): Snapshot => {
    connection.begin("begin");
    const snapshot: Snapshot = { connection, users: 0, open: true };
    // What begins in a later turn may follow a write of another process: it gets a snapshot of its own.
    setImmediate(() => {
      if (snapshot.open) close(snapshot);
    });
    return snapshot;
  };

  const freeConnection = async (): Promise<void> => {
    while (shared === undefined && free.length === 0)
      await new Promise<void>((resolve) => waiting.push(resolve));
  };

  return {
    async read(work) {
      if (shared === undefined && free.length === 0) await freeConnection();
      shared ??= begin(free.pop() as SqliteConnection);
      const snapshot = shared;
      snapshot.users++;
      const { db, revoke } = handle(snapshot.connection);
      try {
        return await work(db);
      } finally {
        revoke();
        snapshot.users--;
        if (!snapshot.open && snapshot.users === 0) giveBack(snapshot);
      }
    },
    renew() {
      if (shared !== undefined) close(shared);
    },
    close() {
      if (shared !== undefined) close(shared);
      for (const { database } of connections) database.close();
    },
  };
}
