/**
 * What the tests of faults share: an account on disk, reservations that no two clients want, and a way to say figures.
 *
 * @module
 */

import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import Sqlite from "better-sqlite3";

import { type Json, receive, type Received } from "../fixture.ts";
import { run, type ServerProcess, type Settings } from "../process.ts";

/** How often the worst happens: `FAULT_ROUNDS`, or the number given. */
export const rounds = (fallback: number): number =>
  Math.max(1, Number(process.env.FAULT_ROUNDS ?? fallback) || fallback);

/** Says figures, and why something was left out. */
export const say = (text: string): void => void process.stderr.write(`    ${text}\n`);

/** A data directory with an account, two keys, listings, and a receiver that one of the keys has subscribed. */
export interface House {
  readonly settings: Settings;
  readonly received: Received;
  /** Of a key that has no subscription. */
  readonly key: string;
  readonly listings: readonly string[];
  /** Looks into the database beside the server. */
  look<T>(work: (database: Sqlite.Database) => T): T;
  /** Looks into a copy of what a killed server has left, which stays as it is. */
  autopsy<T>(work: (database: Sqlite.Database) => T): T;
}

/** Makes one; `path` is where the subscription's receiver is. */
export async function makeHouse(dir: string, path: string, more: Settings = {}): Promise<House> {
  const received = await receive();
  const settings = {
    DATA_DIR: join(dir, "data"),
    LOG_LEVEL: "info",
    RATE_TIERS: "enterprise=100000000",
    WEBHOOK_RETRY_SECONDS: "1,1,1,1,2,2,2,2,5,5,5,5,5,5,5,5",
    ...received.env,
    ...more,
  };
  const innkeep = async (...args: string[]): Promise<Json> => {
    const { code, out, err } = await run(settings, ...args);
    if (code !== 0) throw new Error(`innkeep ${args[0]}: ${err}`);
    return JSON.parse(out);
  };
  const call = (operation: string, input: object) =>
    innkeep("call", operation, "--json", JSON.stringify(input));
  await innkeep(
    "setup",
    "--account",
    "Faults",
    "--email",
    "ada@example.com",
    "--password",
    "correct horse",
  );
  const { key } = await innkeep("keys", "create", "--label", "writer", "--scopes", "*");
  await call("webhooks.create", {
    url: received.receiver.url(path),
    events: ["reservation.created"],
  });
  const listings: string[] = [];
  for (let i = 0; i < 4; i++) {
    listings.push(
      (
        await call("listings.create", {
          title: `House ${i}`,
          timezone: "Europe/Rome",
          currency: "EUR",
        })
      ).id,
    );
  }
  return {
    settings,
    received,
    key,
    listings,
    look: (work) => lookInto(settings.DATA_DIR, work),
    autopsy(work) {
      const copy = mkdtempSync(join(dir, "copy-"));
      for (const name of ["innkeep.db", "innkeep.db-wal"]) {
        if (existsSync(join(settings.DATA_DIR, name)))
          copyFileSync(join(settings.DATA_DIR, name), join(copy, name));
      }
      try {
        return lookInto(copy, work);
      } finally {
        rmSync(copy, { recursive: true });
      }
    },
  };
}

function lookInto<T>(dir: string, work: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(join(dir, "innkeep.db"), { timeout: 10_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const firstNight = Date.UTC(2027, 0, 1);
const dayOf = (night: number): string =>
  new Date(firstNight + night * 86_400_000).toISOString().slice(0, 10);

/** The stay of a number: no two of them meet. */
export function stayOf({ listings }: House, number: number) {
  const night = Math.floor(number / listings.length);
  return {
    listing_id: listings[number % listings.length],
    check_in_date: dayOf(night),
    check_out_date: dayOf(night + 1),
    guest: { full_name: `Guest ${number}` },
    external_id: `stay-${number}`,
  };
}

/** Asks for the stay of a number, as a client that tells repeats from new requests. */
export async function reserve(
  house: House,
  { url }: Pick<ServerProcess, "url">,
  number: number,
): Promise<Response> {
  return await fetch(`${url}/v1/reservations`, {
    method: "POST",
    headers: {
      "x-api-key": house.key,
      "content-type": "application/json",
      "idempotency-key": `stay-${number}`,
    },
    body: JSON.stringify(stayOf(house, number)),
  });
}

/** What the database holds of reservations and of what must come with each. */
export function tally(database: Sqlite.Database) {
  const count = (query: string): number => (database.prepare(query).get() as { n: number }).n;
  return {
    reservations: count("select count(*) as n from reservations"),
    nights: count("select count(*) as n from calendar_nights"),
    events: count("select count(*) as n from outbox_events where name = 'reservation.created'"),
    deliveries: count(
      "select count(*) as n from outbox_deliveries where event_id in (select id from outbox_events where name = 'reservation.created')",
    ),
    audits: count(
      "select count(*) as n from audit_entries where operation = 'reservations.create' and outcome = 'ok'",
    ),
    answers: count("select count(*) as n from calls_answers"),
  };
}

/** The numbers of the reservations that are there. */
export function numbersIn(database: Sqlite.Database): Set<number> {
  const rows = database.prepare("select external_id from reservations").all() as {
    external_id: string;
  }[];
  return new Set(rows.map(({ external_id }) => Number(external_id.replace("stay-", ""))));
}
