import type { Socket } from "node:net";

/** One request as it came over the wire. */
export interface Hit {
  /** Every byte of it, head and body. */
  readonly raw: Uint8Array;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** In the sender's order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The first header of that name, whatever its case. */
  header(name: string): string | undefined;
  readonly body: Uint8Array;
  /** The body as text. */
  readonly text: string;
  /** Counts connections from 1: two hits with the same number came over one. */
  readonly connection: number;
  /** The name asked for in the TLS handshake; null where none was. */
  readonly server_name: string | null;
}

/** An answer spelled out. */
export interface Reply {
  /** 200 where it is left out. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Chunks are sent one by one, as fast as they are taken; after the last the connection is closed. */
  readonly body?: string | Uint8Array | Iterable<Uint8Array>;
  readonly delay_ms?: number;
  /** Sent instead of status, headers and body. */
  readonly raw?: string | Uint8Array;
  /** Closes the connection after the answer. */
  readonly close?: boolean;
}

/** What to do with a request: answer it, never answer, or close the connection without a word. */
export type Answer = Reply | "hang" | "reset" | ((hit: Hit) => Reply | "hang" | "reset");

/** Takes the first whole request from the bytes; undefined where more must come. Bodies need a content-length. */
export function parseRequest(bytes: Buffer): Omit<Hit, "connection" | "server_name"> | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const [method = "", target = ""] = first.split(" ");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const header = (name: string): string | undefined =>
    headers.find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1];
  const length = end + 4 + Number(header("content-length") ?? 0);
  if (bytes.length < length) return undefined;
  const raw = new Uint8Array(bytes.subarray(0, length));
  const body = raw.slice(end + 4);
  return { raw, method, target, headers, header, body, text: new TextDecoder().decode(body) };
}

/** Writes an answer; `onChunk` hears the size of each chunk of a chunked body. */
export function writeReply(socket: Socket, reply: Reply, onChunk: (bytes: number) => void): void {
  const { status = 200, headers = {}, body = "", raw, close = false } = reply;
  if (raw !== undefined) {
    socket.write(raw);
  } else if (typeof body === "string" || body instanceof Uint8Array) {
    const bodiless = status === 204 || status === 304;
    const length = bodiless ? {} : { "content-length": String(Buffer.byteLength(body)) };
    socket.write(head(status, { ...length, ...headers }));
    socket.write(body);
  } else {
    socket.write(head(status, headers));
    pour(socket, body[Symbol.iterator](), onChunk);
    return;
  }
  if (close) socket.end();
}

function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Answer\r\n${lines.join("")}\r\n`;
}

/** Sends chunk by chunk and waits wherever the other side does not keep up. */
function pour(
  socket: Socket,
  chunks: Iterator<Uint8Array>,
  onChunk: (bytes: number) => void,
): void {
  while (!socket.destroyed) {
    const { done, value } = chunks.next();
    if (done === true) {
      socket.end();
      return;
    }
    onChunk(value.length);
    if (!socket.write(value)) {
      socket.once("drain", () => pour(socket, chunks, onChunk));
      return;
    }
  }
}
