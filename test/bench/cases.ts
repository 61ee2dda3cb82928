/**
 * What is measured: six cases, and the requests they are made of.
 *
 * @module
 */

/** A case, and how it is loaded. */
export interface Case {
  readonly name: string;
  readonly kind: Kind;
  /** Connections, each with one request under way. */
  readonly clients: number;
  /** The least ratio to the limit. */
  readonly floor: number;
}

/** What is asked for: a reservation, a page of them, a new guest, a new reservation. */
export type Kind = "read" | "page" | "guest" | "stay";

/**
 * Of a guest both peers store the same rows. Of a booking they do not: innkeep writes the reservation, its guest, its
 * nights in the ledger, the event and the audit entry, the limit nothing but the reservation's row. The floor of creates
 * holds for both, and the booking is still below it: the guest's ratio says how much of that is the house, not the work.
 */
export const cases: readonly Case[] = [
  { name: "point read", kind: "read", clients: 16, floor: 0.4 },
  { name: "page of 50", kind: "page", clients: 16, floor: 0.5 },
  { name: "create guest, 1 client", kind: "guest", clients: 1, floor: 0.7 },
  { name: "create guest, 64 clients", kind: "guest", clients: 64, floor: 3 },
  { name: "create booking, 1 client", kind: "stay", clients: 1, floor: 0.7 },
  { name: "create booking, 64 clients", kind: "stay", clients: 64, floor: 3 },
];

/** So many reservations are there at the start, */
export const seeded = 10_000;
/** on so many listings. */
export const listingCount = 20;

const zones = [
  "Europe/Rome",
  "Europe/Lisbon",
  "America/New_York",
  "Asia/Tokyo",
  "Australia/Sydney",
];
const firstDay = Date.UTC(2025, 0, 1);
const nights = 3;
const day = 86_400_000;

const dateOf = (offset: number): string =>
  new Date(firstDay + offset * day).toISOString().slice(0, 10);

/** The body that makes a listing. */
export const listingBody = (place: number): string =>
  JSON.stringify({
    title: `Lake house ${place}`,
    timezone: zones[place % zones.length],
    currency: "EUR",
    base_price: "120.00",
    max_guests: 6,
    bedrooms: 3,
    summary: "A quiet house by the water, with a garden, a jetty and room for six.",
    amenities: ["wifi", "kitchen", "free_parking"],
  });

/** Where and when a stay takes place: each has nights of its own. */
export function stay(
  listings: readonly string[],
  index: number,
): { listing_id: string; check_in_date: string } {
  const offset = Math.floor(index / listings.length) * nights;
  return { listing_id: listings[index % listings.length] ?? "", check_in_date: dateOf(offset) };
}

/** The body that makes a reservation: ten fields, as a channel's message has them. */
export function stayBody(listings: readonly string[], index: number): string {
  const { listing_id, check_in_date } = stay(listings, index);
  return JSON.stringify({
    listing_id,
    check_in_date,
    check_out_date: new Date(Date.parse(check_in_date) + nights * day).toISOString().slice(0, 10),
    guest: { full_name: `Guest Number ${index}`, email: `guest-${index}@example.com` },
    adults: 2,
    children: 1,
    channel: "airbnb",
    total_price: "412.50",
    special_requests: "We arrive late, at about ten in the evening.",
  });
}

/** The body that makes a guest. */
export const guestBody = (index: number): string =>
  JSON.stringify({
    full_name: `Guest Number ${index}`,
    email: `guest-${index}@example.com`,
    phone: "+390612345678",
    locale: "it",
    notes: "Comes every summer, and asks for the room with the view of the jetty.",
    tags: ["regular"],
  });

/** The path of one reservation. */
export const readPath = (id: string): string => `/v1/reservations/${id}`;

/** The path of a page that is full and has another after it: some listing's arrivals over 180 days. */
export function pagePath(listings: readonly string[], index: number): string {
  const listing_id = listings[index % listings.length] ?? "";
  const offset = (index * 37) % 1300;
  const range = `check_in_from=${dateOf(offset)}&check_in_to=${dateOf(offset + 180)}`;
  return `/v1/reservations?listing_id=${listing_id}&${range}&sort=check_in_date&limit=50`;
}
