/**
 * What a calendar shows.
 *
 * @module
 */

import { choice, currency, date, instant, money, nullable, type Static, t, text } from "#core";

/** Why nights are blocked. */
export const reasons = ["owner_use", "maintenance", "hold", "seasonal_closure", "other"] as const;

/** Nights that the operator keeps free. */
export const Block = t.Object(
  {
    id: t.String({ examples: ["0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b71"] }),
    account_id: t.String(),
    listing_id: t.String(),
    start_date: date({ description: "The first night." }),
    end_date: date({ examples: ["2027-05-17"], description: "The day after the last night." }),
    reason: choice(reasons),
    note: nullable(text(2000)),
    created_at: instant(),
    updated_at: instant(),
    version: t.Integer(),
  },
  { title: "CalendarBlock" },
);

export type Block = Static<typeof Block>;

/** One night of a listing. */
export const Day = t.Object({
  date: date(),
  available: t.Boolean({ examples: [true] }),
  status: choice(["available", "reserved", "blocked"]),
  block_id: nullable(t.String()),
  reservation_id: nullable(t.String()),
  reason: nullable(t.String(), { description: "Of a block." }),
  price: nullable(money()),
  min_nights: t.Integer({ minimum: 1 }),
});

export type Day = Static<typeof Day>;

/** A range of nights of a listing. */
export const Calendar = t.Object(
  {
    listing_id: t.String(),
    listing_title: t.String({ examples: ["Lake house"] }),
    timezone: t.String({ examples: ["Europe/Rome"] }),
    currency: currency(),
    days: t.Array(Day),
  },
  { title: "Calendar" },
);
