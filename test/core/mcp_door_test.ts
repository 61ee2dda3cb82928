import { afterAll, beforeAll, expect, test } from "bun:test";

import { defineOperation, definePlugin, t, tables } from "#core";

import { type App, declared } from "../../core/app.ts";
import { createCatalogue } from "../../core/mcp/catalogue.ts";
import { patiently } from "../../core/mcp/patience.ts";
import { failure, type McpFixture, startMcp } from "./mcp_fixture.ts";
import { cabinsPlugin } from "./mcp_plugin.ts";

let mcp: McpFixture;
let all: string;

beforeAll(async () => {
  mcp = await startMcp();
  all = await mcp.key();
});

afterAll(() => mcp.stop());

const lake = { name: "Lake cabin", kind: "hut" };

interface AuditTables {
  audit_entries: {
    account_id: string;
    request_id: string;
    surface: string;
    operation: string;
    outcome: string;
  };
}

const audited = async (request_id: string) =>
  await mcp.app.store.read(
    async (db) =>
      await tables<AuditTables>(db)
        .selectFrom("audit_entries")
        .select(["surface", "operation", "outcome"])
        .where("account_id", "=", mcp.account_id)
        .where("request_id", "=", request_id)
        .execute(),
  );

const post = async (body: unknown, headers: Record<string, string> = {}, url = mcp.url) =>
  await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const call = (name: string, args: unknown) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args },
});

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

const expectCommon = ({ headers }: Response, tier: string): void => {
  expect(headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
  expect(Number(headers.get("x-ratelimit-limit"))).toBeGreaterThan(0);
  expect(headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
  expect(headers.get("x-ratelimit-reset")).toMatch(/^\d+$/);
  expect(headers.get("x-service-tier")).toBe(tier);
};

test("takes a key in either header and answers plain JSON, also to a client that reads nothing else", async () => {
  for (const auth of [{ "x-api-key": all }, { authorization: `Bearer ${all}` }]) {
    for (const accept of ["application/json, text/event-stream", "*/*"]) {
      const answer = await post(list, { ...auth, accept });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toStartWith("application/json");
      expectCommon(answer, "enterprise");
      expect(answer.headers.get("mcp-session-id")).toBeNull();
      expect(((await answer.json()) as { result: { tools: unknown[] } }).result.tools).toHaveLength(
        5,
      );
    }
  }
});

test("speaks every older version of the protocol", async () => {
  for (const protocolVersion of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "old", version: "1" } };
    const answer = await post(
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { "x-api-key": all },
    );
    expect(await answer.json()).toMatchObject({
      result: { protocolVersion, serverInfo: { name: "innkeep" }, capabilities: { tools: {} } },
    });
  }
});

test("shows a stranger where to sign in", async () => {
  const metadata = `resource_metadata="${mcp.app.config.baseUrl}/.well-known/oauth-protected-resource/mcp"`;
  const none = await post(list);
  expect(none.status).toBe(401);
  expect(none.headers.get("www-authenticate")).toContain(metadata);
  expect(none.headers.get("www-authenticate")).not.toContain("error=");
  expectCommon(none, "anonymous");
  const bad = await post(list, { authorization: "Bearer ik_live_nobody" });
  expect(bad.status).toBe(401);
  expect(bad.headers.get("www-authenticate")).toContain('error="invalid_token"');
  expect(bad.headers.get("www-authenticate")).toContain(metadata);
  expectCommon(bad, "anonymous");
});

test("is opened by POST only", async () => {
  for (const method of ["GET", "DELETE", "PUT"]) {
    const answer = await fetch(mcp.url, {
      method,
      headers: { "x-api-key": all, accept: "text/event-stream" },
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
    expectCommon(answer, "enterprise");
  }
  const stranger = await fetch(mcp.url);
  expect(stranger.status).toBe(405);
  expect(stranger.headers.get("www-authenticate")).toContain("resource_metadata=");
  expectCommon(stranger, "anonymous");
});

test("stays shut to pages of other sites", async () => {
  for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"]) {
    const answer = await post(list, { "x-api-key": all, origin });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      error: { code: "origin_not_allowed", status: 403 },
    });
    expectCommon(answer, "anonymous");
  }
  // A name that somebody has pointed at this server.
  const rebound = await post(list, {
    "x-api-key": all,
    origin: "http://evil.example",
    host: "evil.example",
  });
  expect(rebound.status).toBe(403);
  const { port } = new URL(mcp.url);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const answer = await post(list, { "x-api-key": all, origin: `http://${host}`, host });
    expect(answer.status).toBe(200);
  }
});

test("names the scope that a call lacks before anything is done", async () => {
  const key = await mcp.key(["cabins:read"]);
  const answer = await post(call("create_cabin", lake), { authorization: `Bearer ${key}` });
  expect(answer.status).toBe(403);
  expect(answer.headers.get("www-authenticate")).toBe(
    `Bearer error="insufficient_scope", resource_metadata="${mcp.app.config.baseUrl}` +
      '/.well-known/oauth-protected-resource/mcp", scope="cabins:read cabins:write"',
  );
  expect(await answer.json()).toMatchObject({
    error: {
      code: "insufficient_scope",
      required_scopes: ["cabins:write"],
      granted_scopes: ["cabins:read"],
    },
  });
  expectCommon(answer, "enterprise");
});

test("refuses what is no message", async () => {
  const auth = { "x-api-key": all };
  const broken = await post("{", auth);
  expect(broken.status).toBe(400);
  expect(await broken.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_700 } });
  expectCommon(broken, "enterprise");
  for (const body of [[list, list], 5, null]) {
    const answer = await post(body, auth);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32_600 },
    });
  }
  expect((await post(list, { ...auth, "content-type": "text/plain" })).status).toBe(415);
  const large = await post({ ...list, params: { pad: "x".repeat(1024 * 1024) } }, auth);
  expect(large.status).toBe(413);
  expectCommon(large, "enterprise");
  expect(await large.json()).toMatchObject({
    error: { code: "payload_too_large", limit_bytes: 1_048_576 },
  });
  const whole = JSON.stringify(list);
  expect((await post(whole.padEnd(1024 * 1024), auth)).status).toBe(200);
  expect((await post(whole.padEnd(1024 * 1024 + 1), auth)).status).toBe(413);
});

test("refuses a choice that it does not know, for a misspelt readonly would go unnoticed", async () => {
  const auth = { "x-api-key": all };
  expect((await post(list, auth, `${mcp.url}?readOnly=1`)).status).toBe(400);
  expect((await post(list, auth, `${mcp.url}?readonly=maybe`)).status).toBe(422);
  const answer = await post(list, auth, `${mcp.url}?toolsets=core,magic`);
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain("There are: all, core, finance");
});

test("counts each request and says when the next may come", async () => {
  const auth = { "x-api-key": await mcp.key(["*"], "few") };
  expect((await post(list, auth)).headers.get("x-ratelimit-remaining")).toBe("1");
  await post(list, auth);
  const answer = await post(list, auth);
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expectCommon(answer, "few");
});

test("writes what was done, and what was refused, into the audit log", async () => {
  const auth = { "x-api-key": all };
  const id = (answer: Response): string => answer.headers.get("x-request-id") ?? "";
  const done = await post(call("create_cabin", lake), auth);
  expect(await audited(id(done))).toEqual([
    { surface: "mcp", operation: "cabins.create", outcome: "ok" },
  ]);
  const refused = await post(call("create_cabin", {}), auth);
  expect(await audited(id(refused))).toEqual([
    { surface: "mcp", operation: "cabins.create", outcome: "validation_failed" },
  ]);
  const tried = await post(call("create_cabin", { ...lake, dry_run: true }), auth);
  expect(await audited(id(tried))).toEqual([]);
});

test("answers in events only where a call asks for its progress", async () => {
  const { params, ...rest } = call("create_cabin", { ...lake, dry_run: true });
  const body = { ...rest, params: { ...params, _meta: { progressToken: 7 } } };
  const streamed = await post(body, { "x-api-key": all });
  expect(streamed.headers.get("content-type")).toStartWith("text/event-stream");
  expectCommon(streamed, "enterprise");
  expect(await streamed.text()).toContain("Dry run");
  const plain = await post(body, { "x-api-key": all, accept: "application/json" });
  expect(plain.headers.get("content-type")).toStartWith("application/json");
});

test("an answer that is late becomes a stream that ends with it", async () => {
  const late = Bun.sleep(60).then(() => Response.json({ id: 1 }));
  const answer = await patiently(late, 20);
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const text = await answer.text();
  expect(text).toStartWith(": still at work\n\n: still at work\n\n");
  expect(text).toEndWith('event: message\ndata: {"id":1}\n\n');
  const stream = new Response("event: message\ndata: 2\n\n", {
    headers: { "content-type": "text/event-stream" },
  });
  const piped = await patiently(
    Bun.sleep(30).then(() => stream),
    20,
  );
  expect(await piped.text()).toBe(": still at work\n\nevent: message\ndata: 2\n\n");
  const quick = Response.json({ id: 3 });
  expect(await patiently(Promise.resolve(quick), 20)).toBe(quick);
});

test("a late answer whose reader has left is dropped without a fault", async () => {
  const answer = await patiently(
    Bun.sleep(60).then(() => Response.json({ id: 1 })),
    20,
  );
  await answer.body?.cancel();
  await Bun.sleep(60);
  const failing = await patiently(
    Bun.sleep(30).then(() => Promise.reject(new Error("gone"))),
    20,
  );
  expect((await failure(failing.text())).message).toContain("gone");
});

test("a server whose plugins offer too many tools in core does not start", () => {
  const words = "abcdefghijklmnopqrst".split("");
  const operations = Object.fromEntries(
    words.map((letter) => [
      letter,
      defineOperation({
        name: `many.${letter}`,
        summary: "One of many.",
        route: `GET /many/${letter}`,
        scope: null,
        input: t.Object({}),
        output: t.Object({}),
        tool: { name: `get_${letter}`, title: "One of many", toolset: "core" },
        handler: async () => ({}),
      }),
    ]),
  );
  const many = definePlugin({ name: "many", summary: "Too many tools.", operations });
  const app = { registry: declared([cabinsPlugin, many]) } as App;
  expect(() => createCatalogue(app)).toThrow('"core" may have 24 tools and has 25');
});
