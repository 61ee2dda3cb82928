/**
 * The data: an account made by the command line, 20 listings and 10,000 reservations made over REST, and all that the
 * server had still to do about them done.
 *
 * @module
 */

import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { listingBody, listingCount, seeded } from "./cases.ts";
import { load } from "./load.ts";
import { environment, innkeep, start } from "./peer.ts";

/** What the peers start from. */
export interface Data {
  /** Where copies are made. */
  readonly scratch: string;
  /** A data directory of the product. */
  readonly dir: string;
  readonly key: string;
  readonly listings: readonly string[];
  readonly ids: readonly string[];
}

/** Makes the data below a directory. */
export async function makeData(scratch: string): Promise<Data> {
  const dir = join(scratch, "data");
  mkdirSync(dir);
  await run(
    dir,
    "setup",
    "--account",
    "Bench",
    "--email",
    "bench@example.com",
    "--password",
    "bench bench bench",
  );
  const { key } = await run(dir, "keys", "create", "--label", "Bench", "--scopes", "*");
  const empty: Data = { scratch, dir, key: String(key), listings: [], ids: [] };
  await using server = await start("innkeep", empty, { copy: false });
  const { port, pid } = server;
  const listings: string[] = [];
  for (let place = 0; place < listingCount; place++) {
    const headers = { "x-api-key": empty.key, "content-type": "application/json" };
    const request = { method: "POST", headers, body: listingBody(place) };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/listings`, request);
    if (answer.status !== 201) throw new Error(`Cannot make a listing: ${await answer.text()}`);
    listings.push(((await answer.json()) as { id: string }).id);
  }
  const plan = {
    kind: "stay",
    clients: 16,
    warmup: 0,
    seconds: 120,
    most: seeded,
    first: 0,
  } as const;
  await load({ ...plan, port, pid, key: empty.key, listings, ids: [] });
  const ids = await settled(server.file);
  return { ...empty, listings, ids };
}

async function run(dir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const child = Bun.spawn(innkeep(...args), {
    env: environment(dir),
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`"${args[0]}" failed: see above`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Waits until the audit log is sealed and every change told, and moves all of it from the log into the file. */
async function settled(file: string): Promise<string[]> {
  using database = new Database(file);
  const count = (sql: string): number => database.query<{ n: number }, []>(sql).get()?.n ?? 0;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const waiting =
      count("select count(*) as n from audit_entries where position is null") +
      count("select count(*) as n from calendar_changes") +
      count("select count(*) as n from outbox_reactions where state = 'pending'");
    if (waiting === 0) break;
    if (performance.now() > deadline)
      throw new Error(`The server had still ${waiting} things to do after a minute`);
    await Bun.sleep(50);
  }
  database.run("pragma wal_checkpoint(truncate)");
  const ids = database.query<{ id: string }, []>("select id from reservations order by id").all();
  if (ids.length !== seeded)
    throw new Error(`There are ${ids.length} reservations instead of ${seeded}`);
  return ids.map(({ id }) => id);
}
