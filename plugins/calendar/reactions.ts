import { addDays, dateIn, defineReaction } from "#core";
import { events, terms } from "#plugins/listings";

import { note, type Reason } from "./changes.ts";

/** As far ahead as anybody can book. */
const horizon = 730;

const reasons: Readonly<Record<string, Reason>> = {
  base_price: "price",
  min_nights: "rule",
  status: "manual",
};

/** What a listing's calendar shows of the listing itself changes with it. */
export const follow_listing = defineReaction({
  name: "calendar.follow_listing",
  on: events.updated,
  async handler({ listing_id, changed_fields, change }, { db, access, now }) {
    if (change === "created") return;
    const { timezone } = await terms(access, db, listing_id);
    const from = dateIn(timezone, now);
    for (const field of changed_fields) {
      const reason = reasons[field];
      if (reason !== undefined)
        await note(access, db, now, { listing_id, from, to: addDays(from, horizon) }, reason);
    }
  },
});
