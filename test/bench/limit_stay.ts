/**
 * The limit's create: a body checked by hand, field by field, and turned into the row that the product would store.
 *
 * @module
 */

import { Temporal } from "temporal-polyfill";

import type { ReservationRow } from "./limit_record.ts";

/** What of a listing a stay takes over. */
export interface Listing {
  readonly id: string;
  readonly title: string;
  readonly timezone: string;
  readonly currency: string;
  readonly check_in_time: string;
  readonly check_out_time: string;
}

/** The body of a create. */
export interface NewStay {
  readonly listing_id: string;
  readonly check_in_date: string;
  readonly check_out_date: string;
  readonly guest: { readonly full_name: string; readonly email: string };
  readonly adults: number;
  readonly children: number;
  readonly channel: string;
  readonly total_price: string;
  readonly special_requests: string;
}

const date = /^\d{4}-\d\d-\d\d$/;
const channels = new Set([
  "direct",
  "airbnb",
  "vrbo",
  "booking_com",
  "expedia",
  "agoda",
  "google",
  "owner",
  "other",
]);

const isText = (value: unknown, most: number): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= most;

const isCount = (value: unknown, least: number): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= 500;

/** The first field of a body that is wrong; nothing where all are well. */
export function faultOf(body: NewStay): string | undefined {
  if (!isText(body.listing_id, 64)) return "listing_id";
  if (!date.test(body.check_in_date)) return "check_in_date";
  if (!date.test(body.check_out_date) || body.check_out_date <= body.check_in_date)
    return "check_out_date";
  if (!isText(body.guest?.full_name, 200)) return "guest.full_name";
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(body.guest.email)) return "guest.email";
  if (!isCount(body.adults, 1)) return "adults";
  if (!isCount(body.children, 0)) return "children";
  if (!channels.has(body.channel)) return "channel";
  if (!/^-?\d{1,12}(\.\d\d)?$/.test(body.total_price)) return "total_price";
  if (!isText(body.special_requests, 5000)) return "special_requests";
  return undefined;
}

const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

const instantIn = (zone: string, local: string): string =>
  instant(Temporal.PlainDateTime.from(local).toZonedDateTime(zone).epochMilliseconds);

/** The row of a new reservation. The guest is answered but has no row: the limit stores one thing only. */
export function rowOf(body: NewStay, listing: Listing, account_id: string): ReservationRow {
  const { check_in_date, check_out_date, guest } = body;
  const { timezone, currency, check_in_time, check_out_time } = listing;
  const now = instant(Date.now());
  return {
    id: Bun.randomUUIDv7(),
    account_id,
    confirmation_code: Buffer.from(crypto.getRandomValues(new Uint8Array(8)))
      .toString("hex")
      .toUpperCase(),
    listing_id: listing.id,
    guest_id: Bun.randomUUIDv7(),
    status: "confirmed",
    kind: "guest_stay",
    check_in_date,
    check_out_date,
    nights: Math.round((Date.parse(check_out_date) - Date.parse(check_in_date)) / 86_400_000),
    timezone,
    check_in_time,
    check_out_time,
    check_in_at: instantIn(timezone, `${check_in_date}T${check_in_time}`),
    check_out_at: instantIn(timezone, `${check_out_date}T${check_out_time}`),
    num_guests: body.adults + body.children,
    channel: body.channel,
    source: "api",
    source_reservation_id: null,
    channel_reservation_id: null,
    currency,
    accommodation_total: null,
    cleaning_fee: null,
    fees_total: null,
    taxes_total: null,
    discounts_total: null,
    total_price: Math.round(Number(body.total_price) * 100),
    channel_commission: null,
    host_payout: null,
    payment_status: "unpaid",
    adults: body.adults,
    children: body.children,
    infants: 0,
    pets: 0,
    planned_arrival_time: null,
    planned_departure_time: null,
    special_requests: body.special_requests,
    notes_internal: null,
    tags: "[]",
    external_id: null,
    metadata: "{}",
    status_history: JSON.stringify([{ status: "confirmed", changed_at: now, actor: "Bench" }]),
    booked_at: now,
    confirmed_at: now,
    cancelled_at: null,
    cancelled_by: null,
    cancellation_reason: null,
    created_at: now,
    updated_at: now,
    version: 1,
    listing_title: listing.title,
    guest_full_name: guest.full_name,
    guest_email: guest.email,
    guest_phone: null,
    guest_locale: null,
  };
}
