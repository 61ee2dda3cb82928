import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { acrossAccounts, tables } from "../../core/db/mod.ts";
import type { Client, Json, Reply } from "../fixture.ts";
import { fault, type Inn, openInn, sorted } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const hook = "https://hooks.example.com/innkeep";
const subscribe = (client: Client, fields: object = {}): Promise<Reply> =>
  client("POST", "/v1/webhooks", { url: hook, events: ["reservation.created"], ...fields });
const made = async (client: Client, fields: object = {}): Promise<Json> => {
  const reply = await subscribe(client, fields);
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  return reply.json;
};
const deliveriesTo = async ({ id }: Json): Promise<Json[]> =>
  (await inn.server.rows("outbox_deliveries")).filter((row) => row.subscription_id === id);

describe("a subscription", () => {
  test("is answered with its secret, and a verification is on its way to it", async () => {
    let reply: Reply | undefined;
    const told = await inn.told(async () => {
      reply = await subscribe(inn.client, { description: "Ops" });
    });
    const { id, secret, ...rest } = reply?.json ?? {};
    expect([reply?.status, reply?.headers.get("location")]).toEqual([201, `/v1/webhooks/${id}`]);
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(rest).toEqual({
      url: hook,
      description: "Ops",
      events: ["reservation.created"],
      status: "active",
      paused_reason: null,
      paused_at: null,
      listing_ids: null,
      created_at: "2027-01-10T12:00:00Z",
      updated_at: "2027-01-10T12:00:00Z",
      version: 1,
    });
    expect(told).toEqual([
      ["webhook.verification", { message: expect.any(String), subscription_id: id, url: hook }],
    ]);
    expect(await deliveriesTo({ id })).toMatchObject([{ state: "pending", attempt: 1 }]);
  });

  test("shows its secret that once and never again, and keeps it encrypted", async () => {
    const headers = { "idempotency-key": "with-secret" };
    const body = { url: hook, events: ["*"] };
    const first = await inn.client("POST", "/v1/webhooks", body, headers);
    const { id, secret } = first.json;
    const path = `/v1/webhooks/${id}`;
    // A repeated call is the same call: it was never answered, as far as the caller knows.
    expect((await inn.client("POST", "/v1/webhooks", body, headers)).json.secret).toBe(secret);
    const others = [
      await inn.client("GET", path),
      await inn.client("GET", "/v1/webhooks"),
      await inn.client("PATCH", path, { description: "x" }),
      await inn.client("POST", "/v1/webhooks/test", { subscription_id: id }),
      await inn.client("DELETE", path),
      await inn.client("GET", "/v1/audit-log"),
    ];
    for (const { status, text } of others) {
      expect(status).toBeLessThan(300);
      expect(text).not.toContain(secret);
      expect(text).not.toContain('"secret"');
    }
    for (const table of [
      "outbox_subscriptions",
      "outbox_secrets",
      "outbox_events",
      "audit_entries",
      "calls_answers",
    ]) {
      expect([table, JSON.stringify(await inn.server.rows(table)).includes(secret)]).toEqual([
        table,
        false,
      ]);
    }
  });

  test("goes to https and nowhere else", async () => {
    for (const url of [
      "http://hooks.example.com/",
      "HTTP://hooks.example.com",
      "ftp://hooks.example.com",
      "ws://hooks.example.com",
      "file:///etc/passwd",
      "javascript:alert(1)",
    ]) {
      expect([url, ...fault(await subscribe(inn.client, { url }))]).toEqual([
        url,
        422,
        "webhook_url_not_https",
        "url",
      ]);
    }
    for (const url of [
      "hooks.example.com",
      "",
      "/hooks",
      "https://",
      "https://user:pass@hooks.example.com/",
      "https://user@hooks.example.com/",
      7,
      `https://example.com/${"x".repeat(2000)}`,
    ]) {
      expect([url, ...fault(await subscribe(inn.client, { url }))]).toEqual([
        url,
        422,
        "validation_failed",
        "url",
      ]);
    }
  });

  test("may have any name and any port: names are judged at each sending", async () => {
    for (const url of [
      "https://does-not-resolve.invalid/x",
      "https://hooks.example.com:8443/x?y=1",
      "https://93.184.216.34/x",
      "https://münchen.example/",
      "https://localhost:9/",
    ]) {
      expect((await made(inn.client, { url })).url).toBe(url);
    }
  });

  test("does not go to addresses that are not public, however they are written", async () => {
    const addresses = [
      "127.0.0.1",
      "10.0.0.1",
      "172.16.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "255.255.255.255",
      "[::1]",
      "[::]",
      "[fe80::1]",
      "[fd00::1]",
      "[::ffff:10.0.0.1]",
      "[::ffff:7f00:1]",
      "2130706433",
      "0x7f.1",
      "0177.0.0.1",
      "127.1",
    ];
    for (const address of addresses) {
      const reply = await subscribe(inn.client, { url: `https://${address}/x` });
      expect([address, ...fault(reply)]).toEqual([address, 422, "webhook_url_forbidden", "url"]);
    }
    const { id } = await made(inn.client);
    const change = await inn.client("PATCH", `/v1/webhooks/${id}`, { url: "https://10.0.0.1/" });
    expect(fault(change)).toEqual([422, "webhook_url_forbidden", "url"]);
    expect((await inn.client("GET", `/v1/webhooks/${id}`)).json.url).toBe(hook);
  });

  test("goes to a private address that the operator allows", async () => {
    await using allowing = await openInn({ env: { EGRESS_ALLOW: "10.0.0.0/8,::1/128" } });
    const status = async (host: string): Promise<number> =>
      (await subscribe(allowing.client, { url: `https://${host}/x` })).status;
    expect([await status("10.1.2.3"), await status("[::1]"), await status("192.168.0.1")]).toEqual([
      201, 201, 422,
    ]);
  });

  test("names events that there are, each once, or all", async () => {
    const wrong = [
      [["reservation.exploded"], "unknown_event", "events"],
      [["reservation.created", "nope"], "unknown_event", "events"],
      [["reservation.*"], "unknown_event", "events"],
      [["*", "reservation.created"], "validation_failed", "events"],
      [[], "validation_failed", "events"],
      [["listing.updated", "listing.updated"], "validation_failed", "events"],
      ["*", "validation_failed", "events"],
      [null, "validation_failed", "events"],
      [[""], "validation_failed", "events[0]"],
      [[7], "validation_failed", "events[0]"],
    ] as const;
    for (const [events, code, field] of wrong) {
      expect([events, ...fault(await subscribe(inn.client, { events }))]).toEqual([
        events,
        422,
        code,
        field,
      ]);
    }
    expect((await subscribe(inn.client, { events: ["nope"] })).json.error.message).toContain(
      "nope",
    );
    expect((await made(inn.client, { events: ["*"] })).events).toEqual(["*"]);
    const { id } = await made(inn.client);
    for (const [events, code, field] of wrong) {
      const reply = await inn.client("PATCH", `/v1/webhooks/${id}`, { events });
      expect([events, ...fault(reply)]).toEqual([events, 422, code, field]);
    }
  });

  test("is listed and narrowed by status", async () => {
    const { client } = await inn.server.key({ account_id: await inn.server.account() });
    const { id } = await made(client);
    const ids = async (query: string): Promise<string[]> =>
      (await client("GET", `/v1/webhooks${query}`)).json.data.map((one: Json) => one.id);
    expect([await ids(""), await ids("?status=active"), await ids("?status=paused")]).toEqual([
      [id],
      [id],
      [],
    ]);
  });
});

describe("a test of a subscription", () => {
  const probe = (client: Client, body?: object): Promise<Reply> =>
    client("POST", "/v1/webhooks/test", body);

  test("goes to the only one that the credential has made", async () => {
    const { client } = await inn.server.key();
    const neighbour = await inn.server.key();
    await made(neighbour.client);
    expect(fault(await probe(client))).toEqual([422, "validation_failed", "subscription_id"]);
    const { id } = await made(client);
    for (const body of [undefined, {}]) {
      const told = await inn.told(async () => {
        const reply = await probe(client, body);
        expect([reply.status, reply.json]).toEqual([
          202,
          { subscription_id: id, url: hook, event: "webhook.verification" },
        ]);
      });
      expect(told.map(([name, data]) => [name, data.subscription_id])).toEqual([
        ["webhook.verification", id],
      ]);
    }
    expect(await deliveriesTo({ id })).toHaveLength(3);
    await made(client);
    expect(fault(await probe(client))).toEqual([422, "validation_failed", "subscription_id"]);
  });

  test("goes to the one that is named, whoever of the account has made it, and to nobody else", async () => {
    const { client } = await inn.server.key();
    const { id } = await made((await inn.server.key()).client, { events: ["listing.updated"] });
    const all = await made((await inn.server.key()).client, { events: ["*"] });
    expect((await probe(client, { subscription_id: id })).json.subscription_id).toBe(id);
    expect([(await deliveriesTo({ id })).length, (await deliveriesTo(all)).length]).toEqual([2, 1]);
    expect(fault(await probe(client, { subscription_id: "nobody" }))).toEqual([404, "not_found"]);
    expect(fault(await probe(client, { id }))).toEqual([422, "validation_failed", "id"]);
  });
});

describe("a subscription that ends", () => {
  test("cancels what was on its way, keeps what was delivered in the log, and forgets its secret", async () => {
    const subscription = await made(inn.client, { events: ["listing.updated"] });
    await inn.listing();
    const [first] = await deliveriesTo(subscription);
    await inn.server.app.store.write(async (db) => {
      const rows = tables<{ outbox_deliveries: { id: string; state: string } }>(acrossAccounts(db));
      await rows
        .updateTable("outbox_deliveries")
        .set({ state: "delivered" })
        .where("id", "=", first.id)
        .execute();
    });
    const reply = await inn.client("DELETE", `/v1/webhooks/${subscription.id}`);
    const { secret: _secret, ...shown } = subscription;
    expect([reply.status, reply.json]).toEqual([200, shown]);
    const states = (await deliveriesTo(subscription)).map(({ state, finished_at }) => [
      state,
      finished_at,
    ]);
    expect(sorted(states)).toEqual([
      ["cancelled", "2027-01-10T12:00:00Z"],
      ["delivered", null],
    ]);
    const secrets = await inn.server.rows("outbox_secrets");
    expect(secrets.filter(({ subscription_id }) => subscription_id === subscription.id)).toEqual(
      [],
    );
    expect(fault(await inn.client("GET", `/v1/webhooks/${subscription.id}`))).toEqual([
      404,
      "not_found",
    ]);
    await inn.listing();
    expect(await deliveriesTo(subscription)).toHaveLength(2);
  });
});
