/**
 * Blocks, and days as they are shown.
 *
 * @module
 */

import {
  type Access,
  type Database,
  mustPermit,
  notFound,
  type Page,
  type PageInput,
  paginate,
} from "#core";
import type { Listing } from "#plugins/listings";

import { eachNight, held } from "./ledger.ts";
import type { Block, Day } from "./schema.ts";
import { open } from "./tables.ts";

/** The days of a listing in `[from, to)`. */
export async function days(
  access: Access,
  db: Database,
  listing: Listing,
  from: string,
  to: string,
): Promise<Day[]> {
  const nights = await held(access, db, { listing_id: listing.id, from, to });
  const blocks = await overlapping(access, db, listing.id, from, to);
  const reasons = new Map(blocks.map(({ id, reason }) => [id, reason]));
  const holders = new Map(nights.map((night) => [night.date, night]));
  return [...eachNight({ from, to })].map((date): Day => {
    const holder = holders.get(date);
    const blocked = holder?.holder_kind === "block";
    return {
      date,
      available: holder === undefined && listing.status !== "archived",
      status: holder === undefined ? "available" : blocked ? "blocked" : "reserved",
      block_id: blocked ? holder.holder_id : null,
      reservation_id: holder !== undefined && !blocked ? holder.holder_id : null,
      reason: blocked ? (reasons.get(holder.holder_id) ?? null) : null,
      price: listing.base_price,
      min_nights: listing.min_nights,
    };
  });
}

async function overlapping(
  { account_id }: Access,
  db: Database,
  listing_id: string,
  from: string,
  to: string,
): Promise<Block[]> {
  return await open(db)
    .selectFrom("calendar_blocks")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("listing_id", "=", listing_id)
    .where("start_date", "<", to)
    .where("end_date", ">", from)
    .execute();
}

/** A block of the account. */
export async function findBlock(access: Access, db: Database, id: string): Promise<Block> {
  const block = await open(db)
    .selectFrom("calendar_blocks")
    .selectAll()
    .where("account_id", "=", access.account_id)
    .where("id", "=", id)
    .executeTakeFirst();
  if (block === undefined) throw notFound("calendar_block", id);
  mustPermit(access, block.listing_id);
  return block;
}

/** A page of a listing's blocks. */
export async function listBlocks(
  { account_id }: Access,
  db: Database,
  listing_id: string,
  input: PageInput,
): Promise<Page<Block>> {
  const query = open(db)
    .selectFrom("calendar_blocks")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("listing_id", "=", listing_id);
  return await paginate(query, input);
}

/** Stores a block. */
export async function insertBlock(_access: Access, db: Database, block: Block): Promise<void> {
  await open(db).insertInto("calendar_blocks").values(block).execute();
}

/** Removes a block. */
export async function deleteBlock({ account_id }: Access, db: Database, id: string): Promise<void> {
  await open(db)
    .deleteFrom("calendar_blocks")
    .where("account_id", "=", account_id)
    .where("id", "=", id)
    .execute();
}
