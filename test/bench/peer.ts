/**
 * Peers: the product and the limit, each started afresh on a copy of the same data, in a process of its own.
 *
 * @module
 */

import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Data } from "./data.ts";

/** Who can be measured. */
export type PeerName = "limit" | "innkeep";

/** A server that answers. */
export interface Peer extends AsyncDisposable {
  readonly name: PeerName;
  readonly port: number;
  readonly pid: number;
  /** From its start to its first answer to a request with a key, in ms. */
  readonly startMs: number;
  /** Its database. */
  readonly file: string;
  /** Megabytes in memory; null where the system does not tell. */
  rss(): number | null;
  /** Ends it without warning, as a power cut would: what it has answered must be there. */
  kill(): Promise<void>;
}

const root = join(import.meta.dir, "../..");

/** The environment of a server of the product. */
export const environment = (dir: string, port = 0): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  NODE_ENV: "production",
  INNKEEP_DATA_DIR: dir,
  INNKEEP_PORT: String(port),
  INNKEEP_LOG_LEVEL: "warn",
  // The limiter stays on the path; its limit is out of reach.
  INNKEEP_RATE_TIERS: "anonymous=1000000000,enterprise=1000000000",
});

/** The product's command line. */
export const innkeep = (...args: string[]): string[] => [
  process.execPath,
  join(root, "server.ts"),
  ...args,
];

/** Starts a peer; on a copy of the data, or on the data itself. */
export async function start(name: PeerName, data: Data, { copy = true } = {}): Promise<Peer> {
  const dir = copy ? mkdtempSync(join(data.scratch, `${name}-`)) : data.dir;
  if (copy) cpSync(data.dir, dir, { recursive: true });
  const port = await freePort();
  const file = join(dir, "innkeep.db");
  const limit = [process.execPath, join(import.meta.dir, "limit.ts")];
  const since = performance.now();
  const child = Bun.spawn(name === "limit" ? limit : innkeep("serve"), {
    cwd: root,
    env: { ...environment(dir, port), LIMIT_FILE: file, LIMIT_PORT: String(port) },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
  };
  try {
    await firstAnswer(port, data, () => child.exitCode);
  } catch (error) {
    await kill();
    throw error;
  }
  return {
    name,
    port,
    pid: child.pid,
    startMs: performance.now() - since,
    file,
    rss: () => rssOf(child.pid),
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      if (copy) rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function firstAnswer(
  port: number,
  { key, ids }: Data,
  exitCode: () => number | null,
): Promise<void> {
  const deadline = performance.now() + 20_000;
  // Before there is a reservation any answer will do.
  const path = ids[0] === undefined ? "/v1/reservations?limit=1" : `/v1/reservations/${ids[0]}`;
  while (performance.now() < deadline) {
    if (exitCode() !== null) throw new Error("The server ended before it answered: see above");
    const status = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { "x-api-key": key },
    }).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    if (status !== 0) throw new Error(`The server answered ${status} at its start`);
    await Bun.sleep(1);
  }
  throw new Error("The server did not answer within 20 s");
}

async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  await probe.stop(true);
  return port ?? 0;
}

function rssOf(pid: number): number | null {
  try {
    const [, kilobytes] =
      /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}
