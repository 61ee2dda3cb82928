/**
 * SQLite, through better-sqlite3: connections with cached statements, and durability that is asserted, not assumed.
 *
 * @module
 */

import Sqlite from "better-sqlite3";
import {
  type CompiledQuery,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { LRUCache } from "lru-cache";

import { type HandleConnection, NoTransactions } from "./handle.ts";

/** What Kysely needs to know of SQLite. */
export const sqliteDialect: Dialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new NoTransactions(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

const mostStatements = 500;
const openTimeout = 5000;
/** In KiB: the pages that a busy writer touches again and again. */
const writerCache = 65_536;
/** 16 MB of write-ahead log. */
const checkpointPages = 4000;

/** One connection, which keeps the statements that it has prepared. */
export class SqliteConnection implements HandleConnection {
  readonly database: Sqlite.Database;
  /** The tables that were written since this was last emptied. */
  readonly written = new Set<string>();
  readonly #statements = new Map<string, Sqlite.Statement<unknown[]>>();
  /** Has the transaction ended before its time? Asking SQLite before each statement would cost as much as a small one. */
  #ended = false;

  constructor(database: Sqlite.Database) {
    this.database = database;
  }

  /** The statement of a text, prepared once. */
  statement(sql: string): Sqlite.Statement<unknown[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare<unknown[]>(sql);
      // Texts built from lists of values are many: the oldest gives way.
      if (this.#statements.size >= mostStatements) {
        for (const oldest of this.#statements.keys()) {
          this.#statements.delete(oldest);
          break;
        }
      }
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Begins a transaction. */
  begin(sql: "begin" | "begin immediate"): void {
    this.statement(sql).run();
    this.#ended = false;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const statement = this.#ready(sql);
    try {
      if (statement.reader) return { rows: statement.all(parameters) as R[] };
      const { changes } = this.#run(statement, parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    } catch (error) {
      throw this.#failed(error);
    }
  }

  rows(sql: string, parameters: readonly unknown[]): unknown[] {
    const statement = this.#ready(sql);
    try {
      if (statement.reader) return statement.all(parameters);
      this.#run(statement, parameters);
      return [];
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #run(statement: Sqlite.Statement<unknown[]>, parameters: readonly unknown[]): Sqlite.RunResult {
    const result = statement.run(parameters);
    // To SQLite, what writes nothing by itself and answers no rows is the likes of ROLLBACK.
    if (statement.readonly) this.#ended = !this.database.inTransaction;
    return result;
  }

  #failed(error: unknown): unknown {
    this.#ended = !this.database.inTransaction;
    return error;
  }

  #ready(sql: string): Sqlite.Statement<unknown[]> {
    // A full disk makes SQLite roll back by itself: what came after would be committed statement by statement.
    if (this.#ended) {
      throw new Error("The transaction has been rolled back: nothing more can be done in it");
    }
    const table = writes(sql);
    if (table !== undefined) this.written.add(table);
    return this.statement(sql);
  }

  // oxlint-disable-next-line require-yield -- the signature is Kysely's; nothing here streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Streaming is not offered: page by key instead");
  }
}

const written = new LRUCache<string, { readonly table: string | undefined }>({
  max: mostStatements,
});

/** The table that a statement writes; undefined where it only reads. */
function writes(sql: string): string | undefined {
  let found = written.get(sql);
  if (found === undefined) {
    const [, table] = /^\s*(?:insert into|update|delete from) "?(\w+)/i.exec(sql) ?? [];
    found = { table: table ?? (/^\s*select\b/i.test(sql) ? undefined : sql) };
    written.set(sql, found);
  }
  return found.table;
}

/** Opens the one connection that writes. Throws where a commit would not survive a power cut. */
export function openWriter(file: string): SqliteConnection {
  // While it opens, another process may be opening, or recovering, the same file: that is waited for.
  const database = new Sqlite(file, { timeout: openTimeout });
  database.pragma("journal_mode = WAL");
  // better-sqlite3 sets NORMAL with the first write in WAL unless told otherwise, and a check before that write passes
  // falsely: so the check comes after one.
  database.pragma("synchronous = FULL");
  database.pragma("foreign_keys = ON");
  // Else each savepoint keeps what it may have to take back in a file.
  database.pragma("temp_store = MEMORY");
  database.pragma(`cache_size = -${writerCache}`);
  // A checkpoint costs two waits for the disk; at SQLite's own 1000 pages a busy server would wait every few commits.
  database.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  database.exec("create table if not exists core_meta (key text primary key, value text not null)");
  database
    .prepare(
      "insert into core_meta values ('opened', '1') on conflict (key) do update set value = value + 1",
    )
    .run();
  assertDurable(database);
  // From here on a busy lock is waited for asynchronously: waiting in SQLite would stop the whole process.
  database.pragma("busy_timeout = 0");
  return new SqliteConnection(database);
}

/** Throws unless a commit on this connection waits for the disk. */
export function assertDurable(database: Sqlite.Database): void {
  const synchronous = database.pragma("synchronous", { simple: true });
  const journal = database.pragma("journal_mode", { simple: true });
  if (synchronous === 2 && journal === "wal") return;
  throw new Error(
    `Cannot open the database durably: synchronous is ${String(synchronous)} instead of 2 (FULL), journal_mode ${String(journal)}`,
  );
}

/** Opens a connection that cannot write. */
export function openReader(file: string): SqliteConnection {
  const database = new Sqlite(file, { readonly: true, timeout: openTimeout });
  database.pragma("query_only = ON");
  return new SqliteConnection(database);
}

/** Changes with each commit of any other connection. */
export function versionOf(connection: SqliteConnection): number {
  return connection.statement("pragma data_version").pluck().get() as number;
}
