import { dateIn, defineGuard, Problem } from "#core";
import { operations, terms } from "#plugins/listings";

import * as store from "./store.ts";

/** A listing is not archived under the feet of guests who are still to come. */
export const keep_booked_listings = defineGuard({
  name: "reservations.keep_booked_listings",
  on: operations.archive,
  async check({ id, force }, { db, access, now }) {
    if (force) return;
    const { timezone } = await terms(access, db, id);
    const ahead = await store.ahead(access, db, id, dateIn(timezone, now), [
      "confirmed",
      "awaiting_payment",
      "pending",
    ]);
    if (ahead.length === 0) return;
    const conflicts = ahead.slice(0, 20).map(({ id, check_in_date, check_out_date }) => ({
      kind: "reservation",
      id,
      check_in_date,
      check_out_date,
    }));
    throw new Problem(
      "invalid_transition",
      `Listing "${id}" has ${ahead.length} stay(s) ahead: cancel or move them first, or archive it with "force"`,
      { extra: { conflicts } },
    );
  },
});
