/**
 * What can be done with reservations.
 *
 * @module
 */

import {
  choice,
  date,
  defineOperation,
  instant,
  invalid,
  isDate,
  nullable,
  pageInput,
  pageOf,
  Problem,
  ref,
  t,
  text,
} from "#core";
import { occupy, vacate } from "#plugins/calendar";
import { find as findGuest } from "#plugins/guests";
import { mustBeInUse, terms } from "#plugins/listings";

import { apply, differs, holder, moveTo, nightsHeld, open } from "./change.ts";
import { cancelled, rescheduled, updated } from "./events.ts";
import {
  channels,
  holdsNights,
  Reservation,
  ReservationChange,
  statuses,
  type StoredReservation,
  transitions,
} from "./schema.ts";
import { show, showAll } from "./show.ts";
import { nightsOf, timesOf } from "./stay.ts";
import * as store from "./store.ts";

export { create } from "./create.ts";

/** The two days of `2027-05-01..2027-05-31`. */
function daysOf(range: string): [from: string, to: string] {
  const [from = "", to = ""] = range.split("..");
  if (isDate(from) && isDate(to) && from <= to) return [from, to];
  throw invalid(
    "stay_overlaps",
    "invalid_format",
    '"stay_overlaps" must be two dates, the earlier one first',
  );
}

export const list = defineOperation({
  name: "reservations.list",
  summary: "List reservations, the newest first.",
  route: "GET /reservations",
  scope: "reservations:read",
  input: t.Object({
    status: t.Optional(t.Array(choice(statuses), { description: "One or several." })),
    listing_id: t.Optional(
      t.Array(ref("listing"), { maxItems: 100, description: "One or several." }),
    ),
    guest_id: t.Optional(ref("guest")),
    channel: t.Optional(t.Array(choice(channels), { description: "One or several." })),
    source: t.Optional(text(40, { minLength: 1 })),
    channel_reservation_id: t.Optional(text(200, { minLength: 1 })),
    external_id: t.Optional(text(200, { minLength: 1 })),
    check_in_from: t.Optional(date({ description: "Arrivals on this day or later." })),
    check_in_to: t.Optional(date({ description: "Arrivals on this day or earlier." })),
    check_out_from: t.Optional(date({ description: "Departures on this day or later." })),
    check_out_to: t.Optional(date({ description: "Departures on this day or earlier." })),
    stay_overlaps: t.Optional(
      t.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}\\.\\.\\d{4}-\\d{2}-\\d{2}$",
        examples: ["2027-05-01..2027-05-31"],
        description: "Stays that have a night from the first to the last of these days.",
      }),
    ),
    updated_since: t.Optional(instant()),
    created_since: t.Optional(instant()),
    q: t.Optional(
      text(100, {
        minLength: 1,
        description: "A code, or a part of the guest's name or e-mail address.",
      }),
    ),
    ...pageInput(["-created_at", "check_in_date", "check_out_date", "updated_at"]),
  }),
  output: pageOf(Reservation),
  problems: ["not_found", "listing_not_permitted"],
  tool: {
    name: "search_reservations",
    title: "Search reservations",
    toolset: "core",
    line: [
      "guest",
      "listing_title",
      "check_in_date",
      "check_out_date",
      "stage",
      "num_guests",
      "channel",
    ],
  },
  async handler({ stay_overlaps, ...input }, context) {
    const { db, access } = context;
    // A stranger's id is an error, not an empty list.
    for (const id of input.listing_id ?? []) await terms(access, db, id);
    // Guests belong to the whole account: who is restricted to listings must not learn whether one is there.
    if (input.guest_id !== undefined && access.listing_ids === "all")
      await findGuest(access, db, input.guest_id);
    const filter =
      stay_overlaps === undefined ? input : { ...input, stay_overlaps: daysOf(stay_overlaps) };
    const { data, page } = await store.list(access, db, filter);
    return { data: await showAll(context, data), page };
  },
});

export const get = defineOperation({
  name: "reservations.get",
  summary: "Read one reservation.",
  route: "GET /reservations/:id",
  scope: "reservations:read",
  input: t.Object({ id: ref("reservation") }),
  output: Reservation,
  problems: ["not_found", "listing_not_permitted"],
  tool: { name: "get_reservation", title: "Read a reservation", toolset: "core" },
  handler: async ({ id }, context) =>
    await show(context, await store.find(context.access, context.db, id)),
});

export const update = defineOperation({
  name: "reservations.update",
  summary: "Change a reservation, its status included.",
  description: "Dates change by `reschedule`, and a cancellation by `cancel`.",
  route: "PATCH /reservations/:id",
  scope: "reservations:write",
  input: t.Composite([t.Object({ id: ref("reservation") }), ReservationChange]),
  output: Reservation,
  emits: [updated],
  problems: [
    "not_found",
    "listing_not_permitted",
    "dates_unavailable",
    "duplicate",
    "invalid_transition",
    "version_mismatch",
  ],
  tool: { name: "update_reservation", title: "Change a reservation", toolset: "core" },
  async handler({ id, status, ...input }, context) {
    const { db, access, expect } = context;
    const before = await store.find(access, db, id);
    expect(before);
    if (input.external_id !== undefined)
      await store.mustBeNew(access, db, { ...before, external_id: input.external_id });
    const change: Partial<StoredReservation> = store.settled(before, input);
    if (input.adults !== undefined || input.children !== undefined) {
      change.num_guests = (input.adults ?? before.adults) + (input.children ?? before.children);
    }
    if (status !== undefined && status !== before.status) {
      Object.assign(change, moveTo(status, before, context));
      const held = holdsNights(before.status);
      if (!held && holdsNights(status)) {
        mustBeInUse(await terms(access, db, before.listing_id));
        await occupy(context, nightsHeld(before), holder(before));
      }
      if (held && !holdsNights(status)) await vacate(context, nightsHeld(before), holder(before));
    }
    const same = Object.keys(change).every((name) => !differs(name, before, change));
    return same ? await show(context, before) : await apply(context, before, change);
  },
});

export const reschedule = defineOperation({
  name: "reservations.reschedule",
  summary: "Move a live reservation to other dates.",
  description: "The new nights are taken and the old ones given back at once, or nothing changes.",
  route: "POST /reservations/:id/reschedule",
  scope: "reservations:write",
  input: t.Object({
    id: ref("reservation"),
    check_in_date: date({ examples: ["2027-05-21"], description: "The new day of arrival." }),
    check_out_date: date({ examples: ["2027-05-24"], description: "The new day of departure." }),
  }),
  output: Reservation,
  emits: [updated, rescheduled],
  problems: [
    "not_found",
    "listing_not_permitted",
    "dates_unavailable",
    "invalid_transition",
    "version_mismatch",
  ],
  tool: {
    name: "reschedule_reservation",
    title: "Move a reservation",
    toolset: "core",
    open_world: true,
  },
  async handler({ id, ...dates }, context) {
    const { db, access, emit, expect } = context;
    const before = await store.find(access, db, id);
    expect(before);
    if (transitions[before.status].length === 0) {
      throw new Problem(
        "invalid_transition",
        `A reservation that is ${before.status} cannot be moved`,
        {
          extra: { current_status: before.status, allowed: [] },
        },
      );
    }
    const nights = nightsOf(dates);
    if (
      dates.check_in_date === before.check_in_date &&
      dates.check_out_date === before.check_out_date
    ) {
      throw invalid("check_in_date", "unchanged", "The reservation has these dates already");
    }
    const listing = await terms(access, db, before.listing_id);
    mustBeInUse(listing);
    if (holdsNights(before.status)) {
      await vacate(context, nightsHeld(before), holder(before));
      await occupy(context, nightsHeld({ ...before, ...dates }), holder(before));
    }
    const after = await apply(context, before, { ...dates, nights, ...timesOf(dates, listing) });
    emit(rescheduled, {
      ...open(after),
      previous_check_in_at: before.check_in_at,
      previous_check_out_at: before.check_out_at,
      previous_nights: before.nights,
    });
    return after;
  },
});

export const cancel = defineOperation({
  name: "reservations.cancel",
  summary: "Cancel a live reservation; its nights can be booked again.",
  route: "POST /reservations/:id/cancel",
  scope: "reservations:write",
  body: "optional",
  input: t.Object({
    id: ref("reservation"),
    cancelled_by: choice(["guest", "host", "channel", "system"], { default: "host" }),
    reason: nullable(text(1000), { default: null }),
  }),
  output: Reservation,
  emits: [updated, cancelled],
  problems: ["not_found", "listing_not_permitted", "invalid_transition", "version_mismatch"],
  tool: {
    name: "cancel_reservation",
    title: "Cancel a reservation",
    toolset: "core",
    destructive: true,
    open_world: true,
  },
  async handler({ id, cancelled_by, reason }, context) {
    const { db, access, emit, expect, now } = context;
    const before = await store.find(access, db, id);
    expect(before);
    const change = moveTo("cancelled", before, context);
    if (holdsNights(before.status)) await vacate(context, nightsHeld(before), holder(before));
    const after = await apply(context, before, {
      ...change,
      cancelled_at: now,
      cancelled_by,
      cancellation_reason: reason,
    });
    emit(cancelled, {
      ...open(after),
      cancelled_at: now,
      cancelled_by,
      cancellation_reason: reason,
    });
    return after;
  },
});
