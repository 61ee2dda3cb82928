/**
 * What stands in the tables, to tell whether something changed.
 *
 * @module
 */

import type { Registry } from "../../core/plugin/registry.ts";
import type { Json, Served } from "../fixture.ts";

/** The names of all tables that the plugins make. */
export function tableNames({ plugins }: Registry): string[] {
  const statements = plugins.flatMap(({ migrations = {} }) => Object.values(migrations).flat());
  return statements.flatMap((statement) => /create table (\w+)/.exec(statement)?.[1] ?? []);
}

/** All rows of all tables, as text. */
export type Snapshot = Readonly<Record<string, readonly string[]>>;

/** Takes a snapshot of all tables but some. */
export async function snapshot(server: Served, except: readonly string[] = []): Promise<Snapshot> {
  const names = tableNames(server.app.registry).filter((name) => !except.includes(name));
  const tables: Record<string, string[]> = {};
  for (const name of names) tables[name] = (await server.rows(name)).map(textOf).sort();
  return tables;
}

/** Everything but the audit log, which refusals grow too. */
export const unaudited = (server: Served): Promise<Snapshot> => snapshot(server, ["audit_entries"]);

/** How many rows each table has more than before. */
export function growth(before: Snapshot, after: Snapshot): Record<string, number> {
  const counts = Object.entries(after).map(([name, rows]): [string, number] => [
    name,
    rows.length - (before[name]?.length ?? 0),
  ]);
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
}

const textOf = (row: Json): string =>
  JSON.stringify(row, (_, value: unknown) =>
    value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
  );
