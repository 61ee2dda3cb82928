import { acrossAccounts, addDays, type Database, defineJob } from "#core";
import { find } from "#plugins/listings";

import type { Reason } from "./changes.ts";
import { updated } from "./events.ts";
import * as store from "./store.ts";
import { open } from "./tables.ts";

const mostDays = 62;

const due = (db: Database, now: string) =>
  open(acrossAccounts(db))
    .selectFrom("calendar_changes")
    .selectAll()
    .where("due_at", "<=", now)
    .orderBy("due_at");

/** Tells of changes once they have been gathered for long enough. */
export const announce = defineJob({
  name: "calendar.announce",
  summary: "Tells of changes in calendars, some seconds after the first of a burst.",
  schedule: "* * * * * *",
  emits: [updated],
  pending: async (db, now) => (await due(db, now).limit(1).execute()).length > 0,
  async handler({ db, now, as }) {
    const change = await due(db, now).limit(1).executeTakeFirst();
    if (change === undefined) return false;
    const { account_id, listing_id, start_date, end_date } = change;
    const { access, emit } = as(account_id);
    const listing = await find(access, db, listing_id);
    const last = addDays(start_date, mostDays);
    const days = await store.days(
      access,
      db,
      listing,
      start_date,
      end_date < last ? end_date : last,
    );
    emit(updated, {
      listing_id,
      listing_title: listing.title,
      start_date,
      end_date,
      reasons: change.reasons.split(" ").sort() as Reason[],
      days: days.map(({ date, available, price, min_nights }) => ({
        date,
        available,
        price,
        min_nights,
      })),
      truncated: end_date > last,
    });
    await open(db)
      .deleteFrom("calendar_changes")
      .where("listing_id", "=", listing_id)
      .where("account_id", "=", account_id)
      .execute();
    return true;
  },
});
