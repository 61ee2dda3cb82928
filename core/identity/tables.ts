/**
 * Identity's tables: accounts, people, and the keys that stand for them.
 *
 * @module
 */

import type { Plan } from "../call/plans.ts";
import { type Database, type Migrations, tables } from "../db/mod.ts";

/** An account: whose data it is. */
export interface AccountRow {
  id: string;
  name: string;
  plan: Plan;
  created_at: string;
}

/** A person, known by the e-mail address in every account. */
export interface UserRow {
  id: string;
  email: string;
  name: string;
  password_hash: string;
  created_at: string;
}

/** A person's place in an account. */
export interface MembershipRow {
  account_id: string;
  user_id: string;
  role: "owner" | "admin" | "member";
  created_at: string;
}

/** An API key. Of the key itself only a digest is kept. */
export interface ApiKeyRow {
  id: string;
  account_id: string;
  label: string;
  /** The beginning of the key, for people to recognise it by. */
  prefix: string;
  hash: string;
  /** JSON. */
  scopes: string;
  /** JSON; null for all. */
  listing_ids: string | null;
  tier: string;
  created_by: string;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  version: number;
}

interface Tables {
  identity_accounts: AccountRow;
  identity_users: UserRow;
  identity_memberships: MembershipRow;
  identity_api_keys: ApiKeyRow;
}

/** Identity's own tables. */
export const identityTables = (db: Database) => tables<Tables>(db);

/** Identity's migrations. */
export const migrations: Migrations = {
  "0001_create": [
    "create table identity_accounts (id text primary key, name text not null, plan text not null, created_at text not null)",
    `create table identity_users (
      id text primary key, email text not null unique, name text not null, password_hash text not null,
      created_at text not null)`,
    `create table identity_memberships (
      account_id text not null, user_id text not null, role text not null, created_at text not null,
      primary key (account_id, user_id))`,
    "create index identity_memberships_user on identity_memberships (user_id)",
    `create table identity_api_keys (
      id text primary key, account_id text not null, label text not null, prefix text not null,
      hash text not null unique, scopes text not null, listing_ids text, tier text not null, created_by text not null,
      created_at text not null, updated_at text not null, expires_at text, revoked_at text, last_used_at text,
      version integer not null)`,
    "create index identity_api_keys_account on identity_api_keys (account_id, id)",
    `create table identity_setup_links (hash text primary key, created_at text not null, used_at text)`,
  ],
};
