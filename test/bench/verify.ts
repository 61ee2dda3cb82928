/**
 * Checks before and after a load: a fast answer that is wrong is no answer.
 *
 * @module
 */

import { Database } from "bun:sqlite";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";

import { guestBody, pagePath, readPath, seeded, stay, stayBody } from "./cases.ts";
import type { Data } from "./data.ts";
import type { Peer } from "./peer.ts";

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

interface Page {
  readonly data: readonly {
    readonly id: string;
    readonly listing_id: string;
    readonly check_in_date: string;
  }[];
  readonly page: { readonly has_more: boolean; readonly next_cursor: string | null };
}

async function ask(
  { port }: Peer,
  key: string | undefined,
  path: string,
  body?: string,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: {
      ...(key === undefined ? {} : { "x-api-key": key }),
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { method: "POST", body }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

/** The right row, a full and sorted page, nothing without the key, and no wrong reservation. */
export async function verifyPeer(peer: Peer, { key, ids, listings }: Data): Promise<void> {
  const id = ids[ids.length >> 1] ?? "";
  const one = await ask(peer, key, readPath(id));
  deepStrictEqual([one.status, one.json.id], [200, id]);

  const path = pagePath(listings, 3);
  const page = await ask(peer, key, path);
  const { data, page: about } = page.json as unknown as Page;
  deepStrictEqual([page.status, data.length, about.has_more], [200, 50, true]);
  const dates = data.map(({ check_in_date }) => check_in_date);
  deepStrictEqual(dates, dates.toSorted());
  ok(data.every(({ listing_id }) => listing_id === listings[3]));

  for (const wrong of [undefined, `${key}x`, "ik_live_"]) {
    for (const [where, body] of [
      [readPath(id)],
      [path],
      ["/v1/reservations", stayBody(listings, seeded)],
    ] as const) {
      strictEqual((await ask(peer, wrong, where, body)).status, 401);
    }
  }
  const whole = JSON.parse(stayBody(listings, seeded)) as Record<string, unknown>;
  const faults = [
    { total_price: "lots" },
    { adults: 0 },
    { check_out_date: whole.check_in_date },
    { channel: "pigeon" },
  ];
  for (const fault of [...faults, { guest: { full_name: "A", email: "a" } }]) {
    const { status } = await ask(
      peer,
      key,
      "/v1/reservations",
      JSON.stringify({ ...whole, ...fault }),
    );
    strictEqual(status, 422, `accepted ${JSON.stringify(fault)}`);
  }
}

/** Both peers answer the same JSON, field by field. */
export async function verifySame(
  limit: Peer,
  innkeep: Peer,
  { key, ids, listings }: Data,
): Promise<void> {
  const paths = Array.from({ length: 20 }, (_, place) => readPath(ids[place * 499] ?? ""));
  for (let place = 0; place < 5; place++) paths.push(pagePath(listings, place * 7));
  for (const path of paths) {
    deepStrictEqual(await ask(limit, key, path), await ask(innkeep, key, path), path);
  }
  const body = stayBody(listings, seeded);
  const [made, model] = [
    await ask(limit, key, "/v1/reservations", body),
    await ask(innkeep, key, "/v1/reservations", body),
  ];
  strictEqual(made.status, 201);
  deepStrictEqual(withoutOwn(made.json), withoutOwn(model.json));
  const [guest, other] = [
    await ask(limit, key, "/v1/guests", guestBody(0)),
    await ask(innkeep, key, "/v1/guests", guestBody(0)),
  ];
  strictEqual(guest.status, 201);
  deepStrictEqual(withoutOwn(guest.json), withoutOwn(other.json));
  const faults = [{ full_name: "" }, { email: "a" }, { phone: "12" }, { tags: "regular" }];
  for (const peer of [limit, innkeep]) {
    for (const fault of faults) {
      const wrong = JSON.stringify({ full_name: "A", ...fault });
      strictEqual((await ask(peer, key, "/v1/guests", wrong)).status, 422);
    }
  }
}

/** A new reservation without its ids and its instants, which no two have in common. */
function withoutOwn(json: Record<string, unknown>): unknown {
  const own = /^(id|guest_id|confirmation_code|(booked|confirmed|created|updated|changed)_at)$/;
  return JSON.parse(
    JSON.stringify(json, (name, value: unknown) => (own.test(name) ? `(${name})` : value)),
  );
}

/** Every booking that was answered is in the database of the peer, which was killed. */
export function verifyStays(peer: Peer, { listings }: Data, answered: number): void {
  using database = new Database(peer.file);
  const rows = database
    .query<{ place: string }, []>("select listing_id || check_in_date as place from reservations")
    .all();
  strictEqual(rows.length, seeded + answered, "as many stored as answered");
  const stored = new Set(rows.map(({ place }) => place));
  for (let index = seeded; index < seeded + answered; index++) {
    const { listing_id, check_in_date } = stay(listings, index);
    ok(stored.has(listing_id + check_in_date), `reservation ${index} was answered and is lost`);
  }
}

/** Every guest that was answered is in the database of the peer, which was killed. */
export function verifyGuests(peer: Peer, answered: number): void {
  using database = new Database(peer.file);
  const { n } = database
    .query<{ n: number }, []>("select count(*) as n from guests where notes is not null")
    .get() ?? { n: 0 };
  strictEqual(n, answered, "as many guests stored as answered");
}
