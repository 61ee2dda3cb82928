/**
 * The limit's records: from a row to the product's answer, written out by hand.
 *
 * @module
 */

/** The columns of a reservation, in the order of their table. */
export const columns = [
  "id",
  "account_id",
  "confirmation_code",
  "listing_id",
  "guest_id",
  "status",
  "kind",
  "check_in_date",
  "check_out_date",
  "nights",
  "timezone",
  "check_in_time",
  "check_out_time",
  "check_in_at",
  "check_out_at",
  "num_guests",
  "channel",
  "source",
  "source_reservation_id",
  "channel_reservation_id",
  "currency",
  "accommodation_total",
  "cleaning_fee",
  "fees_total",
  "taxes_total",
  "discounts_total",
  "total_price",
  "channel_commission",
  "host_payout",
  "payment_status",
  "adults",
  "children",
  "infants",
  "pets",
  "planned_arrival_time",
  "planned_departure_time",
  "special_requests",
  "notes_internal",
  "tags",
  "external_id",
  "metadata",
  "status_history",
  "booked_at",
  "confirmed_at",
  "cancelled_at",
  "cancelled_by",
  "cancellation_reason",
  "created_at",
  "updated_at",
  "version",
] as const;

type Value = string | number | null;

/** A reservation with its guest and its listing's title, as the database gives it. */
export type ReservationRow = Record<(typeof columns)[number], Value> &
  Record<
    "listing_title" | "guest_full_name" | "guest_email" | "guest_phone" | "guest_locale",
    Value
  >;

/** All amounts here are euros and dollars. */
const money = (minor: Value): string | null =>
  minor === null ? null : (Number(minor) / 100).toFixed(2);

/** The record that is answered. */
export function recordOf(row: ReservationRow) {
  return {
    id: row.id,
    account_id: row.account_id,
    confirmation_code: row.confirmation_code,
    listing_id: row.listing_id,
    guest_id: row.guest_id,
    status: row.status,
    kind: row.kind,
    check_in_date: row.check_in_date,
    check_out_date: row.check_out_date,
    nights: row.nights,
    timezone: row.timezone,
    check_in_time: row.check_in_time,
    check_out_time: row.check_out_time,
    check_in_at: row.check_in_at,
    check_out_at: row.check_out_at,
    num_guests: row.num_guests,
    channel: row.channel,
    source: row.source,
    source_reservation_id: row.source_reservation_id,
    channel_reservation_id: row.channel_reservation_id,
    currency: row.currency,
    accommodation_total: money(row.accommodation_total),
    cleaning_fee: money(row.cleaning_fee),
    fees_total: money(row.fees_total),
    taxes_total: money(row.taxes_total),
    discounts_total: money(row.discounts_total),
    total_price: money(row.total_price),
    channel_commission: money(row.channel_commission),
    host_payout: money(row.host_payout),
    payment_status: row.payment_status,
    adults: row.adults,
    children: row.children,
    infants: row.infants,
    pets: row.pets,
    planned_arrival_time: row.planned_arrival_time,
    planned_departure_time: row.planned_departure_time,
    special_requests: row.special_requests,
    notes_internal: row.notes_internal,
    tags: JSON.parse(row.tags as string) as unknown,
    external_id: row.external_id,
    metadata: JSON.parse(row.metadata as string) as unknown,
    status_history: JSON.parse(row.status_history as string) as unknown,
    booked_at: row.booked_at,
    confirmed_at: row.confirmed_at,
    cancelled_at: row.cancelled_at,
    cancelled_by: row.cancelled_by,
    cancellation_reason: row.cancellation_reason,
    created_at: row.created_at,
    updated_at: row.updated_at,
    version: row.version,
    listing_title: row.listing_title,
    guest: {
      id: row.guest_id,
      full_name: row.guest_full_name,
      email: row.guest_email,
      phone: row.guest_phone,
      locale: row.guest_locale,
    },
    stage: stageOf(row),
  };
}

/** How a confirmed stay stands today, in its zone. */
function stageOf({ timezone, check_in_date, check_out_date }: ReservationRow): string {
  const today = todayIn(String(timezone));
  if (today < String(check_in_date)) return "upcoming";
  if (today === check_in_date) return "arriving_today";
  if (today < String(check_out_date)) return "currently_hosting";
  return today === check_out_date ? "departing_today" : "checked_out";
}

const todays = new Map<string, { readonly until: number; readonly date: string }>();

/** Today in a zone; looked up once a second. */
function todayIn(zone: string): string {
  const now = Date.now();
  const known = todays.get(zone);
  if (known !== undefined && now < known.until) return known.date;
  const date = new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short" }).format(now);
  todays.set(zone, { until: now + 1000, date });
  return date;
}
