/**
 * What the server says about itself, asked through the door.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { serve, type Served } from "../fixture.ts";
import { shelvesPlugin } from "./docs_plugin.ts";

let server: Served;

beforeAll(async () => {
  server = await serve({ plugins: [shelvesPlugin], start: false });
});

afterAll(async () => await server[Symbol.asyncDispose]());

const ask = (
  path: string,
  headers: Record<string, string> = {},
  peer?: string,
): Promise<Response> =>
  server.app.fetch(
    new Request(path.startsWith("http") ? path : `http://localhost:3000${path}`, { headers }),
    peer === undefined ? undefined : () => peer,
  );

const unzipped = (bytes: ArrayBuffer): Uint8Array => Bun.gunzipSync(bytes);

describe("GET /v1/openapi.json", () => {
  test("is public, counted by address, and not sent twice", async () => {
    const first = await ask("/v1/openapi.json");
    expect(first.status).toBe(200);
    expect(await first.json()).toMatchObject({ openapi: "3.1.0" });
    expect(first.headers.get("x-service-tier")).toBe("anonymous");
    expect(first.headers.get("x-ratelimit-limit")).toBe("60");
    expect(first.headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
    const tag = first.headers.get("etag") ?? "";
    const again = await ask("/v1/openapi.json", { "if-none-match": tag });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
  });

  test("is small for whoever takes gzip", async () => {
    const small = await ask("/v1/openapi.json", { "accept-encoding": "br, gzip" });
    expect(small.headers.get("content-encoding")).toBe("gzip");
    expect(small.headers.get("vary")).toBe("accept-encoding");
    const plain = await (await ask("/v1/openapi.json", { "accept-encoding": "gzip;q=0" })).text();
    expect(new TextDecoder().decode(unzipped(await small.arrayBuffer()))).toBe(plain);
  });
});

describe("GET /docs", () => {
  test("names no other address, in the page or in its policy", async () => {
    const page = await ask("/docs");
    expect(page.headers.get("content-type")).toStartWith("text/html");
    const text = await page.text();
    expect(text).not.toContain("data-url");
    expect(text).not.toMatch(/https?:/);
    expect([...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address)).toEqual([
      expect.stringMatching(/^\/docs\/assets\/viewer\.[\w-]{16}\.js$/),
    ]);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; script-src 'self' 'sha256-");
    expect(policy).toContain("connect-src 'self' http://localhost:3000;");
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("brings its viewer along, to be kept for good", async () => {
    const [path = ""] = /\/docs\/assets\/[^"]+/.exec(await (await ask("/docs")).text()) ?? [];
    const viewer = await ask(path, { "accept-encoding": "gzip" });
    expect(viewer.status).toBe(200);
    expect(viewer.headers.get("content-type")).toStartWith("text/javascript");
    expect(viewer.headers.get("cache-control")).toContain("immutable");
    const whole = await (await ask(path)).bytes();
    expect(unzipped(await viewer.arrayBuffer()).length).toBe(whole.length);
    expect((await ask("/docs/assets/viewer.0.js")).status).toBe(404);
  });
});

test("GET /llms.txt lists every operation and every event", async () => {
  const text = await (await ask("/llms.txt")).text();
  expect(text).toStartWith("# Innkeep\n");
  expect(text).toContain("- `PATCH /v1/shelves/{id}`: Change a shelf. (`shelves:write`)");
  expect(text).toContain("- `GET /pictures/{token}`: See a shelf.\n");
  expect(text).toContain("- `shelf.moved`: A shelf went to another room. (`shelves:read`)");
  expect(text).toContain("http://localhost:3000/v1/openapi.json");
});

test("The metadata of a protected resource name the resource that the path stands for", async () => {
  const wellKnown = "/.well-known/oauth-protected-resource";
  const resources = [
    ["", "/mcp"],
    ["/mcp", "/mcp"],
    ["/v1", "/v1"],
  ] as const;
  for (const [path, resource] of resources) {
    const answer = await ask(`${wellKnown}${path}`);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(await answer.json()).toEqual({
      resource: `http://localhost:3000${resource}`,
      authorization_servers: ["http://localhost:3000"],
      scopes_supported: server.app.registry.scopes,
      bearer_methods_supported: ["header"],
      resource_name: "Innkeep",
      resource_documentation: "http://localhost:3000/docs",
    });
  }
  const refused = await ask("/v1/me");
  expect(refused.headers.get("www-authenticate")).toContain(
    `resource_metadata="http://localhost:3000${wellKnown}/v1"`,
  );
});

describe("Health", () => {
  test("is good while the database can be written", async () => {
    expect(await (await ask("/healthz")).json()).toEqual({ status: "ok" });
    const ready = await ask("/readyz");
    expect(ready.status).toBe(200);
    expect(await ready.json()).toEqual({
      status: "ready",
      checks: { database: "ok", writer: "ok" },
    });
  });

  test("of many who ask at once costs one commit", async () => {
    await using fresh = await serve({ plugins: [shelvesPlugin], start: false });
    const before = fresh.app.store.stats.units;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fresh.client()("GET", "/readyz")),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(fresh.app.store.stats.units - before).toBe(1);
  });

  test("is told by a write that is as large as those of requests, and takes the room of one", async () => {
    await using fresh = await serve({ plugins: [shelvesPlugin], start: false });
    const look = async () => {
      await fresh.client()("GET", "/readyz");
      return (await fresh.rows("core_meta")).filter(({ key }) => key === "probed");
    };
    const [first, ...none] = await look();
    expect([first.value.length, none]).toEqual([64 * 1024, []]);
    await Bun.sleep(1050);
    const [second, ...others] = await look();
    expect([second.value.length, others]).toEqual([64 * 1024, []]);
    expect(second.value).not.toBe(first.value);
  });

  test("is bad where the database is gone", async () => {
    await using broken = await serve({ plugins: [shelvesPlugin], start: false });
    await broken.app.store.close();
    const { status, json } = await broken.client()("GET", "/readyz");
    expect([status, json.status, json.checks.writer]).toEqual([503, "unavailable", "failed"]);
    expect((await broken.client()("GET", "/healthz")).status).toBe(200);
  });
});

describe("GET /metrics", () => {
  const local = (headers: Record<string, string> = {}, host = "localhost:3000") =>
    ask(`http://${host}/metrics`, headers, "127.0.0.1");

  test("is open to this machine, and to nobody who stands behind it", async () => {
    expect((await local()).status).toBe(200);
    expect((await ask("/metrics", {}, "::ffff:127.0.0.1")).status).toBe(200);
    expect((await local()).headers.get("access-control-allow-origin")).toBeNull();
    expect((await ask("/metrics", {}, "192.0.2.7")).status).toBe(401);
    expect((await ask("/metrics")).status).toBe(401);
    expect((await local({ "x-forwarded-for": "192.0.2.7" })).status).toBe(401);
    expect((await local({ forwarded: "for=192.0.2.7" })).status).toBe(401);
    expect((await local({}, "rebound.example:3000")).status).toBe(401);
  });

  test("is open to a credential with its scope, there and under /v1", async () => {
    const { client } = await server.key({ scopes: ["metrics:read"] });
    const { client: other } = await server.key({ scopes: ["shelves:read"] });
    for (const path of ["/metrics", "/v1/metrics"]) {
      expect((await client("GET", path)).status).toBe(200);
      expect((await other("GET", path)).status).toBe(403);
    }
  });

  test("counts answers by operation and status, and their time", async () => {
    const { client } = await server.key();
    await client("GET", "/v1/shelves");
    await client("GET", "/v1/shelves?colour=red");
    await client("GET", "/nowhere");
    const lines = (await (await local()).text()).split("\n");
    const value = (name: string): number =>
      Number(
        lines
          .find((line) => line.startsWith(`${name} `))
          ?.split(" ")
          .at(-1),
      );
    expect(value('innkeep_http_requests_total{operation="shelves.list",status="200"}')).toBe(1);
    expect(value('innkeep_http_requests_total{operation="shelves.list",status="400"}')).toBe(1);
    expect(value('innkeep_http_requests_total{operation="(none)",status="404"}')).toBe(1);
    expect(value('innkeep_http_request_duration_seconds_count{operation="shelves.list"}')).toBe(2);
    expect(
      value('innkeep_http_request_duration_seconds_bucket{operation="shelves.list",le="+Inf"}'),
    ).toBe(2);
    expect(
      value('innkeep_http_request_duration_seconds_sum{operation="shelves.list"}'),
    ).toBeGreaterThan(0);
    expect(value("innkeep_writer_commits_total")).toBe(server.app.store.stats.commits);
    expect(value("innkeep_outbox_deliveries_pending")).toBe(0);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(lines).toContain("# TYPE innkeep_http_request_duration_seconds histogram");
  });
});
