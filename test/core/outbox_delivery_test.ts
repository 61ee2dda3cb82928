/**
 * Deliveries on their way: tried again when they should be, never when they should not, the same each time.
 */

import { describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import webhooks from "#plugins/webhooks";

import { acrossAccounts } from "../../core/db/mod.ts";
import { claim, reclaimAll, settle } from "../../core/outbox/queue.ts";
import { outboxTables } from "../../core/outbox/tables.ts";
import { serve, until } from "../fixture.ts";
import { startReceiver, startSilentPort } from "../tls.ts";
import { notesPlugin } from "./notes_plugin.ts";
import { startOutbox } from "./outbox_fixture.ts";

const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 50_400];
const week = 7 * 86_400_000;

test("a receiver that fails is tried eight times on schedule, with the same delivery each time, and never again", async () => {
  await using outbox = await startOutbox();
  const { received, clock, server, settle } = outbox;
  const { receiver } = received;
  const { id } = await outbox.subscribe("/a");
  receiver.answer("/a", { status: 503, body: "busy" });
  await outbox.author("POST", "/v1/notes", { text: "a" });
  const started: number[] = [];
  for (let attempt = 1; attempt <= 8; attempt++) {
    await settle();
    expect(outbox.hits("/a")).toHaveLength(attempt);
    started.push(clock.ms());
    const [delivery] = await outbox.deliveries(id);
    const step = schedule[attempt - 1];
    if (step === undefined) {
      expect(delivery).toMatchObject({ state: "exhausted", attempt: 8, last_status: 503 });
      expect(delivery.finished_at).toBe(clock.now());
      break;
    }
    expect(delivery).toMatchObject({ state: "pending", attempt: attempt + 1, finished_at: null });
    const wait = delivery.due_ms - clock.ms();
    expect(wait).toBeGreaterThanOrEqual(step * 900);
    expect(wait).toBeLessThanOrEqual(step * 1100);
    clock.advance(wait - 1);
    await settle();
    expect(outbox.hits("/a")).toHaveLength(attempt);
    clock.advance(1);
  }
  clock.advance(week);
  await settle();
  const hits = outbox.hits("/a");
  expect(hits.map((hit) => hit.header("x-webhook-attempt"))).toEqual([
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
  ]);
  for (const name of ["x-webhook-delivery", "x-webhook-signature", "x-webhook-event"]) {
    expect(new Set(hits.map((hit) => hit.header(name))).size).toBe(1);
  }
  expect(new Set(hits.map(({ text }) => text)).size).toBe(1);
  const hours = ((started[7] ?? 0) - (started[0] ?? 0)) / 3_600_000;
  expect(hours).toBeGreaterThan(28.4);
  expect(hours).toBeLessThan(34.8);

  const attempts = await server.rows("outbox_attempts");
  const [delivery] = await outbox.deliveries(id);
  const own = attempts.filter((row) => row.delivery_id === delivery.id);
  expect(own.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(own[0]).toMatchObject({
    outcome: "failed",
    status: 503,
    error: null,
    response: "busy",
    address: "127.0.0.1",
    account_id: server.account_id,
    started_at: "2027-01-15T08:00:00Z",
  });
  for (const { duration_ms } of own) expect(duration_ms).toBeGreaterThanOrEqual(0);
});

test("a receiver that recovers ends the matter", async () => {
  await using outbox = await startOutbox();
  const { id } = await outbox.subscribe("/a");
  outbox.received.receiver.answer("/a", { status: 500 }, { status: 502 }, { status: 204 });
  await outbox.author("POST", "/v1/notes", { text: "a" });
  for (let i = 0; i < 4; i++) {
    await outbox.settle();
    outbox.clock.advance(400_000);
  }
  expect(await outbox.deliveries(id)).toMatchObject([
    { state: "delivered", attempt: 3, last_status: 204, last_error: null },
  ]);
  expect(
    outbox
      .hits("/a")
      .map((hit) => hit.header("x-webhook-attempt"))
      .at(-1),
  ).toBe("3");
});

describe("what a receiver answers", () => {
  const cases: Record<string, number[]> = {
    delivered: [200, 201, 202, 204, 226, 299],
    rejected: [301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 410, 422, 499],
    pending: [429, 500, 502, 503, 504, 599],
  };
  for (const [state, statuses] of Object.entries(cases)) {
    test(`${statuses.join(", ")} leaves the delivery ${state}`, async () => {
      await using outbox = await startOutbox();
      const { receiver } = outbox.received;
      const location = { location: receiver.url("/elsewhere") };
      const ids: string[] = [];
      for (const status of statuses) {
        receiver.answer(`/${status}`, { status, headers: location });
        ids.push((await outbox.subscribe(`/${status}`)).id);
      }
      await outbox.author("POST", "/v1/notes", { text: "a" });
      await outbox.settle();
      for (const [place, id] of ids.entries()) {
        const [{ state: seen, last_status }] = (await outbox.deliveries(id)) as [never];
        expect([last_status, seen]).toEqual([statuses[place], state] as never);
      }
      const tries = () => statuses.map((status) => outbox.hits(`/${status}`).length);
      expect(tries()).toEqual(statuses.map(() => 1));
      outbox.clock.advance(3_700_000);
      await outbox.settle();
      expect(tries()).toEqual(statuses.map(() => (state === "pending" ? 2 : 1)));
      expect(outbox.hits("/elsewhere")).toEqual([]);
    });
  }

  test("a Retry-After puts off the next attempt", async () => {
    await using outbox = await startOutbox();
    const { id } = await outbox.subscribe("/a");
    outbox.received.receiver.answer("/a", { status: 429, headers: { "retry-after": "120" } });
    await outbox.author("POST", "/v1/notes", { text: "a" });
    await outbox.settle();
    const [delivery] = await outbox.deliveries(id);
    expect(delivery.due_ms - outbox.clock.ms()).toBe(120_000);
  });
});

test("no connection, and no answer that is one, count as failures that are tried again", async () => {
  await using outbox = await startOutbox();
  const { receiver } = outbox.received;
  receiver.answer("/reset", "reset");
  receiver.answer("/garbage", { raw: "this is no HTTP\r\n\r\n", close: true });
  const [reset, garbage, closed] = [
    await outbox.subscribe("/reset"),
    await outbox.subscribe("/garbage"),
    await outbox.subscribe("/closed", { url: "https://127.0.0.1:1/closed" }),
  ];
  await outbox.author("POST", "/v1/notes", { text: "a" });
  await outbox.settle();
  for (const { id } of [reset, garbage, closed]) {
    const [delivery] = await outbox.deliveries(id);
    expect(delivery).toMatchObject({ state: "pending", attempt: 2, last_status: null });
    expect(delivery.last_error).toMatch(/^Request to 127\.0\.0\.1\S* failed: /);
  }
});

test("a certificate that is not trusted is a failure, and nothing is sent", async () => {
  await using outbox = await startOutbox();
  const expired = outbox.received.authority.issue(["IP:127.0.0.1"], { expired: true });
  const other = await startReceiver(expired);
  const { id } = await outbox.subscribe("/x", { url: other.url("/x") });
  await outbox.author("POST", "/v1/notes", { text: "a" });
  await outbox.settle();
  expect(await outbox.deliveries(id)).toMatchObject([
    { state: "pending", attempt: 2, last_status: null },
  ]);
  expect(other.hits).toEqual([]);
  await other.close();
});

test("an address that is not public is recorded as a failed attempt, and never connected", async () => {
  await using outbox = await startOutbox({ EGRESS_ALLOW: "192.0.2.1" });
  const canary = await startSilentPort();
  const { id } = await outbox.subscribe("/x", { url: `https://localhost:${canary.port}/x` });
  await outbox.author("POST", "/v1/notes", { text: "a" });
  await outbox.settle();
  const [delivery] = await outbox.deliveries(id);
  expect(delivery).toMatchObject({ state: "pending", attempt: 2, last_status: null });
  expect(delivery.last_error).toContain("private or reserved");
  const attempts = await outbox.server.rows("outbox_attempts");
  expect(attempts.find((row) => row.delivery_id === delivery.id)).toMatchObject({
    attempt: 1,
    outcome: "failed",
    status: null,
    error: delivery.last_error,
  });
  expect(canary.connections).toBe(0);
  await canary.close();
});

test("a delivery that cannot be signed is a failed attempt like any other", async () => {
  await using outbox = await startOutbox();
  const { server } = outbox;
  const { id } = await outbox.subscribe("/a");
  await server.app.deliverer.settled();
  await server.app.store.write((db) =>
    outboxTables(acrossAccounts(db))
      .updateTable("outbox_secrets")
      .set({ box: "v1.damaged" })
      .execute(),
  );
  const before = outbox.hits("/a").length;
  await outbox.author("POST", "/v1/notes", { text: "a" });
  server.app.wake();
  await server.app.deliverer.settled();
  const deliveries = await outbox.deliveries(id);
  expect(deliveries.at(-1)).toMatchObject({ state: "pending", attempt: 2, last_status: null });
  expect(deliveries.at(-1).last_error).toContain("secret key");
  expect(outbox.hits("/a")).toHaveLength(before);
});

test("a server does not start on a database whose key is missing or another", async () => {
  const plugins = [notesPlugin(), webhooks];
  await using server = await serve({ plugins });
  const key = join(server.config.dataDir, "secret.key");
  const right = await Bun.file(key).text();
  await server.stop();
  rmSync(key);
  const again = async () => await serve({ plugins, dir: server.dir });
  const refusal = async (): Promise<string> =>
    await again().then(
      () => "started",
      (error: unknown) => String(error),
    );
  expect(await refusal()).toContain("is missing");
  expect(existsSync(key)).toBe(false);
  await Bun.write(key, "another key, which is long enough to be one");
  expect(await refusal()).toContain("not the one of this database");
  await Bun.write(key, right);
  await (await again()).stop();
});

test("a server that ends in the middle of an attempt makes it again, under the same number", async () => {
  await using outbox = await startOutbox();
  const { received, server, clock } = outbox;
  const { id } = await outbox.subscribe("/a");
  received.receiver.answer("/a", "hang");
  await outbox.author("POST", "/v1/notes", { text: "a" });
  server.app.wake();
  expect(await until(() => outbox.hits("/a").length === 1)).toBe(true);
  expect(await outbox.deliveries(id)).toMatchObject([{ state: "inflight", attempt: 1 }]);

  // As after a kill: somebody else finds what was under way.
  const { store } = server.app;
  await store.write(reclaimAll);
  const [mine] = await store.write((db) => claim(db, id, 8, clock.ms()));
  expect(mine).toMatchObject({ attempt: 1, event: "notes.noted" });
  await store.write(reclaimAll);
  const [theirs] = await store.write((db) => claim(db, id, 8, clock.ms()));
  if (mine === undefined || theirs === undefined) throw new Error("Nothing was claimed");
  const settlement = {
    state: "delivered",
    due_ms: 0,
    now_ms: clock.ms(),
    attempt: {
      started_at: clock.now(),
      duration_ms: 1,
      outcome: "ok",
      status: 200,
      error: null,
      address: null,
      response: null,
    },
  } as const;
  // The first holder comes too late: its result is dropped, and the second one's counts.
  expect(await store.write((db) => settle(db, mine, settlement))).toBe(false);
  expect(await outbox.deliveries(id)).toMatchObject([{ state: "inflight" }]);
  expect(await store.write((db) => settle(db, theirs, settlement))).toBe(true);
  expect(await store.write((db) => settle(db, theirs, settlement))).toBe(false);
  const [delivery] = await outbox.deliveries(id);
  const attempts = (await server.rows("outbox_attempts")).filter(
    (row) => row.delivery_id === delivery.id,
  );
  expect(attempts).toHaveLength(1);
  received.receiver.answer("/a", { status: 200 });
  received.receiver.disconnect();
});
