import { dateIn, defineReaction } from "#core";
import { events, find } from "#plugins/listings";

import { apply } from "./change.ts";
import { updated } from "./events.ts";
import { timesOf } from "./stay.ts";
import * as store from "./store.ts";

const moving = ["timezone", "check_in_time", "check_out_time"];

/** Stays that lie ahead follow a listing's new zone and times; those that have begun keep theirs. */
export const follow_listing = defineReaction({
  name: "reservations.follow_listing",
  on: events.updated,
  emits: [updated],
  async handler({ listing_id, changed_fields, change }, context) {
    if (change !== "updated" || !changed_fields.some((field) => moving.includes(field))) return;
    const { db, access, now } = context;
    const listing = await find(access, db, listing_id);
    const live = ["inquiry", "pending", "awaiting_payment", "confirmed"] as const;
    for (const stay of await store.ahead(
      access,
      db,
      listing_id,
      dateIn(listing.timezone, now),
      live,
    )) {
      if (stay.check_in_at <= now) continue;
      const times = timesOf(stay, listing);
      if (times.check_in_at === stay.check_in_at && times.check_out_at === stay.check_out_at)
        continue;
      await apply(context, stay, times);
    }
  },
});
