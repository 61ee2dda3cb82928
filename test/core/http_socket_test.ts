/**
 * HTTP as it comes over a real connection, byte by byte.
 */

import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { connect } from "node:net";

import { serve, type Served, until } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

let server: Served;
let listener: Bun.Server<undefined>;
let key: string;

beforeAll(async () => {
  server = await serve({ plugins: [notesPlugin()], start: false });
  ({ key } = await server.key());
  // As `serve` does it.
  listener = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    maxRequestBodySize: 25 * 1024 * 1024,
    idleTimeout: 30,
    fetch: (request, it) => server.app.fetch(request, () => it.requestIP(request)?.address),
  });
});
afterAll(async () => {
  await listener.stop(true);
  await server[Symbol.asyncDispose]();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends bytes and reads until the other side closes, or for so long. */
function speak(...chunks: readonly (string | Uint8Array)[]): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  let text = "";
  const end = (): void => {
    clearTimeout(late);
    socket.destroy();
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const [first = "", ...lines] = head.split("\r\n");
    const headers = new Headers();
    for (const line of lines)
      headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1));
    resolve({ status: Number(first.split(" ")[1] ?? 0), headers, body });
  };
  const late = setTimeout(end, 10_000);
  const socket = connect(listener.port as number, "127.0.0.1", () => void send());
  const closed = new Promise<void>((done) => socket.once("close", () => done()));
  const send = async (): Promise<void> => {
    for (const chunk of chunks) {
      if (socket.destroyed) return;
      if (socket.write(chunk)) continue;
      await Promise.race([new Promise((drained) => socket.once("drain", drained)), closed]);
    }
  };
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  // Whoever refuses a body need not read it to its end.
  socket.on("error", () => {});
  socket.on("close", end);
  return promise;
}

const head = (line: string, ...headers: readonly string[]): string =>
  [
    `${line} HTTP/1.1`,
    "host: localhost",
    `x-api-key: ${key}`,
    "connection: close",
    ...headers,
    "",
    "",
  ].join("\r\n");

const json = "content-type: application/json";
const chunked = "transfer-encoding: chunked";

/** A chunk of so many letters. */
const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${"a".repeat(bytes)}\r\n`;

const notes = async () => (await server.rows("notes")).length;

test("2 MB in chunks, whose length nobody announced, are 413, and nothing has changed", async () => {
  const before = await notes();
  const opening = `{"text":"a","metadata":{"m":"`;
  const { status, body, headers } = await speak(
    head("POST /v1/notes", json, chunked),
    `${opening.length.toString(16)}\r\n${opening}\r\n`,
    ...Array.from({ length: 20 }, () => chunk(100_000)),
    `3\r\n"}}\r\n0\r\n\r\n`,
  );
  expect(status).toBe(413);
  expect(JSON.parse(body).error).toMatchObject({
    code: "payload_too_large",
    limit_bytes: 1_048_576,
  });
  expect(headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
  expect(await notes()).toBe(before);
});

test("chunks without end are refused at the limit, not collected", async () => {
  const endless = await speak(
    head("POST /v1/notes", json, chunked),
    ...Array.from({ length: 15 }, () => chunk(100_000)),
  );
  expect(endless.status).toBe(413);
});

test("a length beyond the limit is refused before the body is read", async () => {
  const { status, body } = await speak(head("POST /v1/notes", json, "content-length: 2000000"));
  expect(status).toBe(413);
  expect(JSON.parse(body).error.code).toBe("payload_too_large");
});

test("a small body in chunks is a body like any other", async () => {
  const { status } = await speak(
    head("POST /v1/notes", json, chunked),
    '6\r\n{"text\r\n',
    '7\r\n":"é"}\r\n',
    "0\r\n\r\n",
  );
  expect(status).toBe(201);
  const empty = await speak(head("POST /v1/webhooks/test", json, chunked), "0\r\n\r\n");
  expect(empty.status).toBe(404);
});

test("a header or a URL of 100 KB is refused, and the server goes on", async () => {
  const long = "a".repeat(100_000);
  for (const request of [
    head("GET /v1/notes", `x-long: ${long}`),
    head(`GET /v1/notes?tag=${long}`),
  ]) {
    expect([400, 413, 414, 431]).toContain((await speak(request)).status);
  }
  const some = await speak(
    head(`GET /v1/notes?tag=${"a".repeat(8000)}`, `x-long: ${"b".repeat(4000)}`),
  );
  expect([200, 422]).toContain(some.status);
  expect((await speak(head("GET /v1/notes"))).status).toBe(200);
});

test("what is no HTTP, or none that we speak, harms nobody", async () => {
  const odd = [
    "\0\0\0\0\r\n\r\n",
    "GET /v1/notes\r\n\r\n",
    head("BREW /v1/notes"),
    head("OPTIONS *"),
    head("GET //"),
    "\r\n\r\n",
  ];
  for (const bytes of odd) {
    const answer = await Promise.race([speak(bytes), Bun.sleep(300)]);
    expect(answer?.status ?? 0).toBeOneOf([0, 400, 404, 405, 505]);
  }
  expect((await speak(head("GET /v1/notes"))).status).toBe(200);
});

test("a Host that is missing, as in HTTP/1.0, or that is none changes nothing", async () => {
  const key_header = `X-API-Key: ${key}\r\nConnection: close\r\n\r\n`;
  expect((await speak(`GET /v1/notes?limit=1 HTTP/1.0\r\n${key_header}`)).status).toBe(200);
  for (const host of ["a b[", "[::", "x:99999999", "a/b?c#d", ""]) {
    const reply = await speak(`GET /v1/notes/none HTTP/1.1\r\nHost: ${host}\r\n${key_header}`);
    expect([reply.status, reply.headers.has("x-request-id")]).toEqual([404, true]);
  }
});

test("HEAD answers as GET would, without the body", async () => {
  const get = await speak(head("GET /v1/notes"));
  const headed = await speak(head("HEAD /v1/notes"));
  expect([headed.status, headed.body]).toEqual([200, ""]);
  expect(headed.headers.get("content-type")).toBe("application/json");
  for (const [name] of get.headers)
    if (name !== "date") expect(headed.headers.has(name)).toBe(true);
});

test("the address that counts is that of the connection", async () => {
  const before = Number(
    (await speak(head("GET /v1/nowhere"))).headers.get("x-ratelimit-remaining"),
  );
  const after = await speak(head("GET /v1/nowhere", "x-forwarded-for: 198.51.100.1"));
  expect(Number(after.headers.get("x-ratelimit-remaining"))).toBe(before - 1);
});

test("a caller that hangs up in the middle of a body leaves nothing, and is no error", async () => {
  const before = await notes();
  const { log } = server.app;
  const error = spyOn(log, "error");
  const debug = spyOn(log, "debug");
  const bodies = [
    `${head("POST /v1/notes", json, "content-length: 1000")}{"text":"a"`,
    `${head("POST /v1/notes", json, chunked)}6\r\n{"text\r\n`,
    `${head("POST /mcp", json, "content-length: 1000")}{"jsonrpc"`,
    `${head("POST /mcp", json, chunked)}6\r\n{"json\r\n`,
  ];
  for (const bytes of bodies) {
    const socket = connect(listener.port as number, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(bytes);
    await Bun.sleep(50);
    socket.destroy();
  }
  expect(await until(() => debug.mock.calls.length === bodies.length)).toBe(true);
  expect((await speak(head("GET /v1/notes"))).status).toBe(200);
  expect(await notes()).toBe(before);
  expect(error).not.toHaveBeenCalled();
  for (const spy of [error, debug]) spy.mockRestore();
});
