/**
 * What a listing is.
 *
 * @module
 */

import {
  choice,
  currency,
  instant,
  localTime,
  metadata,
  money,
  nullable,
  ref,
  type Static,
  t,
  text,
  timezone,
} from "#core";

const statuses = ["draft", "active", "inactive", "archived"] as const;

const propertyTypes = [
  "apartment",
  "house",
  "villa",
  "cabin",
  "condo",
  "townhouse",
  "guesthouse",
  "guest_suite",
  "loft",
  "studio",
  "bungalow",
  "chalet",
  "cottage",
  "boat",
  "hotel_room",
  "hostel",
  "aparthotel",
  "farm_stay",
  "tiny_home",
  "rv",
  "other",
] as const;

const roomTypes = ["entire_place", "private_room", "shared_room", "hotel_room"] as const;

const policies = ["flexible", "moderate", "firm", "strict", "non_refundable", "custom"] as const;

const prose = (description: string) => nullable(text(20_000), { default: null, description });
const line = (description: string, maxLength = 200) =>
  nullable(text(maxLength), { default: null, description });
const amount = (description: string) => nullable(money(), { default: null, description });
const whole = (minimum: number, maximum: number, options: object = {}) =>
  t.Integer({ minimum, maximum, ...options });

const Address = t.Object({
  line1: line("Street and number."),
  line2: line("Flat, floor, entrance."),
  city: line("Town."),
  state: line("State, province or region."),
  postal_code: line("Postal code.", 20),
  country_code: nullable(t.String({ pattern: "^[A-Z]{2}$", examples: ["IT"] }), {
    default: null,
    description: "ISO 3166-1 alpha-2.",
  }),
  latitude: nullable(t.Number({ minimum: -90, maximum: 90 }), { default: null }),
  longitude: nullable(t.Number({ minimum: -180, maximum: 180 }), { default: null }),
  display: line("The address as guests see it before they book."),
});

const Room = t.Object({
  kind: text(40, { minLength: 1, examples: ["bedroom"] }),
  beds: t.Array(
    t.Object({ type: text(40, { minLength: 1, examples: ["double"] }), quantity: whole(1, 20) }),
    { maxItems: 20 },
  ),
});

const HouseRules = t.Object({
  pets_allowed: t.Boolean({ default: false }),
  smoking_allowed: t.Boolean({ default: false }),
  events_allowed: t.Boolean({ default: false }),
  children_allowed: t.Boolean({ default: true }),
  quiet_hours: nullable(
    t.Object({ from: localTime({ examples: ["22:00"] }), to: localTime({ examples: ["08:00"] }) }),
    {
      default: null,
    },
  ),
});

/** What may be written, beside the three fields that every listing needs. */
const details = {
  internal_name: line("A name for the team."),
  property_type: choice(propertyTypes, { default: "apartment" }),
  room_type: choice(roomTypes, { default: "entire_place" }),
  parent_listing_id: nullable(ref("listing"), {
    default: null,
    examples: [null],
    description: "The listing that it is a unit of.",
  }),
  unit_count: whole(1, 1000, { default: 1 }),
  summary: prose("The first paragraph."),
  description: prose("The text of the advert."),
  space: prose("The rooms."),
  neighborhood: prose("The surroundings."),
  getting_around: prose("How to get there and about."),
  house_rules_text: prose("House rules in words."),
  house_manual: prose("How things work."),
  access_instructions: nullable(text(20_000, { "x-secret": true }), {
    default: null,
    description: "How to get in. Shown to credentials with `listings:read_sensitive` only.",
  }),
  wifi_name: line("The name of the network.", 64),
  wifi_password: nullable(text(128, { "x-secret": true }), {
    default: null,
    description: "Shown to credentials with `listings:read_sensitive` only.",
  }),
  address: nullable(Address, { default: null }),
  locale: t.String({
    pattern: "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
    default: "en",
    examples: ["en"],
    description: "BCP 47.",
  }),
  max_guests: whole(1, 500, { default: 2 }),
  bedrooms: whole(0, 100, { default: 1 }),
  beds: whole(0, 200, { default: 1 }),
  bathrooms: t.Number({ minimum: 0, maximum: 100, multipleOf: 0.5, default: 1 }),
  room_details: t.Array(Room, { maxItems: 100, default: [] }),
  area_sqm: nullable(t.Number({ minimum: 1, maximum: 100_000 }), { default: null }),
  check_in_time: localTime({ default: "15:00", description: "Local to the listing." }),
  check_in_time_until: nullable(localTime(), { default: null, description: "The latest arrival." }),
  check_out_time: localTime({
    default: "11:00",
    examples: ["11:00"],
    description: "Local to the listing.",
  }),
  house_rules: nullable(HouseRules, { default: null }),
  amenities: t.Array(t.String({ pattern: "^[a-z0-9]+(_[a-z0-9]+)*$", maxLength: 60 }), {
    maxItems: 300,
    uniqueItems: true,
    default: [],
    examples: [["wifi", "kitchen", "free_parking"]],
  }),
  base_price: amount("The price of a night, unless a rule says otherwise."),
  weekend_price: amount("The price of a Friday or Saturday night."),
  cleaning_fee: amount("Once per stay."),
  extra_guest_fee: amount("Per night for each guest beyond `guests_included`."),
  guests_included: whole(1, 500, { default: 1 }),
  pet_fee: amount("Once per stay."),
  security_deposit: amount("Held, and given back."),
  min_nights: whole(1, 730, { default: 1 }),
  max_nights: nullable(whole(1, 730), { default: null }),
  cancellation_policy: choice(policies, { default: "moderate" }),
  license_number: line("Licence, where the law asks for one."),
  registration_number: line("Registration under Regulation (EU) 2024/1028."),
  instant_book: t.Boolean({ default: true, description: "May guests book without being asked?" }),
  autopilot_enabled: t.Boolean({ default: false }),
  tags: t.Array(text(40, { minLength: 1 }), { maxItems: 50, uniqueItems: true, default: [] }),
  external_id: nullable(text(200, { minLength: 1 }), {
    default: null,
    description: "The caller's own id, once per account.",
  }),
  metadata: metadata(),
};

/** What a new listing is made of. */
export const NewListing = t.Object({
  title: text(200, { minLength: 1, examples: ["Lake house"] }),
  timezone: timezone(),
  currency: currency(),
  status: choice(["draft", "active", "inactive"], { default: "active" }),
  ...details,
});

/** What may be changed: all of it but the currency, which amounts rely on. */
export const ListingChange = t.Partial(
  t.Object({
    title: text(200, { minLength: 1, examples: ["Lake house"] }),
    timezone: timezone(),
    status: choice(["active", "inactive"]),
    ...(Object.fromEntries(
      Object.entries(details).map(([name, { default: _default, ...field }]) => [name, field]),
    ) as typeof details),
  }),
);

/** A listing. */
export const Listing = t.Object(
  {
    id: t.String({ examples: ["0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b70"] }),
    account_id: t.String(),
    title: text(200, { examples: ["Lake house"] }),
    status: choice(statuses, { examples: ["active"] }),
    timezone: timezone(),
    currency: currency(),
    ...details,
    archived_at: nullable(instant()),
    created_at: instant(),
    updated_at: instant(),
    version: t.Integer({ description: "Counted up with each change; give it as `If-Match`." }),
  },
  { title: "Listing" },
);

/** A listing. */
export type Listing = Static<typeof Listing>;
export type NewListing = Static<typeof NewListing>;
export type ListingChange = Static<typeof ListingChange>;
