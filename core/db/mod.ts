/**
 * The database: one writer with group commit, readers on snapshots, numbered migrations, the clock and ids.
 *
 * `open` gives a `Store`; nothing else in the server knows which database lies behind it.
 *
 * @module
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type { KyselyPlugin } from "kysely";

import { inDataDir } from "./directory.ts";
import { type Database, handleMaker } from "./handle.ts";
import { newUlid } from "./ids.ts";
import { readMetaOf, writeMetaOf } from "./meta.ts";
import { migrate, type MigrationName, type MigrationSet, pendingMigrations } from "./migrate.ts";
import { ownDatabase } from "./owner.ts";
import { createReader } from "./reader.ts";
import { openReader, openWriter, type SqliteConnection, sqliteDialect } from "./sqlite.ts";
import { createWriter } from "./writer.ts";

export { type Access, mustPermit, permits, wholeAccount } from "./access.ts";
export { type Clock, fakeClock, type FakeClock, systemClock } from "./clock.ts";
export { acrossAccounts, type Database, type Generated, tables } from "./handle.ts";
export { newId, newUlid } from "./ids.ts";
export { eachText, hasEntry, holdsText, isAmong } from "./match.ts";
export type { MigrationName, Migrations, MigrationSet } from "./migrate.ts";
export { type Page, type PageInput, pageInput, pageOf, paginate } from "./page.ts";
export { pick, prepared } from "./prepared.ts";
export { codec, columnsOf, fromMinor, type Row, toMinor } from "./row.ts";
export { ownDatabase } from "./owner.ts";
export { addDays, dateIn, instantIn, instantOf, isDate, msOf, nightsBetween } from "./time.ts";
export { isBusy } from "./writer.ts";

/** An open database. */
export interface Store {
  /** Runs `work` in a unit; answers after its commit. */
  write<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Runs `work` on a snapshot that cannot be written. */
  read<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /**
   * Changes with every commit that wrote a table of the plugin: what was read of them holds while it stands. Commits of
   * other processes change it too, whatever they wrote. The plugin's name has no underscore.
   */
  version(plugin: string): string;
  /** Reads that begin from now on share no snapshot with those before. */
  renew(): void;
  close(): Promise<void>;
  readonly stats: { readonly commits: number; readonly units: number };
}

/** How to open one. */
export interface StoreOptions {
  readonly dataDir: string;
  readonly migrations: readonly MigrationSet[];
  /** Kysely plugins: the guard of the tests. */
  readonly plugins?: readonly KyselyPlugin[];
}

const readers = 4;

/** The database file in its directory. */
const databaseFile = (dataDir: string): string => join(dataDir, "innkeep.db");

/** A fact about the database itself. */
export const readMeta = (dataDir: string, key: string): string | undefined =>
  readMetaOf(databaseFile(dataDir), key);

/** Notes such a fact, unless one of that name is there already. */
export const writeMeta = (dataDir: string, key: string, value: string): void =>
  writeMetaOf(databaseFile(dataDir), key, value);

/** Opens the database, migrates it, and lends it out. */
export function open({ dataDir, migrations, plugins = [] }: StoreOptions): Store {
  migrateFile(dataDir, migrations);
  const file = databaseFile(dataDir);
  const handle = handleMaker(sqliteDialect, plugins);
  const writer = createWriter(openWriter(file), handle, () => reader.renew());
  const reader = createReader(
    Array.from({ length: readers }, () => openReader(file)),
    handle,
  );
  return {
    write: writer.write,
    read: reader.read,
    version: writer.version,
    renew: reader.renew,
    stats: writer.stats,
    async close() {
      // The last connection to close empties the log into the file, and only one that writes can.
      reader.close();
      await writer.close();
    },
  };
}

/** How long a process waits for others that start at the same time, in milliseconds. */
export const patience = 2000;

/**
 * Brings the file up to date and names what ran. Data that is there already is first copied to `backups/`. Refused
 * while a server of another version holds the file.
 */
export function migrateFile(dataDir: string, migrations: readonly MigrationSet[]): MigrationName[] {
  const connection = inDataDir(dataDir, () => openWriter(databaseFile(dataDir)));
  connection.database.pragma(`busy_timeout = ${patience}`);
  try {
    if (pendingMigrations(connection, migrations).length === 0) return [];
    const release = ownDatabase(dataDir, patience);
    try {
      // Asked again: a process that was started together with this one may have done it meanwhile.
      const pending = pendingMigrations(connection, migrations);
      if (pending.length === 0) return [];
      backUpBefore(dataDir, connection, pending);
      return migrate(connection, migrations);
    } finally {
      release();
    }
  } finally {
    connection.database.close();
  }
}

function backUpBefore(
  dataDir: string,
  connection: SqliteConnection,
  pending: readonly MigrationName[],
): void {
  const { count } = connection.statement("select count(*) as count from core_migrations").get() as {
    count: number;
  };
  if (count === 0) return;
  const folder = join(dataDir, "backups");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(
    folder,
    `before-${pending.map(({ plugin, name }) => `${plugin}-${name}`)[0]}-${newUlid()}.db`,
  );
  connection.statement("vacuum into ?").run(file);
}
