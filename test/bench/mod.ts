/**
 * The bench: how much of the machine's limit is left once there are keys, limits, events, audit and a ledger of nights.
 * `npm run bench`; with `BENCH_ROUNDS` (3) and `BENCH_SECONDS` (3).
 *
 * Two peers are measured in one run, by turns. *innkeep* is the real server, `server.ts serve`, in production mode with
 * nothing switched off; *limit* (`limit.ts`) is the least code that gives the same answers from the same database. For
 * every round, case and peer a fresh process starts on a fresh copy of the data (10,000 reservations on 20 listings,
 * made over REST), is checked (`verify.ts`), warmed up, loaded by a process of its own (`load.ts`), and killed. No
 * request may fail, and every create that was answered must be in the file that the killed process has left.
 *
 * How to read the table: `ratio` is innkeep's median rate over the limit's, and only ratios mean anything: the rates
 * move with the machine and its neighbours. `floor` is the least that is allowed; below it the run fails. The limit is
 * one commit for each create: that is why 64 clients, who share commits in innkeep, are far beyond it. Of a
 * booking the limit stores one row, innkeep all that belongs to it: there the floor is still missed. `srv cpu` and
 * `load cpu` are cores in use: where the limit has not about one, the load was what was measured (creates wait for the
 * disk instead). Where temporary files lie in memory, a commit costs nothing: point `TMPDIR` to a disk.
 *
 * @module
 */

import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Case, cases, seeded } from "./cases.ts";
import { type Data, makeData } from "./data.ts";
import { load, type LoadResult } from "./load.ts";
import { type Peer, type PeerName, start } from "./peer.ts";
import { fixed, median, table } from "./table.ts";
import { verifyGuests, verifyPeer, verifySame, verifyStays } from "./verify.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const warmup = 0.8;

interface Run extends LoadResult {
  readonly startMs: number;
  readonly rssIdle: number | null;
  readonly rssLoad: number | null;
}

/** One case on one fresh peer. */
async function measure(name: PeerName, data: Data, { kind, clients }: Case): Promise<Run> {
  await using peer = await start(name, data);
  const { port, pid, startMs } = peer;
  const rssIdle = peer.rss();
  await verifyPeer(peer, data);
  const { key, listings, ids } = data;
  const result = await load({
    port,
    pid,
    key,
    listings,
    ids,
    kind,
    clients,
    warmup,
    seconds,
    first: seeded,
  });
  const rssLoad = peer.rss();
  await peer.kill();
  if (kind === "stay") verifyStays(peer, data, result.answered);
  if (kind === "guest") verifyGuests(peer, result.answered);
  return { ...result, startMs, rssIdle, rssLoad };
}

async function compare(data: Data): Promise<void> {
  await using limit: Peer = await start("limit", data);
  await using innkeep: Peer = await start("innkeep", data);
  await verifySame(limit, innkeep, data);
}

const middle = (runs: readonly Run[], field: keyof Run): number =>
  median(runs.map((run) => run[field]).filter((value) => value !== null));

const heads = [
  "case",
  "peer",
  "req/s",
  "p50 ms",
  "p99 ms",
  "srv cpu",
  "load cpu",
  "RSS MB",
  "ratio",
  "floor",
  "",
];

function report(results: ReadonlyMap<Case, Record<PeerName, Run[]>>): boolean {
  const rows: string[][] = [];
  let good = true;
  for (const [{ name, floor }, runs] of results) {
    for (const peer of ["limit", "innkeep"] as const) {
      const of = runs[peer];
      const ratio = middle(of, "rate") / middle(runs.limit, "rate");
      const fine = peer === "limit" || ratio >= floor;
      good &&= fine;
      rows.push([
        peer === "limit" ? name : "",
        peer,
        fixed(middle(of, "rate")),
        fixed(middle(of, "p50"), 2),
        fixed(middle(of, "p99"), 2),
        fixed(middle(of, "serverCpu"), 2),
        fixed(middle(of, "loadCpu"), 2),
        fixed(middle(of, "rssLoad")),
        fixed(ratio, 2),
        peer === "limit" ? "" : String(floor),
        peer === "limit" ? "" : fine ? "ok" : "BELOW",
      ]);
    }
  }
  console.log(`\n${table(heads, rows)}\n`);
  const all = (peer: PeerName): Run[] => [...results.values()].flatMap((runs) => runs[peer]);
  const resting = (["limit", "innkeep"] as const).map((peer) => {
    const runs = all(peer);
    return [
      "start to first answer, memory at rest",
      peer,
      fixed(middle(runs, "startMs")),
      fixed(middle(runs, "rssIdle")),
    ];
  });
  console.log(table(["", "peer", "ms", "RSS MB"], resting));
  return good;
}

async function main(): Promise<boolean> {
  const scratch = mkdtempSync(join(tmpdir(), "innkeep-bench-"));
  const tmpfs = 0x0102_1994;
  if (statfsSync(scratch).type === tmpfs)
    console.log(`Commits cost nothing in ${scratch}: set TMPDIR to a disk`);
  try {
    const since = performance.now();
    const data = await makeData(scratch);
    await compare(data);
    console.log(
      `Bun ${Bun.version}, ${seeded} reservations, ${rounds} rounds of ${seconds} s, medians`,
    );
    const results = new Map(
      cases.map((each): [Case, Record<PeerName, Run[]>] => [each, { limit: [], innkeep: [] }]),
    );
    for (let round = 0; round < rounds; round++) {
      for (const [each, runs] of results) {
        // By turns, and each of them first as often: what else the machine does meets both.
        const order =
          round % 2 === 0 ? (["limit", "innkeep"] as const) : (["innkeep", "limit"] as const);
        for (const peer of order) runs[peer].push(await measure(peer, data, each));
        const [limit, innkeep] = [runs.limit[round]?.rate ?? 0, runs.innkeep[round]?.rate ?? 0];
        console.log(
          `round ${round + 1}, ${each.name}: ${fixed(innkeep)} of ${fixed(limit)}/s, ${fixed(innkeep / limit, 2)}`,
        );
      }
    }
    const good = report(results);
    console.log(
      `\n${good ? "Every floor is kept." : "A floor is missed."} ${fixed((performance.now() - since) / 1000)} s`,
    );
    return good;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

process.exit((await main()) ? 0 : 1);
