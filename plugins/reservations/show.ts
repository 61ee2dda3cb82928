/**
 * Reservations as they are shown: with the guest, the listing's title and the stage of today.
 *
 * @module
 */

import type { Access, Database } from "#core";
import { cards } from "#plugins/guests";
import { titles } from "#plugins/listings";

import type { Reservation, StoredReservation } from "./schema.ts";
import { calendarDay, stageOf } from "./stay.ts";

/** Where and when something is shown. */
interface Showing {
  readonly db: Database;
  readonly access: Access;
  readonly now: string;
}

/** Some reservations. */
export async function showAll(
  { db, access, now }: Showing,
  records: readonly StoredReservation[],
): Promise<Reservation[]> {
  const guests = await cards(access, db, unique(records.map(({ guest_id }) => guest_id)));
  const names = await titles(access, db, unique(records.map(({ listing_id }) => listing_id)));
  const today = calendarDay(now);
  return records.map((record) => {
    const guest = guests.get(record.guest_id);
    const listing_title = names.get(record.listing_id);
    if (guest === undefined || listing_title === undefined) {
      throw new Error(`Reservation "${record.id}" has lost its guest or its listing`);
    }
    // Into the record itself, which was read for this alone: copying some fifty fields costs more than reading them.
    return Object.assign(record, {
      listing_title,
      guest,
      stage: stageOf(record, today(record.timezone)),
    });
  });
}

/** One reservation. */
export async function show(showing: Showing, record: StoredReservation): Promise<Reservation> {
  const [shown] = await showAll(showing, [record]);
  return shown as Reservation;
}

const unique = (ids: readonly string[]): string[] => [...new Set(ids)];
