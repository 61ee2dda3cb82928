/**
 * The only file with SQL of the reservations.
 *
 * @module
 */

import {
  type Access,
  codec,
  columnsOf,
  type Database,
  mustPermit,
  notFound,
  type Page,
  type PageInput,
  paginate,
  permits,
  pick,
  prepared,
  Problem,
  type Row,
  tables,
} from "#core";
import { matching } from "#plugins/guests";

import { type Status, StoredReservation } from "./schema.ts";

const reservation = codec(StoredReservation);

const open = (db: Database) => tables<{ reservations: Row<StoredReservation> }>(db);

const byId = prepared<{ account_id: string; id: string }>()((db, { account_id, id }) =>
  open(db)
    .selectFrom("reservations")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("id", "=", id),
);

/** A reservation of the account. Throws where there is none, or where its listing may not be touched. */
export async function find(access: Access, db: Database, id: string): Promise<StoredReservation> {
  const [row] = await byId(db, { account_id: access.account_id, id });
  if (row === undefined) throw notFound("reservation", id);
  mustPermit(access, row.listing_id);
  return reservation.decode(row);
}

/** What a list may be narrowed by; dates are local and inclusive. */
export interface ListFilter extends PageInput {
  readonly status?: readonly Status[];
  readonly listing_id?: readonly string[];
  readonly guest_id?: string;
  readonly channel?: readonly StoredReservation["channel"][];
  readonly source?: string;
  readonly channel_reservation_id?: string;
  readonly external_id?: string;
  readonly check_in_from?: string;
  readonly check_in_to?: string;
  readonly check_out_from?: string;
  readonly check_out_to?: string;
  readonly stay_overlaps?: readonly [string, string];
  readonly updated_since?: string;
  readonly created_since?: string;
  readonly q?: string;
}

/** A page of the account's reservations. */
export async function list(
  access: Access,
  db: Database,
  filter: ListFilter,
): Promise<Page<StoredReservation>> {
  const { account_id, listing_ids } = access;
  let query = open(db).selectFrom("reservations").selectAll().where("account_id", "=", account_id);
  if (listing_ids !== "all") query = query.where("listing_id", "in", [...listing_ids]);
  for (const column of ["guest_id", "source", "channel_reservation_id", "external_id"] as const) {
    const value = filter[column];
    if (value !== undefined) query = query.where(column, "=", value);
  }
  const { status, listing_id, channel, stay_overlaps, q } = filter;
  if (status !== undefined) query = query.where("status", "in", status);
  if (listing_id !== undefined) query = query.where("listing_id", "in", listing_id);
  if (channel !== undefined) query = query.where("channel", "in", channel);
  if (filter.check_in_from !== undefined)
    query = query.where("check_in_date", ">=", filter.check_in_from);
  if (filter.check_in_to !== undefined)
    query = query.where("check_in_date", "<=", filter.check_in_to);
  if (filter.check_out_from !== undefined)
    query = query.where("check_out_date", ">=", filter.check_out_from);
  if (filter.check_out_to !== undefined)
    query = query.where("check_out_date", "<=", filter.check_out_to);
  if (filter.updated_since !== undefined)
    query = query.where("updated_at", ">=", filter.updated_since);
  if (filter.created_since !== undefined)
    query = query.where("created_at", ">=", filter.created_since);
  if (stay_overlaps !== undefined) {
    const [from, to] = stay_overlaps;
    query = query.where("check_in_date", "<=", to).where("check_out_date", ">", from);
  }
  if (q !== undefined) {
    query = query.where(({ eb, or }) =>
      or([
        eb("confirmation_code", "=", q.toUpperCase()),
        eb("channel_reservation_id", "=", q),
        eb("guest_id", "in", matching(account_id, db, q)),
      ]),
    );
  }
  const { data, page } = await paginate(query, filter);
  return { data: data.map((row) => reservation.decode(row)), page };
}

const store = prepared<Row<StoredReservation>>()((db, row) =>
  open(db)
    .insertInto("reservations")
    .values(pick(row, columnsOf(StoredReservation))),
);

/** Stores a new reservation, and answers it as it is read from now on. */
export async function insert(db: Database, record: StoredReservation): Promise<StoredReservation> {
  const row = reservation.encode(record);
  await store(db, row);
  return reservation.decode(row);
}

/** A change as it is read once it is stored: amounts with the digits of their currency. */
export function settled<Change extends Partial<StoredReservation>>(
  { currency }: StoredReservation,
  change: Change,
): Change {
  const row = { ...reservation.encode(change, currency), currency } as Row<StoredReservation>;
  const { currency: _currency, ...rest } = reservation.decode(row);
  return rest as unknown as Change;
}

/** Stores what has changed of a reservation. */
export async function update(
  { account_id }: Access,
  db: Database,
  { id, currency }: StoredReservation,
  change: Partial<StoredReservation>,
): Promise<void> {
  await open(db)
    .updateTable("reservations")
    .set(reservation.encode(change, currency))
    .where("account_id", "=", account_id)
    .where("id", "=", id)
    .execute();
}

/** Reservations of a listing that hold nights on or after a day, the next one first. */
export async function ahead(
  { account_id }: Access,
  db: Database,
  listing_id: string,
  today: string,
  statuses: readonly Status[],
): Promise<StoredReservation[]> {
  const rows = await open(db)
    .selectFrom("reservations")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("listing_id", "=", listing_id)
    .where("status", "in", statuses)
    .where("check_out_date", ">", today)
    .orderBy("check_in_date")
    .execute();
  return rows.map((row) => reservation.decode(row));
}

/** Throws `duplicate` where another reservation has one of the outside ids. */
export async function mustBeNew(
  access: Access,
  db: Database,
  record: Pick<
    StoredReservation,
    "id" | "channel" | "channel_reservation_id" | "source" | "source_reservation_id" | "external_id"
  >,
): Promise<void> {
  const { channel, channel_reservation_id, source, source_reservation_id, external_id } = record;
  if (channel_reservation_id === null && source_reservation_id === null && external_id === null)
    return;
  // One look for each: SQLite finds no index for an "or" of them, and would read all of the account.
  const others = open(db)
    .selectFrom("reservations")
    .select(["id", "listing_id"])
    .where("account_id", "=", access.account_id)
    .where("id", "!=", record.id);
  const other =
    (channel_reservation_id === null
      ? undefined
      : await others
          .where("channel", "=", channel)
          .where("channel_reservation_id", "=", channel_reservation_id)
          .executeTakeFirst()) ??
    (source_reservation_id === null
      ? undefined
      : await others
          .where("source", "=", source)
          .where("source_reservation_id", "=", source_reservation_id)
          .executeTakeFirst()) ??
    (external_id === null
      ? undefined
      : await others.where("external_id", "=", external_id).executeTakeFirst());
  if (other === undefined) return;
  // Whoever may not touch its listing does not learn which one it is.
  const known = permits(access, other.listing_id);
  throw new Problem(
    "duplicate",
    `${known ? `Reservation "${other.id}"` : "Another reservation"} has the same id at its channel or source already`,
    { extra: { resource: "reservation", ...(known ? { id: other.id } : {}) } },
  );
}
