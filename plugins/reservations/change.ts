/**
 * What every change of a reservation has in common.
 *
 * @module
 */

import { type Context, Problem } from "#core";

import { updated } from "./events.ts";
import { type Reservation, type Status, type StoredReservation, transitions } from "./schema.ts";
import { show } from "./show.ts";
import * as store from "./store.ts";

/** Stores a change, tells of it, and answers the reservation as it is now. */
export async function apply(
  context: Context<typeof updated>,
  before: StoredReservation,
  change: Partial<StoredReservation>,
): Promise<Reservation> {
  const { access, db, now, emit } = context;
  await store.update(access, db, before, {
    ...change,
    updated_at: now,
    version: before.version + 1,
  });
  const after = await show(context, await store.find(access, db, before.id));
  const changed_fields = Object.keys(change).filter((name) => differs(name, before, after));
  const old = before as Record<string, unknown>;
  const told = changed_fields.filter((name) => name !== "notes_internal" && name !== "metadata");
  const previous = Object.fromEntries(told.map((name) => [name, old[name]]));
  emit(updated, { ...open(after), changed_fields, previous });
  return after;
}

/** Does a field differ between two records? */
export function differs(name: string, before: object, after: object): boolean {
  const value = (record: object): unknown => (record as Record<string, unknown>)[name];
  return !Bun.deepEquals(value(before), value(after), true);
}

/** A reservation without what the team notes for itself. */
export function open({ notes_internal: _notes, metadata: _metadata, ...rest }: Reservation) {
  return rest;
}

/** The change that a new status brings. Throws where the status may not go there. */
export function moveTo(
  status: Status,
  before: StoredReservation,
  { now, actor }: Context,
): Partial<StoredReservation> {
  const allowed = transitions[before.status];
  if (!allowed.includes(status)) {
    const ways = allowed.length === 0 ? "it is final" : `it may become ${allowed.join(", ")}`;
    throw new Problem(
      "invalid_transition",
      `A reservation that is ${before.status} cannot become ${status}: ${ways}`,
      {
        extra: { current_status: before.status, allowed },
      },
    );
  }
  return {
    status,
    status_history: [...before.status_history, { status, changed_at: now, actor: actor.label }],
    ...(status === "confirmed" ? { confirmed_at: now } : {}),
  };
}

/** The nights of a reservation, for the ledger. */
export const nightsHeld = ({
  listing_id,
  check_in_date: from,
  check_out_date: to,
}: StoredReservation) => ({ listing_id, from, to });

/** A reservation as a holder of nights. */
export const holder = ({ id }: StoredReservation) => ({ kind: "reservation", id }) as const;
