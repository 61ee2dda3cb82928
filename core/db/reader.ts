/**
 * Readers: connections that cannot write, each lent for one snapshot at a time.
 *
 * @module
 */

import type { Database, HandleMaker } from "./handle.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** Runs reads. */
export interface Reader {
  /** Runs `work` in one read transaction: all that it sees is of one moment. */
  read<T>(work: (db: Database) => Promise<T>): Promise<T>;
  close(): void;
}

/** Makes a reader of some connections; the first free one is lent. */
export function createReader(connections: readonly SqliteConnection[], handle: HandleMaker): Reader {
  const free = [...connections];
  const waiting: ((connection: SqliteConnection) => void)[] = [];

  return {
    async read(work) {
      const connection = free.pop() ?? (await new Promise<SqliteConnection>((lend) => waiting.push(lend)));
      const { db, revoke } = handle(connection);
      try {
        connection.statement("begin").run();
        return await work(db);
      } finally {
        revoke();
        if (connection.database.inTransaction) connection.statement("commit").run();
        const next = waiting.shift();
        if (next === undefined) free.push(connection);
        else next(connection);
      }
    },
    close() {
      for (const { database } of connections) database.close();
    },
  };
}
