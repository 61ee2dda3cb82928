/**
 * What every answer of the API carries, whatever it says.
 */

import { afterAll, describe, expect, test } from "bun:test";

import { setPlan } from "../../core/identity/mod.ts";
import { plugins } from "../../plugins/mod.ts";
import { type Client, type Reply, serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const server: Served = await serve({
  plugins: [...plugins, notesPlugin()],
  start: false,
  env: { RATE_TIERS: "few=1,anonymous=1000" },
});
afterAll(() => server[Symbol.asyncDispose]());
const { client } = await server.key();
const narrow = (await server.key({ scopes: ["notes:read"] })).client;
const few = (await server.key({ tier: "few" })).client;
const anonymous = server.client();
await few("GET", "/v1/notes");

const stay = {
  check_in_date: "2027-05-14",
  check_out_date: "2027-05-17",
  guest: { full_name: "Ada" },
};
const listing = (
  await client("POST", "/v1/listings", { title: "a", timezone: "Europe/Rome", currency: "EUR" })
).json;
const reserve = () => client("POST", "/v1/reservations", { listing_id: listing.id, ...stay });
await reserve();

const free = server.account().then(async (account_id) => {
  await server.app.store.write((db) => setPlan(db, account_id, "free"));
  return (await server.key({ account_id })).client;
});

const at = `/v1/listings/${listing.id}`;
const text = { "content-type": "text/plain" };
const cases: Record<string, [number, string | null, () => Promise<Reply>]> = {
  "200": [200, null, () => client("GET", "/v1/listings")],
  "201": [201, null, () => client("POST", "/v1/notes", { text: "a" })],
  "304": [304, null, () => client("GET", at, undefined, { "if-none-match": '"1"' })],
  "400 of a query": [400, "unknown_parameter", () => client("GET", "/v1/listings?what=1")],
  "400 of a body": [400, "invalid_json", () => client("POST", "/v1/notes", "{")],
  "400 of a cursor": [400, "invalid_cursor", () => client("GET", "/v1/listings?cursor=x")],
  "401 without a credential": [401, "missing_credential", () => anonymous("GET", "/v1/listings")],
  "401 of a key": [401, "invalid_api_key", () => server.client({ "x-api-key": "x" })("GET", at)],
  "402": [402, "plan_upgrade_required", async () => (await free)("POST", "/v1/notes/premium", {})],
  "403": [403, "insufficient_scope", () => narrow("POST", "/v1/notes", { text: "a" })],
  "404 of a record": [404, "not_found", () => client("GET", "/v1/listings/nobody")],
  "404 of a path": [404, "not_found", () => client("GET", "/v1/nowhere")],
  "405": [405, "method_not_allowed", () => client("PUT", "/v1/listings", {})],
  "409": [409, "dates_unavailable", reserve],
  "412": [
    412,
    "version_mismatch",
    () => client("PATCH", at, { title: "b" }, { "if-match": '"9"' }),
  ],
  "413": [413, "payload_too_large", () => client("POST", "/v1/notes", { text: "a".repeat(2e6) })],
  "415": [415, "unsupported_media_type", () => client("POST", "/v1/notes", "{}", text)],
  "422": [422, "validation_failed", () => client("POST", "/v1/notes", {})],
  "429": [429, "rate_limited", () => few("GET", "/v1/notes")],
  "500": [500, "internal", () => client("POST", "/v1/notes/fail", { how: "error" })],
  "503": [503, "maintenance", () => client("POST", "/v1/notes/fail", { how: "full" })],
  HEAD: [200, null, () => client("HEAD", "/v1/listings")],
  "HEAD of what is not there": [404, null, () => client("HEAD", "/v1/listings/nobody")],
  "a preflight": [204, null, () => anonymous("OPTIONS", "/v1/listings")],
};

/** The one shape of all errors. */
function expectProblem({ json, status, headers }: Reply, code: string): void {
  expect(Object.keys(json)).toEqual(["error"]);
  const { error } = json;
  expect(error).toMatchObject({ code, status, request_id: headers.get("x-request-id") });
  expect(error.message).toMatch(/^\S.{9,}$/s);
  if (error.details === undefined) return;
  expect(error.details.length).toBeGreaterThan(0);
  for (const detail of error.details) {
    expect(Object.keys(detail)).toEqual(["field", "code", "message"]);
    for (const each of Object.values(detail)) expect(each).toMatch(/\S/);
  }
}

describe("the answer", () => {
  for (const [name, [status, code, ask]] of Object.entries(cases)) {
    test(`${name} carries an id, the caller's standing and its tier`, async () => {
      const reply = await ask();
      expect(reply.status).toBe(status);
      const { headers } = reply;
      expect(headers.get("x-request-id")).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      for (const figure of ["limit", "remaining", "reset"]) {
        expect([figure, headers.get(`x-ratelimit-${figure}`)]).toEqual([
          figure,
          expect.stringMatching(/^\d+$/),
        ]);
      }
      expect(headers.get("x-service-tier")).toMatch(/^(anonymous|few|enterprise)$/);
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-expose-headers")).toContain("X-RateLimit-Remaining");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("private, no-cache");
      const empty = status === 304 || status === 204 || name.startsWith("HEAD");
      expect(reply.text === "").toBe(empty);
      if (!empty) expect(headers.get("content-type")).toBe("application/json");
      if (code !== null) expectProblem(reply, code);
      expect(headers.has("retry-after")).toBe(status === 429 || status === 503);
      expect(headers.has("www-authenticate")).toBe(status === 401);
      expect(reply.text).not.toContain("mirror");
    });
  }

  test("has an id of its own each time", async () => {
    const ids = new Set<string | null>();
    for (let i = 0; i < 20; i++)
      ids.add((await client("GET", "/v1/notes")).headers.get("x-request-id"));
    expect(ids.size).toBe(20);
  });
});

test("a thrown text, an error and a wrong event never leak what they say", async () => {
  for (const how of ["text", "error", "misshapen", "undeclared", "full"]) {
    const { text: answer, status } = await client("POST", "/v1/notes/fail", { how });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(answer).not.toMatch(/mirror|stack|notes\.|\.ts|SQLITE/);
  }
});

test("a method that a path does not know is 405, and Allow names those that it knows", async () => {
  const allow = async (ask: Client, method: string, path: string) => {
    const { status, headers } = await ask(method, path);
    return `${status} ${(headers.get("allow") ?? "").split(", ").sort().join(" ")}`;
  };
  const collection = "405 GET HEAD OPTIONS POST";
  expect(await allow(client, "DELETE", "/v1/listings")).toBe(collection);
  expect(await allow(anonymous, "PUT", "/v1/listings")).toBe(collection);
  expect(await allow(client, "POST", at)).toBe("405 GET HEAD OPTIONS PATCH");
  expect(await allow(client, "HEAD", "/v1/webhooks/test")).toBe("405 OPTIONS POST");
  expect((await client("DELETE", "/v1/nowhere")).status).toBe(404);
});

test("a preflight of a browser is told what it may send, and needs no credential", async () => {
  const asked = { origin: "https://app.example", "access-control-request-method": "POST" };
  const { status, headers } = await anonymous("OPTIONS", "/v1/reservations", undefined, asked);
  expect(status).toBe(204);
  expect(headers.get("access-control-allow-methods")).toContain("POST");
  const allowed = headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
  for (const name of [
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "x-api-key",
  ]) {
    expect(allowed).toContain(name);
  }
  // Any origin may ask, for nobody is known by a cookie here.
  expect(headers.has("access-control-allow-credentials")).toBe(false);
});

describe("a record with a version", () => {
  test("has a tag, by which it is not sent again and not overwritten", async () => {
    const record = (
      await client("POST", "/v1/listings", { title: "v", timezone: "Europe/Rome", currency: "EUR" })
    ).json;
    const path = `/v1/listings/${record.id}`;
    const get = (tag: string) => client("GET", path, undefined, { "if-none-match": tag });
    expect((await client("GET", path)).headers.get("etag")).toBe('"1"');
    for (const tag of ['"1"', 'W/"1"', '"0", "1"', "*"]) expect((await get(tag)).status).toBe(304);
    for (const tag of ['"2"', "1", ""]) expect((await get(tag)).status).toBe(200);
    const patch = (tag: string) =>
      client("PATCH", path, { title: crypto.randomUUID() }, { "if-match": tag });
    expect((await patch('"1"')).headers.get("etag")).toBe('"2"');
    const stale = await patch('"1"');
    expect([stale.status, stale.json.error.current_version]).toEqual([412, 2]);
    expect((await patch("*")).status).toBe(200);
    expect((await client("GET", path)).json).toMatchObject({ version: 3 });
  });

  test("says where it can be read, once it was made", async () => {
    const made = await client("POST", "/v1/notes", { text: "a" });
    const location = made.headers.get("location") ?? "";
    expect(location).toBe(`/v1/notes/${made.json.id}`);
    expect((await client("GET", location)).json).toEqual(made.json);
    expect((await client("POST", "/v1/notes/mint", {})).headers.has("location")).toBe(false);
  });
});
