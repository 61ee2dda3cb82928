import type { Migrations } from "#core";

export const migrations: Migrations = {
  "0001_create": [
    // A night is sold once by construction: this key is the whole proof.
    `create table calendar_nights (
      listing_id text not null, date text not null, account_id text not null, holder_kind text not null,
      holder_id text not null, primary key (listing_id, date)) without rowid`,
    `create table calendar_blocks (
      id text primary key, account_id text not null, listing_id text not null, start_date text not null,
      end_date text not null, reason text not null, note text, created_at text not null, updated_at text not null,
      version integer not null)`,
    "create index calendar_blocks_listing on calendar_blocks (account_id, listing_id, start_date, id)",
    // What has changed and was not told yet: one row a listing, so that a burst of changes makes one event.
    `create table calendar_changes (
      listing_id text primary key, account_id text not null, start_date text not null, end_date text not null,
      reasons text not null, due_at text not null) without rowid`,
  ],
};
