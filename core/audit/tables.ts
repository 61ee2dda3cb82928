/**
 * The audit log's table.
 *
 * @module
 */

import { type Database, type Migrations, tables } from "../db/mod.ts";

/** One entry. `position`, `previous` and `hash` are null until it is sealed. */
export interface AuditRow {
  id: string;
  account_id: string;
  at: string;
  actor_kind: string;
  credential_id: string | null;
  user_id: string | null;
  actor_label: string;
  surface: string;
  operation: string;
  request_id: string;
  /** May be erased later: the chain holds its digest only. */
  input: string;
  input_digest: string;
  outcome: string;
  position: number | null;
  previous: string | null;
  hash: string | null;
}

interface Tables {
  audit_entries: AuditRow;
}

/** The audit log's own table. */
export const auditTables = (db: Database) => tables<Tables>(db);

/** The audit log's migrations. */
export const migrations: Migrations = {
  "0001_create": [
    `create table audit_entries (
      id text not null, account_id text not null, at text not null, actor_kind text not null,
      credential_id text, user_id text, actor_label text not null, surface text not null, operation text not null,
      request_id text not null, input text not null, input_digest text not null, outcome text not null,
      position integer, previous text, hash text, primary key (account_id, id)) without rowid`,
    "create index audit_entries_unsealed on audit_entries (account_id, id) where position is null",
    "create unique index audit_entries_chain on audit_entries (account_id, position) where position is not null",
  ],
};
