/**
 * What has changed in a calendar, gathered for some seconds before it is told: a burst of changes makes one event.
 *
 * @module
 */

import { type Access, type Database, instantOf, msOf, prepared } from "#core";

import { open } from "./tables.ts";

/** What a calendar changed for. */
export type Reason = "manual" | "reservation" | "rule" | "ical" | "channel" | "price";

/** So long changes of a listing are gathered. */
const gathering = 5000;

interface Change {
  readonly listing_id: string;
  readonly from: string;
  readonly to: string;
}

const pending = prepared<{ account_id: string; listing_id: string }>()((db, { account_id, listing_id }) =>
  open(db)
    .selectFrom("calendar_changes")
    .selectAll()
    .where("listing_id", "=", listing_id)
    .where("account_id", "=", account_id),
);

const first = prepared<{
  account_id: string;
  listing_id: string;
  start_date: string;
  end_date: string;
  reasons: string;
  due_at: string;
}>()((db, p) =>
  open(db).insertInto("calendar_changes").values({
    account_id: p.account_id,
    listing_id: p.listing_id,
    start_date: p.start_date,
    end_date: p.end_date,
    reasons: p.reasons,
    due_at: p.due_at,
  }),
);

/** Notes a change; the range of what is waiting already grows to hold it. */
export async function note(
  { account_id }: Access,
  db: Database,
  now: string,
  { listing_id, from, to }: Change,
  reason: Reason,
): Promise<void> {
  const [before] = await pending(db, { account_id, listing_id });
  if (before === undefined) {
    const due_at = instantOf(msOf(now) + gathering);
    const reasons = JSON.stringify([reason]);
    await first(db, { account_id, listing_id, start_date: from, end_date: to, reasons, due_at });
    return;
  }
  const start_date = from < before.start_date ? from : before.start_date;
  const end_date = to > before.end_date ? to : before.end_date;
  const reasons = JSON.stringify([...new Set([...(JSON.parse(before.reasons) as string[]), reason])].sort());
  if (start_date === before.start_date && end_date === before.end_date && reasons === before.reasons) return;
  await open(db)
    .updateTable("calendar_changes")
    .set({ start_date, end_date, reasons })
    .where("listing_id", "=", listing_id)
    .where("account_id", "=", account_id)
    .execute();
}
