/**
 * Limits: a bucket for each credential, and one for each address that has none.
 */

import { describe, expect, test } from "bun:test";

import { fakeClock } from "../../core/db/mod.ts";
import { clientAddress } from "../../core/http/address.ts";
import { createLimits } from "../../core/http/mod.ts";
import { serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const start = 1_800_000_000_000;

const begin = async (env: Record<string, string> = {}) => {
  const clock = fakeClock(start);
  const server = await serve({ plugins: [notesPlugin()], clock, start: false, env });
  return { clock, server };
};

/** The statuses of so many calls in a row. */
async function statuses(call: () => Promise<{ status: number }>, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push((await call()).status);
  return all;
}

/** Asks as a connection from somewhere, perhaps through proxies. */
const from =
  (server: Served, peer: string, headers: Record<string, string> = {}) =>
  async () => {
    const request = new Request("http://localhost:3000/v1/notes", { headers });
    const response = await server.app.fetch(request, () => peer);
    await response.text();
    return response;
  };

test("a fresh key of the tier free gets 60 answers in a burst, then 429", async () => {
  const { server } = await begin();
  await using _ = server;
  const { client } = await server.key({ tier: "free" });
  const get = () => client("GET", "/v1/notes");
  const first = await get();
  expect(first.headers.get("x-ratelimit-limit")).toBe("60");
  expect(first.headers.get("x-ratelimit-remaining")).toBe("59");
  expect(first.headers.get("x-ratelimit-reset")).toBe(String(start / 1000 + 1));
  expect(first.headers.get("x-service-tier")).toBe("free");
  expect(await statuses(get, 59)).toEqual(Array(59).fill(200));
  const refused = await get();
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
  expect(refused.headers.get("x-ratelimit-reset")).toBe(String(start / 1000 + 60));
  expect(refused.json.error).toMatchObject({
    code: "rate_limited",
    retry_after: 1,
    limit: 60,
    window_seconds: 60,
    tier: "free",
  });
});

test("the bucket fills up evenly, to the brim and not over it", async () => {
  const { server, clock } = await begin({ RATE_TIERS: "slow=6" });
  await using _ = server;
  const { client } = await server.key({ tier: "slow" });
  const get = () => client("GET", "/v1/notes");
  expect(await statuses(get, 7)).toEqual([200, 200, 200, 200, 200, 200, 429]);
  expect((await get()).headers.get("retry-after")).toBe("10");
  clock.advance(4000);
  expect((await get()).headers.get("retry-after")).toBe("6");
  clock.advance(5999);
  expect((await get()).headers.get("retry-after")).toBe("1");
  clock.advance(1);
  expect(await statuses(get, 2)).toEqual([200, 429]);
  clock.advance(20_000);
  expect(await statuses(get, 3)).toEqual([200, 200, 429]);
  clock.advance(86_400_000);
  expect(await statuses(get, 7)).toEqual([200, 200, 200, 200, 200, 200, 429]);
  // A clock that is set back takes nothing away and gives nothing.
  clock.advance(-3_600_000);
  expect(await statuses(get, 1)).toEqual([429]);
  clock.advance(10_000);
  expect(await statuses(get, 2)).toEqual([200, 429]);
});

test("whoever waits as long as told is let in", () => {
  const clock = fakeClock(start);
  const limits = createLimits(clock, { odd: 7 });
  for (let i = 0; i < 7; i++) expect(limits.take("x", "odd").retry_after).toBe(0);
  for (let i = 0; i < 50; i++) {
    const { retry_after } = limits.take("x", "odd");
    expect(retry_after).toBeGreaterThan(0);
    clock.advance(retry_after * 1000);
    expect(limits.take("x", "odd").retry_after).toBe(0);
  }
});

test("one key that is at its limit stops no other, of the same account neither", async () => {
  const { server } = await begin({ RATE_TIERS: "few=1" });
  await using _ = server;
  const a = await server.key({ tier: "few" });
  const b = await server.key({ tier: "few" });
  const get = ({ client }: typeof a) => client("GET", "/v1/notes");
  expect([(await get(a)).status, (await get(a)).status, (await get(b)).status]).toEqual([
    200, 429, 200,
  ]);
});

test("every call costs one, refused ones too, writes as much as reads", async () => {
  const { server } = await begin({ RATE_TIERS: "few=4" });
  await using _ = server;
  const { client } = await server.key({ tier: "few", scopes: ["notes:write"] });
  const calls = [
    await client("GET", "/v1/notes"),
    await client("POST", "/v1/notes", { text: "a" }),
    await client("POST", "/v1/notes", "{"),
    await client("POST", "/v1/notes", {}),
    await client("POST", "/v1/notes", { text: "b" }),
  ];
  expect(calls.map(({ status }) => status)).toEqual([403, 201, 400, 422, 429]);
  expect(calls.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
    "3",
    "2",
    "1",
    "0",
    "0",
  ]);
  expect(await server.rows("notes")).toHaveLength(1);
});

describe("without a valid credential", () => {
  test("each address has a bucket of its own, whatever credential it tries", async () => {
    const { server } = await begin({ RATE_TIERS: "anonymous=3" });
    await using _ = server;
    const tries = [
      from(server, "203.0.113.1"),
      from(server, "203.0.113.1", { "x-api-key": "ik_live_guess1" }),
      from(server, "203.0.113.1", { authorization: "Bearer guess2" }),
      from(server, "203.0.113.1", { "x-api-key": "ik_live_guess3" }),
      from(server, "203.0.113.2"),
    ];
    const answers = [];
    for (const ask of tries) answers.push(await ask());
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 401]);
    for (const { headers } of answers) expect(headers.get("x-service-tier")).toBe("anonymous");
    expect(answers[3]?.headers.has("www-authenticate")).toBe(false);
    // Guessing from an address does not lock out the key that is used there.
    const { key } = await server.key();
    expect((await from(server, "203.0.113.1", { "x-api-key": key })()).status).toBe(200);
  });

  test("what a stranger claims in X-Forwarded-For is not believed", async () => {
    const { server } = await begin({ RATE_TIERS: "anonymous=1" });
    await using _ = server;
    const claim = (address: string) =>
      from(server, "203.0.113.1", {
        "x-forwarded-for": address,
        "x-real-ip": address,
        forwarded: `for=${address}`,
      })();
    expect((await claim("198.51.100.1")).status).toBe(401);
    expect((await claim("198.51.100.2")).status).toBe(429);
  });

  test("behind a trusted proxy the sender is whom the proxy names, and what he forged stands further left", async () => {
    const { server } = await begin({
      RATE_TIERS: "anonymous=1",
      TRUSTED_PROXIES: "10.0.0.0/8,::1",
    });
    await using _ = server;
    const through = (forwarded: string, peer = "10.0.0.1") =>
      from(server, peer, { "x-forwarded-for": forwarded })();
    expect((await through("198.51.100.1")).status).toBe(401);
    expect((await through("198.51.100.2")).status).toBe(401);
    expect((await through("198.51.100.1")).status).toBe(429);
    expect((await through("1.1.1.1, 198.51.100.1")).status).toBe(429);
    expect((await through("10.9.9.9, 198.51.100.1, 10.0.0.7", "::ffff:10.0.0.1")).status).toBe(429);
    // Not a proxy of ours: it speaks for itself only.
    expect((await through("198.51.100.3", "203.0.113.9")).status).toBe(401);
    expect((await through("198.51.100.4", "203.0.113.9")).status).toBe(429);
  });
});

test("the sender of a request is the nearest hop that is not ours", () => {
  const sender = (forwarded: string | undefined, peer: string | undefined, trusted: string[]) => {
    const headers: Record<string, string> =
      forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    return clientAddress(new Request("http://localhost/", { headers }), peer, trusted);
  };
  const ours = ["10.0.0.0/8", "fd00::/8"];
  expect(sender(undefined, "203.0.113.1", ours)).toBe("203.0.113.1");
  expect(sender("1.2.3.4", "203.0.113.1", [])).toBe("203.0.113.1");
  expect(sender("1.2.3.4", "10.0.0.1", ours)).toBe("1.2.3.4");
  expect(sender("1.2.3.4,10.0.0.2", "fd00::1", ours)).toBe("1.2.3.4");
  expect(sender("9.9.9.9, 1.2.3.4 ,, 10.0.0.2", "10.0.0.1", ours)).toBe("1.2.3.4");
  expect(sender("not an address", "10.0.0.1", ours)).toBe("not an address");
  expect(sender("", "10.0.0.1", ours)).toBe("10.0.0.1");
  expect(sender("10.0.0.3, 10.0.0.2", "10.0.0.1", ours)).toBe("10.0.0.1");
  expect(sender("1.2.3.4", undefined, ours)).toBe("unknown");
});

test("one sender is counted as one, however the address is written", async () => {
  const counted = (peer: string, forwarded = "", trusted: string[] = []) => {
    const headers = { "x-forwarded-for": forwarded };
    return clientAddress(new Request("http://localhost/", { headers }), peer, trusted);
  };
  for (const same of ["7.7.7.7", "::ffff:7.7.7.7", "::FFFF:0707:0707", "7.7.7.7:4711"]) {
    expect([same, counted(same)]).toEqual([same, "7.7.7.7"]);
    expect(counted("::ffff:10.0.0.1", same, ["10.0.0.0/8"])).toBe("7.7.7.7");
  }
  expect(counted("10.0.0.1", "7.7.7.7:1, 10.0.0.2:80", ["10.0.0.0/8"])).toBe("7.7.7.7");
  const network = "2001:db8:0:7::/64";
  for (const same of [
    "2001:db8:0:7::1",
    "2001:DB8:0:7:ffff:ffff:ffff:ffff",
    "[2001:db8:0:7::1]",
    "[2001:db8:0:7:1::]:4711",
  ]) {
    expect([same, counted(same)]).toEqual([same, network]);
    expect(counted("[fd00::1]:80", same, ["fd00::/8"])).toBe(network);
  }
  expect(counted("2001:db8:0:8::1")).not.toBe(network);

  const { server } = await begin({ RATE_TIERS: "anonymous=1", TRUSTED_PROXIES: "10.0.0.1" });
  await using _ = server;
  const answered = async (peer: string, forwarded: string) =>
    (await from(server, peer, { "x-forwarded-for": forwarded })()).status;
  expect(await answered("2001:db8::1", "")).toBe(401);
  expect(await answered("2001:db8::2", "")).toBe(429);
  expect(await answered("10.0.0.1", "7.7.7.7:1000")).toBe(401);
  expect(await answered("10.0.0.1", "7.7.7.7:1001")).toBe(429);
  expect(await answered("::ffff:7.7.7.7", "")).toBe(429);
});

test("a tier that is configured no longer has the smallest limit", async () => {
  const { server } = await begin({ RATE_TIERS: "free=2,few=1" });
  await using _ = server;
  const { client } = await server.key({ tier: "gone" });
  expect(await statuses(() => client("GET", "/v1/notes"), 2)).toEqual([200, 429]);
});

test("a path that is not there costs the one who has a key his own, and a browser's question costs nothing", async () => {
  await using server = await serve({ start: false, clock: fakeClock(0) });
  const { client } = await server.key({ tier: "free" });
  const lost = await client("GET", "/v1/nowhere");
  expect([lost.status, lost.headers.get("x-service-tier")]).toEqual([404, "free"]);
  expect(lost.headers.get("x-ratelimit-remaining")).toBe("59");
  const nobody = server.client();
  const left = async (method: string) =>
    (await nobody(method, "/v1/listings")).headers.get("x-ratelimit-remaining");
  expect([await left("OPTIONS"), await left("OPTIONS")]).toEqual(["60", "60"]);
  expect([await left("PUT"), await left("PUT")]).toEqual(["59", "58"]);
});
