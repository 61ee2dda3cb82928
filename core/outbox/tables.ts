/**
 * The outbox's tables, as rows.
 *
 * @module
 */

import { type Database, type Generated, type Migrations, tables } from "../db/mod.ts";

/** A subscription of a receiver. */
export interface SubscriptionRow {
  id: string;
  account_id: string;
  /** The credential that made it, for the echo guard. */
  credential_id: string | null;
  url: string;
  description: string | null;
  status: "active" | "paused";
  paused_reason: string | null;
  paused_at: string | null;
  /** JSON: names, or `["*"]`. */
  events: string;
  /** JSON: the scopes that its maker had; an event beyond them is not delivered. */
  scopes: string;
  /** JSON: the listings that its maker was restricted to; null for all. */
  listing_ids: string | null;
  secret_version: number;
  version: number;
  created_at: string;
  updated_at: string;
}

/** A signing secret. Old ones stay while deliveries signed with them are open. */
export interface SecretRow {
  subscription_id: string;
  account_id: string;
  version: number;
  box: string;
  created_at: string;
}

/** An event, with the bytes that are sent and signed. */
export interface EventRow {
  /** The order of commits. Never the last one is removed, so no number comes twice. */
  seq: Generated<number>;
  id: string;
  account_id: string;
  name: string;
  listing_id: string | null;
  credential_id: string | null;
  created_at: string;
  body: Uint8Array;
}

/** One event on its way to one receiver. */
export interface DeliveryRow {
  id: string;
  account_id: string;
  event_id: string;
  subscription_id: string;
  state: "pending" | "inflight" | "delivered" | "exhausted" | "rejected" | "cancelled";
  /** The number that the next attempt has; a crash does not count it up. */
  attempt: number;
  /** When the next attempt is due, in milliseconds since 1970. */
  due_ms: number;
  lease_token: string | null;
  secret_version: number;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  finished_at: string | null;
}

/** One attempt at a delivery. */
export interface AttemptRow {
  delivery_id: string;
  account_id: string;
  attempt: number;
  started_at: string;
  duration_ms: number;
  outcome: string;
  status: number | null;
  error: string | null;
  address: string | null;
  response: string | null;
}

/** A reaction that has to follow an event. */
export interface ReactionRow {
  event_id: string;
  reaction: string;
  account_id: string;
  state: "pending" | "done" | "dead";
  failures: number;
  due_ms: number;
  last_error: string | null;
}

interface Tables {
  outbox_subscriptions: SubscriptionRow;
  outbox_secrets: SecretRow;
  outbox_events: EventRow;
  outbox_deliveries: DeliveryRow;
  outbox_attempts: AttemptRow;
  outbox_reactions: ReactionRow;
}

/** The outbox's own tables. */
export const outboxTables = (db: Database) => tables<Tables>(db);

/** The outbox's migrations. */
export const migrations: Migrations = {
  "0001_create": [
    `create table outbox_subscriptions (
      id text primary key, account_id text not null, credential_id text, url text not null, description text,
      status text not null, paused_reason text, paused_at text, events text not null, scopes text not null,
      listing_ids text, secret_version integer not null, version integer not null,
      created_at text not null, updated_at text not null)`,
    "create index outbox_subscriptions_account on outbox_subscriptions (account_id, id)",
    `create table outbox_secrets (
      subscription_id text not null, account_id text not null, version integer not null, box text not null,
      created_at text not null, primary key (subscription_id, version))`,
    `create table outbox_events (
      seq integer primary key, id text not null, account_id text not null, name text not null,
      listing_id text, credential_id text, created_at text not null, body blob not null)`,
    "create unique index outbox_events_id on outbox_events (account_id, id)",
    `create table outbox_deliveries (
      id text primary key, account_id text not null, event_id text not null, subscription_id text not null,
      state text not null, attempt integer not null, due_ms integer not null, lease_token text,
      secret_version integer not null, last_status integer, last_error text, created_at text not null,
      finished_at text)`,
    "create index outbox_deliveries_lane on outbox_deliveries (subscription_id, due_ms, id) where state = 'pending'",
    "create index outbox_deliveries_inflight on outbox_deliveries (id) where state = 'inflight'",
    "create index outbox_deliveries_log on outbox_deliveries (account_id, subscription_id, id)",
    `create table outbox_attempts (
      delivery_id text not null, account_id text not null, attempt integer not null, started_at text not null,
      duration_ms integer not null, outcome text not null, status integer, error text, address text, response text,
      primary key (delivery_id, attempt, started_at))`,
    `create table outbox_reactions (
      event_id text not null, reaction text not null, account_id text not null, state text not null,
      failures integer not null, due_ms integer not null, last_error text, primary key (event_id, reaction))`,
    "create index outbox_reactions_due on outbox_reactions (due_ms) where state = 'pending'",
  ],
};
