/**
 * Making a reservation.
 *
 * @module
 */

import { type Context, dateIn, defineOperation, invalid, newId, Problem } from "#core";
import { occupy } from "#plugins/calendar";
import { find as findGuest, findByEmail, insert as insertGuest } from "#plugins/guests";
import { mustBeInUse, terms } from "#plugins/listings";

import { holder, nightsHeld, open } from "./change.ts";
import { newCode } from "./code.ts";
import { created } from "./events.ts";
import { amountsOf } from "./money.ts";
import { holdsNights, NewReservation, Reservation, type StoredReservation } from "./schema.ts";
import { nightsOf, stageOf, timesOf } from "./stay.ts";
import * as store from "./store.ts";

async function guestOf({ id, ...input }: NewReservation["guest"], context: Context) {
  const { access, db } = context;
  // Guests belong to the whole account: whoever is restricted to listings gets to know none of them by booking.
  const restricted = access.listing_ids !== "all";
  if (id !== undefined) {
    const beside = Object.entries(input).find(([, value]) => value !== null)?.[0];
    if (beside !== undefined) {
      throw invalid(
        `guest.${beside}`,
        "not_allowed",
        `"guest.${beside}" does not go with "guest.id": change the guest itself`,
      );
    }
    if (restricted)
      throw new Problem(
        "listing_not_permitted",
        'This credential is restricted to listings: name the guest by "full_name"',
      );
    return await findGuest(access, db, id);
  }
  const { full_name, email = null, phone = null, locale = null } = input;
  if (full_name === undefined) {
    throw invalid(
      "guest.full_name",
      "required",
      '"guest.full_name" is required, unless "guest.id" names a known guest',
    );
  }
  const known = email === null || restricted ? undefined : await findByEmail(access, db, email);
  return known ?? (await insertGuest(context, { full_name, email, phone, locale }));
}

export const create = defineOperation({
  name: "reservations.create",
  summary: "Make a reservation.",
  description:
    "A status that holds nights takes them, or is refused with the conflicts. Without amounts the nights cost the " +
    "listing's base price. The event is not sent back to subscriptions of the credential that made the reservation.",
  route: "POST /reservations",
  scope: "reservations:write",
  status: 201,
  input: NewReservation,
  output: Reservation,
  emits: [created],
  problems: [
    "not_found",
    "listing_not_permitted",
    "dates_unavailable",
    "duplicate",
    "invalid_transition",
  ],
  tool: {
    name: "create_reservation",
    title: "Make a reservation",
    toolset: "core",
    open_world: true,
  },
  async handler(input, context) {
    const { db, access, actor, now, emit } = context;
    const nights = nightsOf(input);
    const listing = await terms(access, db, input.listing_id);
    mustBeInUse(listing);
    const guest = await guestOf(input.guest, context);
    const { guest: _guest, ...fields } = input;
    const wanted: StoredReservation = {
      id: newId(),
      account_id: access.account_id,
      confirmation_code: newCode(),
      guest_id: guest.id,
      ...fields,
      nights,
      ...timesOf(input, listing),
      ...amountsOf(input, listing, nights),
      num_guests: input.adults + input.children,
      currency: listing.currency,
      status_history: [{ status: input.status, changed_at: now, actor: actor.label }],
      booked_at: now,
      confirmed_at: input.status === "confirmed" ? now : null,
      cancelled_at: null,
      cancelled_by: null,
      cancellation_reason: null,
      created_at: now,
      updated_at: now,
      version: 1,
    };
    // First: a booking that is sent again is a duplicate, not a clash with itself.
    await store.mustBeNew(access, db, wanted);
    if (holdsNights(wanted.status)) await occupy(context, nightsHeld(wanted), holder(wanted));
    const record = await store.insert(db, wanted);
    const { id, full_name, email, phone, locale } = guest;
    const shown = Object.assign(record, {
      listing_title: listing.title,
      guest: { id, full_name, email, phone, locale },
      stage: stageOf(record, dateIn(record.timezone, now)),
    });
    emit(created, open(shown));
    return shown;
  },
});
