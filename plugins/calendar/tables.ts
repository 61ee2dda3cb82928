/**
 * The calendar's tables.
 *
 * @module
 */

import { type Database, tables } from "#core";

import type { Block } from "./schema.ts";

interface NightRow {
  listing_id: string;
  date: string;
  account_id: string;
  holder_kind: "reservation" | "block";
  holder_id: string;
}

interface ChangeRow {
  listing_id: string;
  account_id: string;
  start_date: string;
  /** Exclusive. */
  end_date: string;
  /** Words, with a blank between them. */
  reasons: string;
  due_at: string;
}

export const open = (db: Database) =>
  tables<{ calendar_nights: NightRow; calendar_blocks: Block; calendar_changes: ChangeRow }>(db);
