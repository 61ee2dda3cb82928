/**
 * The only file with SQL of the listings.
 *
 * @module
 */

import {
  type Access,
  codec,
  columnsOf,
  type Database,
  hasEntry,
  holdsText,
  isAmong,
  mustPermit,
  notFound,
  type Page,
  paginate,
  permits,
  pick,
  prepared,
  Problem,
  type Row,
  tables,
} from "#core";

import { Listing } from "./schema.ts";

const listing = codec(Listing);

const open = (db: Database) => tables<{ listings: Row<Listing> }>(db);

const byId = prepared<{ account_id: string; id: string }>()((db, { account_id, id }) =>
  open(db)
    .selectFrom("listings")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("id", "=", id),
);

/** A listing of the account. Throws where there is none, or where it may not be touched. */
export async function find(access: Access, db: Database, id: string): Promise<Listing> {
  const [row] = await byId(db, { account_id: access.account_id, id });
  if (row === undefined) throw notFound("listing", id);
  mustPermit(access, id);
  return listing.decode(row);
}

const termsOf = prepared<{ account_id: string; id: string }>()((db, { account_id, id }) =>
  open(db)
    .selectFrom("listings")
    .select([
      "id",
      "title",
      "status",
      "timezone",
      "currency",
      "check_in_time",
      "check_out_time",
      "base_price",
      "cleaning_fee",
      "min_nights",
      "max_guests",
    ])
    .where("account_id", "=", account_id)
    .where("id", "=", id),
);

/** What booking a listing goes by. */
export type Terms = Pick<
  Listing,
  | "id"
  | "title"
  | "status"
  | "timezone"
  | "currency"
  | "check_in_time"
  | "check_out_time"
  | "base_price"
  | "cleaning_fee"
  | "min_nights"
  | "max_guests"
>;

/** The same as `find`, with no more of the listing than booking it needs. */
export async function terms(access: Access, db: Database, id: string): Promise<Terms> {
  const [row] = await termsOf(db, { account_id: access.account_id, id });
  if (row === undefined) throw notFound("listing", id);
  mustPermit(access, id);
  return listing.decode(row as Row<Listing>);
}

/** Throws where a listing takes no more stays and blocks. */
export function mustBeInUse({ id, status }: Pick<Listing, "id" | "status">): void {
  if (status !== "archived") return;
  throw new Problem(
    "invalid_transition",
    `Listing "${id}" is archived: its nights can neither be booked nor blocked`,
    { extra: { current_status: status, allowed: [] } },
  );
}

// With a column that the index of titles has not: that one would be walked along from end to end.
const titlesOf = prepared<{ account_id: string; ids: string }>()((db, { account_id, ids }) =>
  open(db)
    .selectFrom("listings")
    .select(["id", "title", "version"])
    .where("account_id", "=", account_id)
    .where(isAmong("id", ids)),
);

/** The titles of some listings, by their ids. */
export async function titles(
  { account_id }: Access,
  db: Database,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await titlesOf(db, { account_id, ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, title }) => [id, title]));
}

/** What a list may be narrowed by. */
export interface ListFilter {
  readonly limit: number;
  readonly cursor?: string;
  readonly sort: string;
  readonly status?: readonly Listing["status"][];
  readonly q?: string;
  readonly tag?: string;
  readonly external_id?: string;
  readonly updated_since?: string;
  readonly created_since?: string;
}

/** A page of the account's listings. */
export async function list(
  access: Access,
  db: Database,
  filter: ListFilter,
): Promise<Page<Listing>> {
  let query = open(db)
    .selectFrom("listings")
    .selectAll()
    .where("account_id", "=", access.account_id);
  if (access.listing_ids !== "all") query = query.where("id", "in", [...access.listing_ids]);
  if (filter.status !== undefined) query = query.where("status", "in", filter.status);
  const { q, tag } = filter;
  if (q !== undefined)
    query = query.where(({ or }) => or([holdsText("title", q), holdsText("internal_name", q)]));
  if (tag !== undefined) query = query.where(hasEntry("tags", tag));
  if (filter.external_id !== undefined) query = query.where("external_id", "=", filter.external_id);
  if (filter.updated_since !== undefined)
    query = query.where("updated_at", ">=", filter.updated_since);
  if (filter.created_since !== undefined)
    query = query.where("created_at", ">=", filter.created_since);
  const { data, page } = await paginate(query, filter);
  return { data: data.map((row) => listing.decode(row)), page };
}

const store = prepared<Row<Listing>>()((db, row) =>
  open(db)
    .insertInto("listings")
    .values(pick(row, columnsOf(Listing))),
);

/** Stores a new listing, and answers it as it is read from now on. */
export async function insert(access: Access, db: Database, record: Listing): Promise<Listing> {
  await mustBeFree(access, db, record.external_id, record.id);
  const row = listing.encode(record);
  await store(db, row);
  return listing.decode(row);
}

/** A change as it is read once it is stored: amounts with the digits of their currency. */
export function settled<Change extends Partial<Listing>>(
  { currency }: Listing,
  change: Change,
): Change {
  const row = { ...listing.encode(change, currency), currency } as Row<Listing>;
  const { currency: _currency, ...rest } = listing.decode(row);
  return rest as unknown as Change;
}

/** Stores what has changed of a listing. */
export async function update(
  access: Access,
  db: Database,
  { id, currency }: Listing,
  change: Partial<Listing>,
): Promise<void> {
  if (change.external_id !== undefined) await mustBeFree(access, db, change.external_id, id);
  await open(db)
    .updateTable("listings")
    .set(listing.encode(change, currency))
    .where("account_id", "=", access.account_id)
    .where("id", "=", id)
    .execute();
}

async function mustBeFree(
  access: Access,
  db: Database,
  external_id: string | null,
  own: string,
): Promise<void> {
  if (external_id === null) return;
  const other = await open(db)
    .selectFrom("listings")
    .select("id")
    .where("account_id", "=", access.account_id)
    .where("external_id", "=", external_id)
    .where("id", "!=", own)
    .executeTakeFirst();
  if (other === undefined) return;
  // Whoever may not touch the other one does not learn which it is.
  const known = permits(access, other.id);
  throw new Problem(
    "duplicate",
    `The external_id "${external_id}" belongs to ${known ? `listing "${other.id}"` : "another listing"} already`,
    { extra: { resource: "listing", ...(known ? { id: other.id } : {}) } },
  );
}

/** Is a listing a unit of another one, however far up? Looked up among all of the account, permitted or not. */
export async function isUnitOf(
  { account_id }: Access,
  db: Database,
  id: string,
  above: string,
): Promise<boolean> {
  const found = await open(db)
    // `union` drops what was found before: a circle, where there is one already, comes to its end.
    .withRecursive("chain", (chain) =>
      chain
        .selectFrom("listings")
        .select(["account_id", "id", "parent_listing_id"])
        .where("account_id", "=", account_id)
        .where("id", "=", id)
        .union(
          chain
            .selectFrom("listings")
            .innerJoin("chain", "chain.parent_listing_id", "listings.id")
            .select(["listings.account_id", "listings.id", "listings.parent_listing_id"])
            .where("listings.account_id", "=", account_id),
        ),
    )
    .selectFrom("chain")
    .select("id")
    .where("account_id", "=", account_id)
    .where("parent_listing_id", "=", above)
    .executeTakeFirst();
  return found !== undefined;
}
