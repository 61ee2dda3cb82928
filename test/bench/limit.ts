/**
 * The limit: what the same answers cost when nothing stands between the socket and the database but what must. Routes of
 * `Bun.serve`, prepared statements of `bun:sqlite`, the key looked up by its SHA-256 at each request, ten fields
 * checked by hand, one commit for each create at FULL, `JSON.stringify`. No plugin, no limiter. Of a guest it stores
 * what innkeep stores, the record and its audit entry; of a booking the reservation's row and nothing else.
 *
 * Of the two drivers it takes the faster one: with better-sqlite3 it gave 0.9 (point read), 0.6 (page) and 1.0
 * (creates) of these figures on Bun 1.4.4.
 *
 * @module
 */

import { Database } from "bun:sqlite";

import { monotonicFactory } from "ulid";

import { type Guest, guestColumns, guestOf } from "./limit_guest.ts";
import { columns, recordOf, type ReservationRow } from "./limit_record.ts";
import { faultOf, type Listing, type NewStay, rowOf } from "./limit_stay.ts";

const database = new Database(process.env.LIMIT_FILE ?? "", { strict: true });
database.run("pragma journal_mode = WAL");
database.run("pragma synchronous = FULL");

const ulid = monotonicFactory();

const byHash = database.query<Key, [string]>(
  "select id, account_id, scopes, expires_at, revoked_at from identity_api_keys where hash = ?",
);
const shown = `select ${columns.map((column) => `r.${column}`).join(", ")}, l.title as listing_title,
  g.full_name as guest_full_name, g.email as guest_email, g.phone as guest_phone, g.locale as guest_locale
  from reservations r join listings l on l.account_id = r.account_id and l.id = r.listing_id join guests g on g.account_id = r.account_id and g.id = r.guest_id`;
const byId = database.query<ReservationRow, [string, string]>(
  `${shown} where r.id = ? and r.account_id = ?`,
);
const pageOf = database.query<ReservationRow, [string, string, string, string, number]>(
  `${shown} where r.account_id = ? and r.listing_id = ? and r.check_in_date >= ? and r.check_in_date <= ?
  order by r.check_in_date, r.id limit ?`,
);
const listingById = database.query<Listing, [string, string]>(
  "select id, title, timezone, currency, check_in_time, check_out_time from listings where id = ? and account_id = ?",
);
const insert = database.query(
  `insert into reservations (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
);

const insertGuest = database.query(
  `insert into guests (${guestColumns.join(", ")}) values (${guestColumns.map(() => "?").join(", ")})`,
);

const insertEntry = database.query(
  `insert into audit_entries (id, account_id, at, actor_kind, credential_id, user_id, actor_label, surface, operation,
    request_id, input, input_digest, outcome) values (?, ?, ?, 'api_key', ?, null, 'Bench', 'rest', 'guests.create',
    ?, ?, ?, 'ok')`,
);

// The same rows as the product stores, in one commit of their own.
const storeGuest = database.transaction((guest: Guest, key: Key) => {
  const row = { ...guest, tags: JSON.stringify(guest.tags) };
  insertGuest.run(...(guestColumns.map((column) => row[column]) as string[]));
  const input = JSON.stringify({ full_name: "[personal]", tags: guest.tags });
  const digest = Bun.SHA256.hash(input, "base64url");
  insertEntry.run(ulid(), guest.account_id, guest.created_at, key.id, ulid(), input, digest);
});

interface Key {
  readonly id: string;
  readonly account_id: string;
  readonly scopes: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

const json = { headers: { "content-type": "application/json" } };
const made = { ...json, status: 201 };
const refuse = (status: number, message: string): Response =>
  Response.json({ error: { message } }, { status });

/** The key of a request, where it is good. */
function keyOf(request: Request): Key | undefined {
  const given = request.headers.get("x-api-key");
  if (given === null) return undefined;
  const key = byHash.get(Bun.SHA256.hash(given, "base64url"));
  if (key === null || key.revoked_at !== null) return undefined;
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now() ? undefined : key;
}

function read(request: Bun.BunRequest<"/v1/reservations/:id">): Response {
  const key = keyOf(request);
  if (key === undefined) return refuse(401, "Unknown API key");
  const row = byId.get(request.params.id, key.account_id);
  return row === null
    ? refuse(404, "No such reservation")
    : new Response(JSON.stringify(recordOf(row)), json);
}

function page(request: Request): Response {
  const key = keyOf(request);
  if (key === undefined) return refuse(401, "Unknown API key");
  const query = new URLSearchParams(request.url.slice(request.url.indexOf("?") + 1));
  const listing_id = query.get("listing_id") ?? "";
  if (listingById.get(listing_id, key.account_id) === null) return refuse(404, "No such listing");
  const limit = Number(query.get("limit"));
  const from = query.get("check_in_from") ?? "";
  const rows = pageOf.all(
    key.account_id,
    listing_id,
    from,
    query.get("check_in_to") ?? "",
    limit + 1,
  );
  const has_more = rows.length > limit;
  if (has_more) rows.pop();
  const last = rows.at(-1);
  const cursor = JSON.stringify(["check_in_date", last?.check_in_date, last?.id]);
  const next_cursor = has_more ? Buffer.from(cursor).toString("base64url") : null;
  return new Response(
    JSON.stringify({ data: rows.map(recordOf), page: { next_cursor, has_more, limit } }),
    json,
  );
}

async function create(request: Request): Promise<Response> {
  const key = keyOf(request);
  if (key === undefined) return refuse(401, "Unknown API key");
  const input = (await request.json()) as NewStay;
  const fault = faultOf(input);
  if (fault !== undefined) return refuse(422, fault);
  const listing = listingById.get(input.listing_id, key.account_id);
  if (listing === null) return refuse(404, "No such listing");
  const row = rowOf(input, listing, key.account_id);
  insert.run(...(columns.map((column) => row[column]) as string[]));
  return new Response(JSON.stringify(recordOf(row)), made);
}

async function createGuest(request: Request): Promise<Response> {
  const key = keyOf(request);
  if (key === undefined) return refuse(401, "Unknown API key");
  const guest = guestOf((await request.json()) as Partial<Guest>, key.account_id);
  if (guest === undefined) return refuse(422, "A field is wrong");
  storeGuest.immediate(guest, key);
  return new Response(JSON.stringify(guest), made);
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.LIMIT_PORT),
  development: false,
  routes: {
    "/v1/reservations/:id": { GET: read },
    "/v1/reservations": { GET: page, POST: create },
    "/v1/guests": { POST: createGuest },
  },
});

const { synchronous } =
  database.query<{ synchronous: number }, []>("pragma synchronous").get() ?? {};
if (synchronous !== 2)
  throw new Error(`The limit would not be durable: synchronous is ${synchronous}`);
console.error(`The limit listens on ${server.port}`);
