/**
 * An inn for tests of domains: a server with a clock that stands still, and short ways to what most tests begin with.
 *
 * @module
 */

import { type FakeClock, fakeClock } from "../../core/db/mod.ts";
import {
  type Client,
  type Json,
  type Reply,
  serve,
  type Served,
  type ServeOptions,
} from "../fixture.ts";

/** The days of the tests lie after it. */
export const today = Date.UTC(2027, 0, 10, 12);

/** An event as it was stored: its name and its payload. */
export type Told = readonly [name: string, data: Json];

/** A server and a client that may do all. */
export interface Inn extends AsyncDisposable {
  readonly server: Served;
  readonly clock: FakeClock;
  readonly client: Client;
  /** Makes a listing. */
  listing(fields?: object): Promise<Json>;
  /** Asks for a stay; what comes of it is the caller's to check. */
  book(
    listing: Json,
    check_in_date: string,
    check_out_date: string,
    fields?: object,
  ): Promise<Reply>;
  /** Makes a reservation. */
  stay(
    listing: Json,
    check_in_date: string,
    check_out_date: string,
    fields?: object,
  ): Promise<Json>;
  /** Runs `work` and answers the events that it told of, in order. */
  told(work: () => Promise<unknown>): Promise<Told[]>;
  /** The nights that are taken of a listing, with who holds them. */
  nights(listing: Json): Promise<[date: string, holder: string][]>;
}

/** Opens an inn. Nothing is worked off unless `start` is true. */
export async function openInn(options: Omit<ServeOptions, "clock"> = {}): Promise<Inn> {
  const clock = fakeClock(today);
  const env = { RATE_TIERS: "enterprise=1000000000,anonymous=1000000000", ...options.env };
  const server = await serve({ start: false, ...options, clock, env });
  const { client } = await server.key();

  const made = async (path: string, body: object): Promise<Json> => {
    const reply = await client("POST", path, body);
    if (reply.status !== 201) throw new Error(`POST ${path}: ${reply.text}`);
    return reply.json;
  };
  const booking = (
    listing: Json,
    check_in_date: string,
    check_out_date: string,
    fields: object,
  ) => ({
    listing_id: listing.id,
    check_in_date,
    check_out_date,
    guest: { full_name: "Ada Lovelace" },
    ...fields,
  });
  const all = async (): Promise<Told[]> => {
    const events = (await server.rows("outbox_events")).sort((a, b) => a.seq - b.seq);
    return events.map(({ name, body }) => [name, JSON.parse(new TextDecoder().decode(body)).data]);
  };

  return {
    server,
    clock,
    client,
    listing: (fields = {}) =>
      made("/v1/listings", {
        title: "Lake house",
        timezone: "Europe/Rome",
        currency: "EUR",
        ...fields,
      }),
    book: (listing, from, to, fields = {}) =>
      client("POST", "/v1/reservations", booking(listing, from, to, fields)),
    stay: (listing, from, to, fields = {}) =>
      made("/v1/reservations", booking(listing, from, to, fields)),
    async told(work) {
      const before = (await all()).length;
      await work();
      return (await all()).slice(before);
    },
    async nights({ id }) {
      const rows = (await server.rows("calendar_nights")).filter((row) => row.listing_id === id);
      return sorted(rows.map((row): [string, string] => [row.date, row.holder_id]));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** In one order, whatever is in the list. */
export const sorted = <T>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** The code, and the field that it is about, of an answer that is an error. */
export const fault = ({ status, json }: Reply): unknown[] => [
  status,
  json.error?.code,
  ...((json.error?.details ?? []) as { field: string }[]).map(({ field }) => field),
];
