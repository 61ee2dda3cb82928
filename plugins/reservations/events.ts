/**
 * What happens to reservations.
 *
 * @module
 */

import { choice, defineEvent, instant, nullable, t } from "#core";

import { Reservation } from "./schema.ts";

// What the team notes for itself does not leave the house.
const { notes_internal: _notes, metadata: _metadata, ...core } = Reservation.properties;

const base = { scope: "reservations:read", listing: "listing_id" } as const;

export const created = defineEvent({
  ...base,
  name: "reservation.created",
  summary: "A reservation came in from a channel or was made here.",
  echo_guarded: true,
  payload: t.Object(core),
});

export const updated = defineEvent({
  ...base,
  name: "reservation.updated",
  summary: "Something about a reservation changed, its dates and its cancellation included.",
  payload: t.Object({
    ...core,
    changed_fields: t.Array(t.String(), { examples: [["adults", "num_guests"]] }),
    previous: t.Record(t.String(), t.Unknown(), {
      examples: [{ adults: 1, num_guests: 1 }],
      description: "What they were before.",
    }),
  }),
});

export const rescheduled = defineEvent({
  ...base,
  name: "reservation.rescheduled",
  summary: "The dates of a live reservation changed.",
  payload: t.Object({
    ...core,
    previous_check_in_at: instant(),
    previous_check_out_at: instant({ examples: ["2027-05-17T09:00:00Z"] }),
    previous_nights: t.Integer({ minimum: 1 }),
  }),
});

export const cancelled = defineEvent({
  ...base,
  name: "reservation.cancelled",
  summary: "A live reservation was cancelled.",
  payload: t.Object({
    ...core,
    cancelled_at: instant(),
    cancelled_by: choice(["guest", "host", "channel", "system"]),
    cancellation_reason: nullable(t.String()),
  }),
});
