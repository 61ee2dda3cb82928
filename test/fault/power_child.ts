/**
 * Makes reservations and says of each, on standard output, when it was told that it is kept. `power_test.ts` runs this
 * under strace. With `plain` it does the same with the library's own settings, which promise less.
 *
 * @module
 */

import { writeSync } from "node:fs";
import { join } from "node:path";

import Sqlite from "better-sqlite3";

import { serve } from "../fixture.ts";

const [dir = "", mode = "", count = "40"] = process.argv.slice(2);

const acknowledge = (number: number): void => void writeSync(1, `kept ${number}\n`);

async function ours(): Promise<void> {
  const server = await serve({
    env: { DATA_DIR: dir, RATE_TIERS: "enterprise=1000000" },
    start: false,
  });
  const { client } = await server.key();
  const listing = await client("POST", "/v1/listings", {
    title: "a",
    timezone: "Europe/Rome",
    currency: "EUR",
  });
  const reserve = async (number: number): Promise<void> => {
    const day = (offset: number): string =>
      new Date(Date.UTC(2027, 0, 1 + number + offset)).toISOString().slice(0, 10);
    const { status } = await client("POST", "/v1/reservations", {
      listing_id: listing.json.id,
      check_in_date: day(0),
      check_out_date: day(1),
      guest: { full_name: `Guest ${number}` },
      external_id: `stay-${number}`,
    });
    if (status === 201) acknowledge(number);
  };
  // One at a time, and several that share a commit.
  for (let number = 0; number < Number(count); number += 5) {
    await reserve(number);
    await Promise.all([1, 2, 3, 4].map((more) => reserve(number + more)));
  }
}

function plain(): void {
  const database = new Sqlite(join(dir, "innkeep.db"));
  database.pragma("journal_mode = WAL");
  database.exec("create table reservations (external_id text)");
  const insert = database.prepare("insert into reservations values (?)");
  for (let number = 0; number < Number(count); number++) {
    insert.run(`stay-${number}`);
    acknowledge(number);
  }
}

if (mode === "plain") plain();
else await ours();
// No farewell: what a clean end would still write must not help.
process.kill(process.pid, "SIGKILL");
