/**
 * What has changed in a calendar, gathered for some seconds before it is told: a burst of changes makes one event.
 *
 * @module
 */

import { type Access, type Database, instantOf, msOf, prepared, sql } from "#core";

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

// One statement, whether it is the first change of a burst or a later one: the range and the reasons only grow.
const upsert = prepared<{
  account_id: string;
  listing_id: string;
  start_date: string;
  end_date: string;
  reasons: string;
  due_at: string;
}>()((db, p) =>
  open(db)
    .insertInto("calendar_changes")
    .values({
      account_id: p.account_id,
      listing_id: p.listing_id,
      start_date: p.start_date,
      end_date: p.end_date,
      reasons: p.reasons,
      due_at: p.due_at,
    })
    .onConflict((conflict) =>
      conflict.column("listing_id").doUpdateSet({
        start_date: sql`case when excluded.start_date < calendar_changes.start_date
          then excluded.start_date else calendar_changes.start_date end`,
        end_date: sql`case when excluded.end_date > calendar_changes.end_date
          then excluded.end_date else calendar_changes.end_date end`,
        reasons: sql`case when replace(calendar_changes.reasons, excluded.reasons, '') <> calendar_changes.reasons
          then calendar_changes.reasons else calendar_changes.reasons || ' ' || excluded.reasons end`,
      }),
    ),
);

/** Notes a change; the range of what is waiting already grows to hold it. */
export async function note(
  { account_id }: Access,
  db: Database,
  now: string,
  { listing_id, from, to }: Change,
  reason: Reason,
): Promise<void> {
  const due_at = instantOf(msOf(now) + gathering);
  await upsert(db, {
    account_id,
    listing_id,
    start_date: from,
    end_date: to,
    reasons: reason,
    due_at,
  });
}
