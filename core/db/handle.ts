/**
 * The handle: a Kysely over one connection that can be revoked. A straggler that still holds it after its unit has
 * ended throws, instead of writing into the next one's savepoint.
 *
 * @module
 */

import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  type KyselyPlugin,
  type QueryCompiler,
  type QueryResult,
} from "kysely";

/** A column that the database fills in. */
export type { Generated } from "kysely";

/** A database with no table in sight: a store opens its own by `tables<Tables>(db)`. */
export type Database = Kysely<object>;

/** The tables of a store, by their types. */
export function tables<Tables>(db: Database): Kysely<Tables> {
  return db as unknown as Kysely<Tables>;
}

/** The same database without the tests' guard: for statements that mean to span accounts. */
export const acrossAccounts = (db: Database): Database => db.withoutPlugins();

/** What handles are made of: Kysely's connection, and a short way for queries that were compiled before. */
export interface HandleConnection extends DatabaseConnection {
  rows(sql: string, parameters: readonly unknown[]): unknown[] | Promise<unknown[]>;
}

/** Runs a text that was compiled before, past Kysely, in whose layers it would spend longer than in the database. */
export function runCompiled(
  db: Database,
  sql: string,
  parameters: readonly unknown[],
): unknown[] | Promise<unknown[]> {
  const executor = db.getExecutor();
  if (!(executor instanceof HandleExecutor))
    throw new Error("A prepared query needs the handle of a unit or a snapshot");
  return executor.lease.rows(sql, parameters);
}

/** A handle and the way to end it. */
export interface Handle {
  readonly db: Database;
  revoke(): void;
}

/** Makes the handles of one database. */
export interface HandleMaker {
  (connection: HandleConnection): Handle;
}

/** Prepares for making handles: compiler, adapter and plugins are shared by all of them. */
export function handleMaker(dialect: Dialect, plugins: readonly KyselyPlugin[] = []): HandleMaker {
  const compiler = dialect.createQueryCompiler();
  const adapter = dialect.createAdapter();
  const driver = dialect.createDriver();
  const config = { dialect };
  return (connection) => {
    const lease = new Lease(connection);
    const executor = new HandleExecutor(compiler, adapter, lease, plugins);
    const db: Database = new Kysely({ config, dialect, driver, executor });
    return { db, revoke: () => lease.end() };
  };
}

class Lease implements HandleConnection {
  readonly #connection: HandleConnection;
  #ended = false;

  constructor(connection: HandleConnection) {
    this.#connection = connection;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#check();
    return this.#connection.executeQuery<R>(query);
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    this.#check();
    return this.#connection.streamQuery<R>(query, chunkSize as number);
  }

  rows(sql: string, parameters: readonly unknown[]): unknown[] | Promise<unknown[]> {
    this.#check();
    return this.#connection.rows(sql, parameters);
  }

  end(): void {
    this.#ended = true;
  }

  #check(): void {
    if (this.#ended)
      throw new Error("A database handle was used after its unit: await every query");
  }
}

class HandleExecutor extends DefaultQueryExecutor {
  readonly lease: Lease;
  readonly #compiler: QueryCompiler;

  constructor(
    compiler: QueryCompiler,
    adapter: DialectAdapter,
    lease: Lease,
    plugins: readonly KyselyPlugin[],
  ) {
    super(compiler, adapter, { provideConnection: (work) => work(lease) }, [...plugins]);
    this.#compiler = compiler;
    this.lease = lease;
  }

  // `acrossAccounts` must stay a handle: what was prepared asks for one.
  override withoutPlugins(): HandleExecutor {
    return new HandleExecutor(this.#compiler, this.adapter, this.lease, []);
  }

  // Without plugins a query goes straight to its connection: four awaits less on the hot path.
  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.plugins.length === 0
      ? await this.lease.executeQuery<R>(query)
      : await super.executeQuery<R>(query);
  }
}

/** The driver of a handle: the unit around it already is the transaction. */
export class NoTransactions implements Driver {
  init = async (): Promise<void> => {};
  acquireConnection = (): Promise<DatabaseConnection> => this.#refuse();
  beginTransaction = (): Promise<void> => this.#refuse();
  commitTransaction = (): Promise<void> => this.#refuse();
  rollbackTransaction = (): Promise<void> => this.#refuse();
  releaseConnection = async (): Promise<void> => {};
  destroy = async (): Promise<void> => {};

  #refuse(): never {
    throw new Error("A unit is a transaction already: do not open another inside it");
  }
}
