/**
 * The ledger of nights: each night of a listing has one holder, a stay or a block. Half-open, `[from, to)`.
 *
 * @module
 */

import {
  type Access,
  addDays,
  type Context,
  type Database,
  eachText,
  prepared,
  Problem,
} from "#core";

import { note, type Reason } from "./changes.ts";
import { open } from "./tables.ts";

/** Who holds nights. */
export interface Holder {
  readonly kind: "reservation" | "block";
  readonly id: string;
}

/** Some nights of a listing. */
export interface Nights {
  readonly listing_id: string;
  /** The first night. */
  readonly from: string;
  /** The day after the last night. */
  readonly to: string;
}

/** Nights that somebody else holds already. */
interface Conflict {
  readonly kind: Holder["kind"];
  readonly id: string;
  readonly dates: string[];
}

const taken = prepared<{ account_id: string; listing_id: string; from: string; to: string }>()(
  (db, p) =>
    open(db)
      .selectFrom("calendar_nights")
      .select(["date", "holder_kind", "holder_id"])
      .where("listing_id", "=", p.listing_id)
      .where("date", ">=", p.from)
      .where("date", "<", p.to)
      .where("account_id", "=", p.account_id)
      .orderBy("date"),
);

// All nights at once; those that somebody holds are left out of what it answers.
const take = prepared<{
  listing_id: string;
  dates: string;
  account_id: string;
  kind: Holder["kind"];
  id: string;
}>()((db, p) =>
  open(db)
    .insertInto("calendar_nights")
    .columns(["listing_id", "date", "account_id", "holder_kind", "holder_id"])
    .expression((eb) =>
      eb
        .selectFrom(eachText(p.dates).as("night"))
        .select([
          eb.val(p.listing_id).as("listing_id"),
          "night.value as date",
          eb.val(p.account_id).as("account_id"),
          eb.val(p.kind).as("holder_kind"),
          eb.val(p.id).as("holder_id"),
        ])
        .where("night.value", "is not", null),
    )
    .onConflict((conflict) => conflict.columns(["listing_id", "date"]).doNothing())
    .returning("date"),
);

/** Each night of a range. */
export function* eachNight({ from, to }: Pick<Nights, "from" | "to">): Generator<string> {
  for (let night = from; night < to; night = addDays(night, 1)) yield night;
}

/** Who holds which nights of a range. */
export async function held({ account_id }: Access, db: Database, nights: Nights) {
  return await taken(db, { account_id, ...nights });
}

/** Takes nights for a holder. Throws `dates_unavailable`, with the conflicts, where any is held by another. */
export async function occupy(
  { access, db, now }: Context,
  nights: Nights,
  holder: Holder,
): Promise<void> {
  const { account_id } = access;
  const dates = [...eachNight(nights)];
  const { listing_id } = nights;
  const got = await take(db, { account_id, listing_id, dates: JSON.stringify(dates), ...holder });
  if (got.length < dates.length) {
    const others = await taken(db, { account_id, ...nights });
    throw unavailable(
      nights,
      others.filter(({ holder_id }) => holder_id !== holder.id),
    );
  }
  await note(access, db, now, nights, reasonOf(holder));
}

/** Gives a holder's nights back. */
export async function vacate(
  { access, db, now }: Context,
  nights: Nights,
  holder: Holder,
): Promise<void> {
  await open(db)
    .deleteFrom("calendar_nights")
    .where("account_id", "=", access.account_id)
    .where("listing_id", "=", nights.listing_id)
    .where("date", ">=", nights.from)
    .where("date", "<", nights.to)
    .where("holder_id", "=", holder.id)
    .execute();
  await note(access, db, now, nights, reasonOf(holder));
}

const reasonOf = ({ kind }: Holder): Reason => (kind === "block" ? "manual" : "reservation");

function unavailable(
  { listing_id, from, to }: Nights,
  rows: readonly { date: string; holder_kind: Holder["kind"]; holder_id: string }[],
): Problem {
  const conflicts = new Map<string, Conflict>();
  for (const { date, holder_kind: kind, holder_id: id } of rows) {
    const conflict = conflicts.get(id) ?? { kind, id, dates: [] };
    conflict.dates.push(date);
    conflicts.set(id, conflict);
  }
  const dates = rows.map(({ date }) => date).join(", ");
  return new Problem(
    "dates_unavailable",
    `Listing "${listing_id}" is not free from ${from} to ${to}: taken are the nights of ${dates}`,
    { extra: { conflicts: [...conflicts.values()] } },
  );
}
