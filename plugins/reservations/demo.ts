/**
 * Two years of stays of the demo account: one behind us, one ahead, thinner the further away.
 *
 * @module
 */

import { addDays, type DemoKit, Problem } from "#core";
import { type Listing, operations } from "#plugins/listings";

import { create } from "./create.ts";
import { list } from "./operations.ts";

const names = [
  "Ada Lovelace",
  "Nikola Horvat",
  "Sofia Rossi",
  "Liam Murphy",
  "Emma Müller",
  "Yuki Tanaka",
  "Chloé Bernard",
  "Mateo García",
  "Olivia Smith",
  "Noah Johansson",
  "Amina Diallo",
  "Lucas Silva",
  "Hana Novák",
  "Ivan Petrov",
  "Maja Nielsen",
  "Omar Haddad",
  "Zoe Papadaki",
  "Jan de Vries",
  "Priya Sharma",
  "Tom Baker",
];

const bookedAt = ["airbnb", "airbnb", "booking_com", "vrbo", "direct"] as const;

/** Small and repeatable random numbers (mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Books the stays of each home that has none yet. */
export async function demo(kit: DemoKit): Promise<void> {
  const homes = await kit.call(operations.list, { tag: "demo", limit: 200, sort: "title" });
  await Promise.all(homes.data.map((home, place) => bookAhead(kit, home, dice(place + 1))));
}

async function bookAhead(
  { call, today }: DemoKit,
  home: Listing,
  random: () => number,
): Promise<void> {
  const prefix = home.external_id ?? home.id;
  if ((await call(list, { external_id: `${prefix}-stay-1` })).data.length > 0) return;
  const stays: Promise<unknown>[] = [];
  let night = addDays(today, -365);
  const end = addDays(today, 365);
  while (night < end) {
    const length = 2 + Math.floor(random() * 5);
    const check_out_date = addDays(night, length);
    // The further ahead, the less is sold.
    const ahead = Math.max(0, (Date.parse(night) - Date.parse(today)) / 86_400_000);
    if (random() < 0.85 - ahead / 600) {
      const channel = bookedAt[Math.floor(random() * bookedAt.length)] ?? "direct";
      const full_name = names[Math.floor(random() * names.length)] ?? "Ada Lovelace";
      const external_id = `${prefix}-stay-${stays.length + 1}`;
      const stay = {
        listing_id: home.id,
        check_in_date: night,
        check_out_date,
        guest: { full_name },
        adults: 1 + Math.floor(random() * Math.min(4, home.max_guests)),
        channel,
        source: "demo",
        source_reservation_id: external_id,
        channel_reservation_id: channel === "direct" ? null : external_id.toUpperCase(),
        payment_status: ahead === 0 ? "paid" : "unpaid",
        external_id,
      } as const;
      stays.push(call(create, stay).catch(passOver));
    }
    night = addDays(check_out_date, Math.floor(random() * 3));
  }
  await Promise.all(stays);
}

// Where an earlier run was interrupted, some stays are there already.
function passOver(error: unknown): void {
  if (
    error instanceof Problem &&
    (error.code === "duplicate" || error.code === "dates_unavailable")
  )
    return;
  throw error;
}
