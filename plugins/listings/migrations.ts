import type { Migrations } from "#core";

export const migrations: Migrations = {
  "0001_create": [
    `create table listings (
      id text not null, account_id text not null, title text not null, status text not null, timezone text not null,
      currency text not null, internal_name text, property_type text not null, room_type text not null,
      parent_listing_id text, unit_count integer not null, summary text, description text, space text,
      neighborhood text, getting_around text, house_rules_text text, house_manual text, access_instructions text,
      wifi_name text, wifi_password text, address text, locale text not null, max_guests integer not null,
      bedrooms integer not null, beds integer not null, bathrooms real not null, room_details text not null,
      area_sqm real, check_in_time text not null, check_in_time_until text, check_out_time text not null,
      house_rules text, amenities text not null, base_price integer, weekend_price integer, cleaning_fee integer,
      extra_guest_fee integer, guests_included integer not null, pet_fee integer, security_deposit integer,
      min_nights integer not null, max_nights integer, cancellation_policy text not null, license_number text,
      registration_number text, instant_book integer not null, autopilot_enabled integer not null, tags text not null,
      external_id text, metadata text not null, archived_at text, created_at text not null, updated_at text not null,
      version integer not null,
      primary key (account_id, id))`,
    "create index listings_account_title on listings (account_id, title, id)",
    "create index listings_account_updated on listings (account_id, updated_at, id)",
    "create unique index listings_external_id on listings (account_id, external_id) where external_id is not null",
  ],
};
