/**
 * The only file with SQL of the guests.
 *
 * @module
 */

import {
  type Access,
  codec,
  columnsOf,
  type Context,
  type Database,
  holdsText,
  isAmong,
  type Migrations,
  newId,
  notFound,
  type Page,
  type PageInput,
  paginate,
  pick,
  prepared,
  type Row,
  tables,
} from "#core";

import { Guest, type GuestCard } from "./schema.ts";

const guest = codec(Guest);

const open = (db: Database) => tables<{ guests: Row<Guest> }>(db);

export const migrations: Migrations = {
  "0001_create": [
    `create table guests (
      id text not null, account_id text not null, full_name text not null, email text, phone text, locale text,
      notes text, tags text not null, created_at text not null, updated_at text not null, version integer not null,
      primary key (account_id, id))`,
    "create index guests_account_email on guests (account_id, email) where email is not null",
  ],
};

const byId = prepared<{ account_id: string; id: string }>()((db, { account_id, id }) =>
  open(db)
    .selectFrom("guests")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("id", "=", id),
);

/** A guest of the account. */
export async function find({ account_id }: Access, db: Database, id: string): Promise<Guest> {
  const [row] = await byId(db, { account_id, id });
  if (row === undefined) throw notFound("guest", id);
  return guest.decode(row);
}

const cardsOf = prepared<{ account_id: string; ids: string }>()((db, { account_id, ids }) =>
  open(db)
    .selectFrom("guests")
    .select(["id", "full_name", "email", "phone", "locale"])
    .where("account_id", "=", account_id)
    .where(isAmong("id", ids)),
);

/** The cards of some guests, by their ids. */
export async function cards(
  { account_id }: Access,
  db: Database,
  ids: readonly string[],
): Promise<Map<string, GuestCard>> {
  const rows = await cardsOf(db, { account_id, ids: JSON.stringify(ids) });
  return new Map(rows.map((row) => [row.id, row]));
}

const byEmail = prepared<{ account_id: string; email: string }>()((db, { account_id, email }) =>
  open(db)
    .selectFrom("guests")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("email", "=", email),
);

/** The guest of an e-mail address, as it is known already. */
export async function findByEmail(
  { account_id }: Access,
  db: Database,
  email: string,
): Promise<Guest | undefined> {
  const rows = await byEmail(db, { account_id, email: email.toLowerCase() });
  // Of several the first one that was made: sorting in the statement would have it planned anew each time.
  const [row] = rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  return row === undefined ? undefined : guest.decode(row);
}

/** What a list may be narrowed by. */
export interface ListFilter extends PageInput {
  readonly q?: string;
  readonly email?: string;
  readonly updated_since?: string;
}

/** A page of the account's guests. */
export async function list(
  { account_id }: Access,
  db: Database,
  filter: ListFilter,
): Promise<Page<Guest>> {
  let query = open(db).selectFrom("guests").selectAll().where("account_id", "=", account_id);
  const { q, email, updated_since } = filter;
  if (q !== undefined) query = query.where("id", "in", matching(account_id, db, q));
  if (email !== undefined) query = query.where("email", "=", email.toLowerCase());
  if (updated_since !== undefined) query = query.where("updated_at", ">=", updated_since);
  const { data, page } = await paginate(query, filter);
  return { data: data.map((row) => guest.decode(row)), page };
}

/** The ids of the guests whose name or e-mail address holds a text, as a subquery. */
export function matching(account_id: string, db: Database, q: string) {
  return open(db)
    .selectFrom("guests")
    .select("id")
    .where("account_id", "=", account_id)
    .where(({ or }) => or([holdsText("full_name", q), holdsText("email", q)]));
}

const store = prepared<Row<Guest>>()((db, row) =>
  open(db)
    .insertInto("guests")
    .values(pick(row, columnsOf(Guest))),
);

/** What a new guest is made of. */
type GuestInput = Pick<Guest, "full_name" | "email" | "phone" | "locale"> &
  Partial<Pick<Guest, "notes" | "tags">>;

/** Stores a new guest. */
export async function insert({ access, db, now }: Context, input: GuestInput): Promise<Guest> {
  const record: Guest = {
    id: newId(),
    account_id: access.account_id,
    full_name: input.full_name,
    email: input.email?.toLowerCase() ?? null,
    phone: input.phone,
    locale: input.locale,
    notes: input.notes ?? null,
    tags: input.tags ?? [],
    created_at: now,
    updated_at: now,
    version: 1,
  };
  await store(db, guest.encode(record));
  return record;
}

/** Stores what has changed of a guest. */
export async function update(
  { account_id }: Access,
  db: Database,
  id: string,
  change: Partial<Guest>,
): Promise<void> {
  const row: Partial<Guest> = { ...change };
  if (typeof row.email === "string") row.email = row.email.toLowerCase();
  await open(db)
    .updateTable("guests")
    .set(guest.encode(row))
    .where("account_id", "=", account_id)
    .where("id", "=", id)
    .execute();
}
