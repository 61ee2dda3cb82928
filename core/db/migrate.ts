/**
 * Migrations: numbered, append-only, per plugin, each in one transaction. What has run is remembered with a digest, so
 * that a migration that was changed after the fact is noticed.
 *
 * @module
 */

import { sha256 } from "../secrets/digest.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** A plugin's migrations in their order: `"0001_create": ["create table …", …]`. Plain SQL that both stores take. */
export type Migrations = Readonly<Record<string, readonly string[]>>;

/** The migrations of one plugin. */
export interface MigrationSet {
  readonly plugin: string;
  readonly migrations: Migrations;
}

/** A migration, by its plugin and name. */
export interface MigrationName {
  readonly plugin: string;
  readonly name: string;
}

const ledger = `create table if not exists core_migrations
  (plugin text not null, name text not null, digest text not null, primary key (plugin, name))`;

/** Those that have not run yet, in the order in which they will. Throws where one that has run was changed since. */
export function pendingMigrations(
  connection: SqliteConnection,
  sets: readonly MigrationSet[],
): MigrationName[] {
  connection.database.exec(ledger);
  const rows = connection.statement("select plugin, name, digest from core_migrations").all();
  const ran = new Map(
    (rows as { plugin: string; name: string; digest: string }[]).map((row) => [
      `${row.plugin}/${row.name}`,
      row.digest,
    ]),
  );
  const pending: MigrationName[] = [];
  for (const { plugin, migrations } of sets) {
    for (const name of Object.keys(migrations).sort()) {
      const digest = ran.get(`${plugin}/${name}`);
      if (digest === undefined) pending.push({ plugin, name });
      else if (digest !== digestOf(migrations[name])) {
        throw new Error(
          `Cannot migrate: "${plugin}/${name}" has run and was changed since. Add a new one instead`,
        );
      }
    }
  }
  return pending;
}

/** Runs what has not run yet, all in one transaction. */
export function migrate(
  connection: SqliteConnection,
  sets: readonly MigrationSet[],
): MigrationName[] {
  const { database } = connection;
  return database
    .transaction(() => {
      const pending = pendingMigrations(connection, sets);
      for (const { plugin, name } of pending) {
        const statements = sets.find((set) => set.plugin === plugin)?.migrations[name] ?? [];
        for (const statement of statements) database.exec(statement);
        connection
          .statement("insert into core_migrations (plugin, name, digest) values (?, ?, ?)")
          .run(plugin, name, digestOf(statements));
      }
      return pending;
    })
    .immediate();
}

const digestOf = (statements: readonly string[] = []): string => sha256(statements.join(";\n"));
