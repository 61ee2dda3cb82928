/**
 * The load, in a process of its own: raw sockets with keep-alive, one request under way on each, ready-made bytes, and
 * of an answer no more is read than its status and its length. `bun load.ts` takes a plan on standard input and prints
 * what came of it.
 *
 * It is no bottleneck: on two cores it drove the bare limit as fast as `wrk` with one thread and as many connections
 * does (within the noise of repeated runs, 0.93 to 1.03 of it on point reads), while the server used a whole core and
 * this process two thirds of one. The table shows both.
 *
 * @module
 */

import { readFileSync } from "node:fs";

import { guestBody, type Kind, pagePath, readPath, stayBody } from "./cases.ts";

/** What to send. */
export interface LoadPlan {
  readonly port: number;
  readonly key: string;
  readonly kind: Kind;
  readonly clients: number;
  /** Before the seconds that count. */
  readonly warmup: number;
  /** Measured; or until `most` requests are answered. */
  readonly seconds: number;
  readonly most?: number;
  readonly listings: readonly string[];
  /** For reads. */
  readonly ids: readonly string[];
  /** For creates: the number of the first stay. */
  readonly first: number;
  /** The server's process, whose share of the processor is told. */
  readonly pid: number;
}

/** What came of it. */
export interface LoadResult {
  /** Per second, while it counted. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** All that were answered, the warm-up included. */
  readonly answered: number;
  /** Cores in use while it counted; null where the system does not tell. */
  readonly serverCpu: number | null;
  readonly loadCpu: number;
}

interface Connection {
  sentAt: number;
  /** Bytes of the answer still to come; -1 before its head. */
  left: number;
  head: Buffer;
}

const nothing = Buffer.alloc(0);

/** Runs a plan in this process. */
async function run(plan: LoadPlan): Promise<LoadResult> {
  const next = requests(plan);
  const status = Buffer.from(plan.kind === "stay" || plan.kind === "guest" ? " 201 " : " 200 ");
  const started = performance.now();
  const from = started + plan.warmup * 1000;
  const until = from + plan.seconds * 1000;
  const times: number[] = [];
  let sent = 0;
  let answered = 0;
  let open = plan.clients;
  const most = plan.most ?? Number.POSITIVE_INFINITY;
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  const send = (socket: Bun.Socket<Connection>): void => {
    const now = performance.now();
    if (now >= until || sent >= most) {
      socket.end();
      if (--open === 0) resolve();
      return;
    }
    const bytes = next(sent++);
    socket.data.sentAt = now;
    socket.data.left = -1;
    if (socket.write(bytes) !== bytes.length) reject(new Error("A request was not taken at once"));
  };

  const receive = (socket: Bun.Socket<Connection>, bytes: Buffer): void => {
    const connection = socket.data;
    if (connection.left >= 0) connection.left -= bytes.length;
    else {
      const head = connection.head.length === 0 ? bytes : Buffer.concat([connection.head, bytes]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return void (connection.head = head);
      connection.head = nothing;
      const text = head.toString("latin1", 0, end);
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
      if (head.indexOf(status) !== 8 || length === undefined)
        return reject(new Error(`Refused: ${head.toString()}`));
      connection.left = end + 4 + Number(length) - head.length;
    }
    if (connection.left > 0) return;
    const now = performance.now();
    answered++;
    if (now >= from && now < until) times.push(now - connection.sentAt);
    send(socket);
  };

  for (let count = 0; count < plan.clients; count++) {
    await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: plan.port,
      data: { sentAt: 0, left: -1, head: nothing },
      socket: {
        open: send,
        data: receive,
        close: (_socket, error) => void (error !== undefined && reject(error)),
        error: (_socket, error) => reject(error),
      },
    });
  }
  await Bun.sleep(from - performance.now());
  const before = { server: cpuOf(plan.pid), load: process.cpuUsage(), at: performance.now() };
  await Promise.race([promise, Bun.sleep(until - performance.now())]);
  const load = process.cpuUsage(before.load);
  const server = cpuOf(plan.pid);
  const took = (performance.now() - before.at) / 1000;
  await promise;
  times.sort((a, b) => a - b);
  return {
    rate: times.length / took,
    p50: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
    answered,
    serverCpu: server === null || before.server === null ? null : (server - before.server) / took,
    loadCpu: (load.user + load.system) / 1e6 / took,
  };
}

/** Answers the bytes of the nth request. */
function requests({ kind, key, listings, ids, first }: LoadPlan): (index: number) => Buffer {
  const head = (line: string): string =>
    `${line} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n`;
  if (kind === "stay" || kind === "guest") {
    const path = kind === "stay" ? "POST /v1/reservations" : "POST /v1/guests";
    const start = `${head(path)}Content-Type: application/json\r\nContent-Length: `;
    return (index) => {
      const place = first + index;
      const body = kind === "stay" ? stayBody(listings, place) : guestBody(place);
      return Buffer.from(`${start}${body.length}\r\n\r\n${body}`);
    };
  }
  const paths =
    kind === "read"
      ? ids.map(readPath)
      : Array.from({ length: 1000 }, (_, index) => pagePath(listings, index));
  const ready = paths.map((path) => Buffer.from(`${head(`GET ${path}`)}\r\n`));
  // A step that shares no factor with their number visits all of them, far from each other.
  return (index) => ready[(index * 7919) % ready.length] ?? nothing;
}

/** Seconds of processor time that a process has used. */
function cpuOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return null;
  }
}

/** Runs a plan in a process of its own. */
export async function load(plan: LoadPlan): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("The load failed: see above");
  return JSON.parse(text) as LoadResult;
}

if (import.meta.main) {
  console.log(JSON.stringify(await run((await Bun.stdin.json()) as LoadPlan)));
  // Where all was answered before its time, a timer is still waiting.
  process.exit(0);
}
