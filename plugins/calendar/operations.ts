/**
 * Reading calendars, and keeping nights free.
 *
 * @module
 */

import {
  addDays,
  choice,
  date,
  defineOperation,
  invalid,
  newId,
  nightsBetween,
  nullable,
  pageInput,
  pageOf,
  ref,
  t,
  text,
} from "#core";
import { find, mustBeInUse, terms } from "#plugins/listings";

import { occupy, vacate } from "./ledger.ts";
import { Block, Calendar, reasons } from "./schema.ts";
import * as store from "./store.ts";

/** Two years: as far as anybody can book. */
const mostDays = 730;

function checkRange(from: string, to: string, field: string): void {
  const nights = nightsBetween(from, to);
  if (nights < 1) throw invalid(field, "must_be_after", `"${field}" must be after ${from}`);
  if (nights > mostDays)
    throw invalid(
      field,
      "too_large",
      `The range has ${nights} days: at most ${mostDays} are allowed`,
    );
}

export const get = defineOperation({
  name: "calendar.get",
  summary: "Read a listing's calendar day by day.",
  route: "GET /listings/:listing_id/calendar",
  scope: "calendars:read",
  input: t.Object({
    listing_id: ref("listing"),
    from: date({ description: "The first day." }),
    to: t.Optional(
      date({
        examples: ["2027-05-17"],
        description: "The day after the last; 30 days after `from` where absent.",
      }),
    ),
  }),
  output: Calendar,
  problems: ["not_found", "listing_not_permitted"],
  tool: { name: "get_calendar", title: "Read a calendar", toolset: "core" },
  async handler({ listing_id, from, to = addDays(from, 30) }, { db, access }) {
    checkRange(from, to, "to");
    const listing = await find(access, db, listing_id);
    const { title: listing_title, timezone, currency } = listing;
    return {
      listing_id,
      listing_title,
      timezone,
      currency,
      days: await store.days(access, db, listing, from, to),
    };
  },
});

export const block = defineOperation({
  name: "calendar.block",
  summary: "Keep nights of a listing free.",
  route: "POST /listings/:listing_id/calendar-blocks",
  scope: "calendars:write",
  status: 201,
  input: t.Object({
    listing_id: ref("listing"),
    start_date: date({ description: "The first night." }),
    end_date: date({ examples: ["2027-05-17"], description: "The day after the last night." }),
    reason: choice(reasons, { default: "other" }),
    note: nullable(text(2000), { default: null }),
  }),
  output: Block,
  problems: ["not_found", "listing_not_permitted", "dates_unavailable", "invalid_transition"],
  tool: { name: "block_dates", title: "Block dates", toolset: "core" },
  async handler(input, context) {
    const { db, access, now } = context;
    checkRange(input.start_date, input.end_date, "end_date");
    const listing = await terms(access, db, input.listing_id);
    mustBeInUse(listing);
    const { id: listing_id } = listing;
    const record: Block = {
      ...input,
      id: newId(),
      account_id: access.account_id,
      created_at: now,
      updated_at: now,
      version: 1,
    };
    const nights = { listing_id, from: input.start_date, to: input.end_date };
    await occupy(context, nights, { kind: "block", id: record.id });
    await store.insertBlock(access, db, record);
    return record;
  },
});

export const list_blocks = defineOperation({
  name: "calendar.list_blocks",
  summary: "List a listing's blocks.",
  route: "GET /listings/:listing_id/calendar-blocks",
  scope: "calendars:read",
  input: t.Object({ listing_id: ref("listing"), ...pageInput(["start_date", "-created_at"]) }),
  output: pageOf(Block),
  problems: ["not_found", "listing_not_permitted"],
  async handler({ listing_id, ...input }, { db, access }) {
    const listing = await find(access, db, listing_id);
    return await store.listBlocks(access, db, listing.id, input);
  },
});

export const unblock = defineOperation({
  name: "calendar.unblock",
  summary: "Remove a block: its nights can be booked again.",
  route: "DELETE /calendar-blocks/:id",
  scope: "calendars:write",
  input: t.Object({ id: ref("calendar_block") }),
  output: Block,
  problems: ["not_found", "listing_not_permitted", "version_mismatch"],
  tool: { name: "unblock_dates", title: "Remove a block", toolset: "core" },
  async handler({ id }, context) {
    const { db, access, expect } = context;
    const found = await store.findBlock(access, db, id);
    expect(found);
    const { listing_id, start_date: from, end_date: to } = found;
    await vacate(context, { listing_id, from, to }, { kind: "block", id });
    await store.deleteBlock(access, db, id);
    return found;
  },
});
