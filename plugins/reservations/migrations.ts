import type { Migrations } from "#core";

export const migrations: Migrations = {
  "0001_create": [
    `create table reservations (
      id text not null, account_id text not null, confirmation_code text not null, listing_id text not null,
      guest_id text not null, status text not null, kind text not null, check_in_date text not null,
      check_out_date text not null, nights integer not null, timezone text not null, check_in_time text not null,
      check_out_time text not null, check_in_at text not null, check_out_at text not null, num_guests integer not null,
      channel text not null, source text not null, source_reservation_id text, channel_reservation_id text,
      currency text not null, accommodation_total integer, cleaning_fee integer, fees_total integer,
      taxes_total integer, discounts_total integer, total_price integer, channel_commission integer,
      host_payout integer, payment_status text not null, adults integer not null, children integer not null,
      infants integer not null, pets integer not null, planned_arrival_time text, planned_departure_time text,
      special_requests text, notes_internal text, tags text not null, external_id text, metadata text not null,
      status_history text not null, booked_at text not null, confirmed_at text, cancelled_at text, cancelled_by text,
      cancellation_reason text, created_at text not null, updated_at text not null, version integer not null,
      primary key (account_id, id))`,
    "create index reservations_account_check_in on reservations (account_id, check_in_date, id)",
    "create index reservations_account_updated on reservations (account_id, updated_at, id)",
    "create index reservations_listing on reservations (listing_id, check_in_date, id)",
    "create index reservations_guest on reservations (guest_id)",
    "create unique index reservations_code on reservations (account_id, confirmation_code)",
    `create unique index reservations_channel on reservations (account_id, channel, channel_reservation_id)
      where channel_reservation_id is not null`,
    `create unique index reservations_source on reservations (account_id, source, source_reservation_id)
      where source_reservation_id is not null`,
    "create unique index reservations_external on reservations (account_id, external_id) where external_id is not null",
  ],
};
