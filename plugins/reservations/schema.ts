/**
 * What a reservation is, and which way its status may go.
 *
 * @module
 */

import {
  choice,
  currency,
  date,
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
import { GuestCard, guestFields } from "#plugins/guests";

export const statuses = [
  "inquiry",
  "pending",
  "awaiting_payment",
  "confirmed",
  "declined",
  "expired",
  "cancelled",
] as const;

export type Status = (typeof statuses)[number];

/** Where each status may go. What is not named is final; only a channel may open it again. */
export const transitions: Readonly<Record<Status, readonly Status[]>> = {
  inquiry: ["pending", "confirmed", "declined", "expired"],
  pending: ["awaiting_payment", "confirmed", "declined", "expired", "cancelled"],
  awaiting_payment: ["confirmed", "expired", "cancelled"],
  confirmed: ["cancelled"],
  declined: [],
  expired: [],
  cancelled: [],
};

/** Does a reservation of this status hold its nights? */
export const holdsNights = (status: Status): boolean =>
  status === "pending" || status === "awaiting_payment" || status === "confirmed";

const stages = [
  "inquiry",
  "pending",
  "upcoming",
  "arriving_today",
  "currently_hosting",
  "departing_today",
  "checked_out",
  "cancelled",
] as const;

export type Stage = (typeof stages)[number];

export const channels = [
  "direct",
  "airbnb",
  "vrbo",
  "booking_com",
  "expedia",
  "agoda",
  "google",
  "marriott",
  "trip_com",
  "owner",
  "other",
] as const;

const paymentStatuses = [
  "unpaid",
  "partially_paid",
  "paid",
  "overdue",
  "refunded",
  "partially_refunded",
  "external",
  "unknown",
] as const;

const people = (fallback: number, minimum: number, description: string) =>
  t.Integer({ minimum, maximum: 500, default: fallback, description });

const sourceId = (description: string) =>
  nullable(text(200, { minLength: 1 }), { default: null, description });

/** What may be written at any time. */
const details = {
  adults: people(1, 1, "Guests of age."),
  children: people(0, 0, "Guests of two years or more."),
  infants: people(0, 0, "Guests of less than two years."),
  pets: people(0, 0, "Animals."),
  planned_arrival_time: nullable(localTime(), {
    default: null,
    description: "When the guest means to come.",
  }),
  planned_departure_time: nullable(localTime({ examples: ["10:00"] }), { default: null }),
  special_requests: nullable(text(5000, { "x-personal": true }), {
    default: null,
    description: "What the guest asks for.",
  }),
  notes_internal: nullable(text(5000, { "x-personal": true }), {
    default: null,
    description: "For the team only.",
  }),
  tags: t.Array(text(40, { minLength: 1 }), { maxItems: 50, uniqueItems: true, default: [] }),
  external_id: nullable(text(200, { minLength: 1 }), {
    default: null,
    description: "The caller's own id, once per account.",
  }),
  metadata: metadata(),
};

const amount = (description: string) => nullable(money(), { default: null, description });

/** Amounts that may be given; the price of the nights is worked out where the total is not. */
const amounts = {
  accommodation_total: amount("The nights, without fees and taxes."),
  cleaning_fee: amount("Once per stay."),
  fees_total: amount("All other fees."),
  taxes_total: amount("All taxes."),
  discounts_total: amount("All discounts, as a positive amount."),
  total_price: amount("What the guest pays."),
  channel_commission: amount("What the channel keeps."),
  host_payout: amount("What the host gets."),
};

const GuestInput = t.Object(
  {
    id: t.Optional(ref("guest", { "x-alone": true })),
    ...t.Partial(t.Object(guestFields)).properties,
  },
  {
    description:
      "A known guest by `id`, or a new one by `full_name`. A known e-mail address is the same guest.",
    examples: [{ full_name: "Ada Lovelace", email: "ada@example.com" }],
  },
);

export const NewReservation = t.Object({
  listing_id: ref("listing"),
  check_in_date: date({ description: "The day of arrival, local to the listing." }),
  check_out_date: date({
    examples: ["2027-05-17"],
    description: "The day of departure, local to the listing.",
  }),
  guest: GuestInput,
  status: choice(["inquiry", "pending", "awaiting_payment", "confirmed"], { default: "confirmed" }),
  kind: choice(["guest_stay", "owner_stay"], { default: "guest_stay" }),
  channel: choice(channels, { default: "direct", description: "Where the guest booked." }),
  source: t.String({
    pattern: "^[a-z][a-z0-9_]{0,39}$",
    default: "api",
    examples: ["api"],
    description: "The system that the reservation came in by.",
  }),
  source_reservation_id: sourceId("Its id in that system."),
  channel_reservation_id: sourceId("The channel's confirmation code."),
  payment_status: choice(paymentStatuses, { default: "unpaid" }),
  ...amounts,
  ...details,
});

export const ReservationChange = t.Partial(
  t.Object({
    status: choice(["pending", "awaiting_payment", "confirmed", "declined", "expired"], {
      examples: ["confirmed"],
      description: "Cancelling has an operation of its own.",
    }),
    payment_status: choice(paymentStatuses),
    ...(Object.fromEntries(
      Object.entries({ ...amounts, ...details }).map(([name, { default: _default, ...field }]) => [
        name,
        field,
      ]),
    ) as typeof amounts & typeof details),
  }),
);

const StatusChange = t.Object({
  status: choice(statuses, { examples: ["confirmed"] }),
  changed_at: instant(),
  actor: t.String({ examples: ["Channel sync"], description: "Who changed it." }),
});

/** What is stored. */
const stored = {
  id: t.String({ examples: ["0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b74"] }),
  account_id: t.String(),
  confirmation_code: t.String({ examples: ["HK7F2QXM"], description: "For people to name it by." }),
  listing_id: t.String(),
  guest_id: t.String(),
  status: choice(statuses, { examples: ["confirmed"] }),
  kind: choice(["guest_stay", "owner_stay"]),
  check_in_date: date(),
  check_out_date: date({ examples: ["2027-05-17"] }),
  nights: t.Integer({ minimum: 1, examples: [3] }),
  timezone: timezone(),
  check_in_time: localTime(),
  check_out_time: localTime({ examples: ["11:00"] }),
  check_in_at: instant({ description: "Check-in, as an instant." }),
  check_out_at: instant({
    examples: ["2027-05-17T09:00:00Z"],
    description: "Check-out, as an instant.",
  }),
  num_guests: t.Integer({ minimum: 1, description: "Adults and children." }),
  channel: choice(channels),
  source: t.String({ examples: ["api"] }),
  source_reservation_id: nullable(t.String()),
  channel_reservation_id: nullable(t.String()),
  currency: currency(),
  ...amounts,
  payment_status: choice(paymentStatuses),
  ...details,
  status_history: t.Array(StatusChange),
  booked_at: instant(),
  confirmed_at: nullable(instant()),
  cancelled_at: nullable(instant()),
  cancelled_by: nullable(choice(["guest", "host", "channel", "system"])),
  cancellation_reason: nullable(text(1000)),
  created_at: instant(),
  updated_at: instant(),
  version: t.Integer(),
};

/** A reservation as its table has it. */
export const StoredReservation = t.Object(stored);

export type StoredReservation = Static<typeof StoredReservation>;

/** A reservation as everybody sees it. */
export const Reservation = t.Object(
  {
    ...stored,
    listing_title: t.String({ examples: ["Lake house"] }),
    guest: GuestCard,
    stage: choice(stages, { description: "How the stay stands today, in the listing's zone." }),
  },
  { title: "Reservation" },
);

export type Reservation = Static<typeof Reservation>;
export type NewReservation = Static<typeof NewReservation>;
export type ReservationChange = Static<typeof ReservationChange>;
