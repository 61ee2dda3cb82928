/**
 * Input: what the API takes for what it is, and what it refuses, always in the same shape and never by breaking.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Client, type Reply, serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

let server: Served;
let client: Client;
beforeAll(async () => {
  server = await serve({
    plugins: [notesPlugin()],
    start: false,
    env: { RATE_TIERS: "enterprise=100000" },
  });
  ({ client } = await server.key());
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (body: string, headers: Record<string, string> = {}) =>
  client("POST", "/v1/notes", body, headers);
const count = async () => (await server.rows("notes")).length;
const nested = (open: string, close: string, depth: number) =>
  open.repeat(depth) + close.repeat(depth);

const deep = `{"text":"a","metadata":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`;

/** Bodies that are JSON but not what was asked for, and the field that is told. */
const unfit: Record<string, [field: string, body: string]> = {
  "a NUL": ["text", '{"text":"a\\u0000b"}'],
  "a NUL behind a backslash": ["text", '{"text":"a\\\\\\u0000b"}'],
  "a NUL in a name": ["metadata", '{"text":"a","metadata":{"\\u0000":"b"}}'],
  "a list": ["(body)", "[]"],
  null: ["(body)", "null"],
  "a text": ["(body)", '"a"'],
  nothing: ["text", ""],
  "a field that is not there": ["txet", '{"text":"a","txet":"b"}'],
  "a field named __proto__": ["__proto__", '{"text":"a","__proto__":{"tags":[]}}'],
  "__proto__ in place of a field": ["__proto__", '{"__proto__":{"text":"a"}}'],
  "__proto__ inside": [
    "guest.__proto__",
    '{"text":"a","guest":{"name":"A","age":1,"__proto__":{}}}',
  ],
  "a field named constructor": ["constructor", '{"text":"a","constructor":{}}'],
  "a field named toString": ["toString", '{"text":"a","toString":"b"}'],
  "a number in a text": ["text", '{"text":1}'],
  "a text in a number": ["guest.age", '{"text":"a","guest":{"name":"A","age":"1"}}'],
  "what is too deep": ["text", `{"text":${nested("[", "]", 200_000)}}`],
  "objects that are too deep": ["metadata.a", deep],
};

/** Queries, and what each is told. */
const asked: Record<
  string,
  [status: number, code: string, field: string | undefined, path: string]
> = {
  "an unknown parameter": [400, "unknown_parameter", "what", "?what=1"],
  "one named constructor": [400, "unknown_parameter", "constructor", "?constructor=1"],
  "one named __proto__": [400, "unknown_parameter", "__proto__", "?__proto__=1"],
  "dry_run of a read": [400, "unknown_parameter", "dry_run", "?dry_run=1"],
  "one given twice": [422, "validation_failed", "limit", "?limit=1&limit=2"],
  "a number in another form": [422, "validation_failed", "limit", "?limit=1e1"],
  "a limit beyond the most": [422, "validation_failed", "limit", "?limit=201"],
  "a limit of nothing": [422, "validation_failed", "limit", "?limit="],
  "a sort that is not there": [422, "validation_failed", "sort", "?sort=id;drop"],
  "fields that are not there": [422, "validation_failed", "fields", "?fields=id,pin"],
  "a field named constructor": [422, "validation_failed", "fields", "?fields=id,constructor"],
  "a cursor of somebody else": [400, "invalid_cursor", undefined, "?cursor=%01%ff"],
  "an id of nobody": [404, "not_found", undefined, "/%01"],
  "an id with a NUL": [422, "validation_failed", "id", "/%00"],
};

const as = (type: string) => () => post('{"text":"a"}', { "content-type": type });
const write = (query: string) => () => client("POST", `/v1/notes?${query}`, { text: "a" });
const others: Record<string, [status: number, code: string, ask: () => Promise<Reply>]> = {
  "a body that is no JSON": [400, "invalid_json", () => post("{text:1}")],
  "a body cut off": [400, "invalid_json", () => post('{"text":"a')],
  "two documents": [400, "invalid_json", () => post('{"text":"a"}{"text":"b"}')],
  "a raw NUL": [400, "invalid_json", () => post('{"text":"a\0b"}')],
  "plain text": [415, "unsupported_media_type", as("text/plain")],
  "a form": [415, "unsupported_media_type", as("application/x-www-form-urlencoded")],
  "what only begins like JSON": [415, "unsupported_media_type", as("application/jsonp")],
  "2 MB": [413, "payload_too_large", () => post(JSON.stringify({ text: "a".repeat(2_000_000) }))],
  "fields of a write": [400, "unknown_parameter", write("fields=id")],
  "a body field in the query": [400, "unknown_parameter", write("text=a")],
  "a dry_run that is neither yes nor no": [422, "validation_failed", write("dry_run=maybe")],
};

describe("refused, with nothing changed, is", () => {
  const expectRefused = async (ask: () => Promise<Reply>, status: number, code: string) => {
    const before = await count();
    const { json, status: seen } = await ask();
    expect([seen, json.error.code]).toEqual([status, code]);
    // What JavaScript calls things is nothing that a caller should read.
    expect(json.error.message).not.toMatch(/\[object |\[native code\]|undefined/);
    expect(await count()).toBe(before);
    return json.error.details?.map((each: { field: string }) => each.field) ?? [undefined];
  };
  for (const [what, [field, body]] of Object.entries(unfit)) {
    test(what, async () => {
      const ask = () => (body === "" ? client("POST", "/v1/notes") : post(body));
      expect(await expectRefused(ask, 422, "validation_failed")).toContain(field);
    });
  }
  for (const [what, [status, code, field, path]] of Object.entries(asked)) {
    test(`in a query ${what}`, async () => {
      const ask = () => client("GET", `/v1/notes${path}`);
      expect(await expectRefused(ask, status, code)).toContain(field);
    });
  }
  for (const [what, [status, code, ask]] of Object.entries(others)) {
    test(what, async () => void (await expectRefused(ask, status, code)));
  }
});

test("a name of 100 KB is not repeated in full", async () => {
  for (const name of ["x".repeat(100_000), "🏝️".repeat(50_000)]) {
    const { status, json, text } = await post(JSON.stringify({ text: "a", [name]: 1 }));
    expect([status, json.error.code]).toEqual([422, "validation_failed"]);
    const [{ field, code, message }] = json.error.details;
    expect([code, field.length <= 100, field.endsWith("…")]).toEqual(["unknown_field", true, true]);
    expect(message).toContain(`"${field}"`);
    expect(text.length).toBeLessThan(2000);
  }
  const name = "x".repeat(100);
  const { json } = await post(JSON.stringify({ text: "a", [name]: 1 }));
  expect(json.error.details[0].field).toBe(name);
});

describe("taken is", () => {
  const made = async (body: string, headers?: Record<string, string>) => {
    const reply = await post(body, headers);
    expect(reply.status).toBe(201);
    const { json } = await client("GET", `/v1/notes/${reply.json.id}`);
    // What was answered is what was stored.
    expect(json).toEqual(reply.json);
    return json;
  };

  test("JSON under any of its types", async () => {
    for (const type of [
      "application/json; charset=utf-8",
      "Application/JSON",
      "application/merge-patch+json",
    ]) {
      expect((await made('{"text":"a"}', { "content-type": type })).text).toBe("a");
    }
  });

  test("any text, unchanged", async () => {
    for (const text of [
      "é",
      "🏝️",
      "ﷺ",
      "a\tb\nc",
      "\\u0000",
      "'; drop table notes; --",
      "<b>&amp;</b>",
      "\u2028",
      "\uFEFFa",
    ]) {
      expect((await made(JSON.stringify({ text }))).text).toBe(text);
    }
  });

  test("half of a surrogate pair, made whole the same way everywhere", async () => {
    const reply = await made('{"text":"a\\ud800b","tags":["\\udc00"]}');
    expect(reply).toMatchObject({ text: "a\ufffdb", tags: ["\ufffd"] });
    expect((await server.payloads("notes.noted")).at(-1).text).toBe("a\ufffdb");
  });

  test("a field given twice, the last time", async () => {
    expect((await made('{"text":"a","text":"b"}')).text).toBe("b");
  });

  test("a key of metadata that means something to JavaScript", async () => {
    expect((await post('{"text":"a","metadata":{"constructor":"x","toString":"y"}}')).status).toBe(
      201,
    );
  });

  test("a body just below the limit, if its fields are", async () => {
    const padding = " ".repeat(1024 * 1024 - 12);
    expect((await post(`{"text":"a"}${padding}`)).status).toBe(201);
    expect((await post(`{"text":"a"}${padding} `)).status).toBe(413);
  });

  test("a list in the query, repeated or with commas", async () => {
    await post('{"text":"listed"}');
    for (const query of ["tag=a&tag=b", "tag=a,b"]) {
      expect((await client("GET", `/v1/notes?${query}`)).status).toBe(200);
    }
  });

  test("the fields that are asked for, and no others", async () => {
    const { json } = await client("GET", "/v1/notes?fields=id,text&limit=2");
    expect(json.data.map((each: object) => Object.keys(each))).toEqual([
      ["id", "text"],
      ["id", "text"],
    ]);
    expect(json.page.limit).toBe(2);
  });

  test("the Content-Type of a read, though it has no body", async () => {
    const type = { "content-type": "application/json" };
    expect((await client("GET", "/v1/notes", undefined, type)).status).toBe(200);
  });
});

test("a page's Link leads to the next one, and all pages have each record once", async () => {
  const seen: string[] = [];
  let path: string | undefined = "/v1/notes?limit=3&sort=-text";
  for (let pages = 0; path !== undefined && pages < 100; pages++) {
    const page: Reply = await client("GET", path);
    seen.push(...page.json.data.map(({ id }: { id: string }) => id));
    const link = page.headers.get("link");
    expect(link !== null).toBe(page.json.page.has_more);
    path = /^<([^>]+)>; rel="next"$/.exec(link ?? "")?.[1];
  }
  expect(seen).toHaveLength(await count());
  expect(new Set(seen).size).toBe(seen.length);
});

test("a path that cannot be decoded is not found, or not fit", async () => {
  for (const path of ["/v1/notes/%E0%A4%A", "/v1/notes/%", "/v1/%2e%2e/notes", "/v1/notes/a%2Fb"]) {
    const { status, json } = await client("GET", path);
    expect([404, 422]).toContain(status);
    expect(json.error.request_id).toBeString();
  }
});
