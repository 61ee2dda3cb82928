import { createServer, type TLSSocket } from "node:tls";

import type { Leaf } from "./authority.ts";
import { type Answer, type Hit, parseRequest, writeReply } from "./http.ts";
import { listen, shut } from "./silent.ts";

/** A running receiver. */
export interface TlsReceiver {
  readonly port: number;
  /** Every request in order of arrival. */
  readonly hits: readonly Hit[];
  /** TLS connections made so far. */
  readonly connections: number;
  /** TLS connections open now. */
  readonly open: number;
  /** Bytes of chunked bodies sent so far. */
  readonly sent: number;
  /** An https address of this receiver; `host` replaces the one it listens on. */
  url(target?: string, host?: string): string;
  /** Sets the answers of a path: one for each request in turn, the last one for all that follow. */
  answer(path: string, ...answers: readonly Answer[]): void;
  /** Resolves once so many requests have come; rejects after `ms`, 5 s by default. */
  waitFor(count: number, ms?: number): Promise<void>;
  /** Closes the connections but not the port, as a restart does. */
  disconnect(): void;
  close(): Promise<void>;
}

/** Starts a receiver on 127.0.0.1 and a free port unless told otherwise. It answers 200 unless told otherwise. */
export async function startReceiver(
  options: Leaf & { readonly host?: string; readonly port?: number },
): Promise<TlsReceiver> {
  const { key, cert, host = "127.0.0.1" } = options;
  const hits: Hit[] = [];
  const answers = new Map<string, Answer[]>();
  const sockets = new Set<TLSSocket>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const watchers = new Set<() => void>();
  let connections = 0;
  let sent = 0;

  function respond(socket: TLSSocket, hit: Hit): void {
    const queue = answers.get(hit.target.replace(/\?.*/, "")) ?? [];
    const answer = (queue.length > 1 ? queue.shift() : queue[0]) ?? {};
    const reply = typeof answer === "function" ? answer(hit) : answer;
    if (reply === "reset") socket.destroy();
    if (reply === "reset" || reply === "hang") return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!socket.destroyed) writeReply(socket, reply, (bytes) => (sent += bytes));
    }, reply.delay_ms ?? 0);
    timers.add(timer);
  }

  const server = createServer({ key, cert }, (socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Clients that hang up are what many tests are about.
    socket.on("error", () => {});
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let request = parseRequest(rest); request !== undefined; request = parseRequest(rest)) {
        rest = rest.subarray(request.raw.length);
        const hit: Hit = { ...request, connection, server_name: socket.servername || null };
        hits.push(hit);
        for (const look of watchers) look();
        respond(socket, hit);
      }
    });
  });
  server.on("tlsClientError", () => {});
  const port = await listen(server, host, options.port);

  return {
    port,
    hits,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    get sent() {
      return sent;
    },
    url(target = "/", name = host) {
      return `https://${name.includes(":") ? `[${name}]` : name}:${port}${target}`;
    },
    answer(path, ...list) {
      answers.set(path, [...list]);
    },
    waitFor(count, ms = 5000) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          if (hits.length >= count) settle(resolve);
        };
        const settle = (then: () => void): void => {
          clearTimeout(timer);
          watchers.delete(look);
          then();
        };
        const late = new Error(`Fewer than ${count} requests came within ${ms} ms`);
        const timer = setTimeout(() => settle(() => reject(late)), ms);
        watchers.add(look);
        look();
      });
    },
    disconnect() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      for (const timer of timers) clearTimeout(timer);
      return shut(server, sockets);
    },
  };
}
