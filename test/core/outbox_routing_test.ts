/**
 * Who is told of what: scopes, listings, the echo guard, and what ends or pauses a subscription.
 */

import { expect, test } from "bun:test";

import { callIn } from "../../core/cli/call.ts";
import { wholeAccount } from "../../core/db/mod.ts";
import { updateSubscription } from "../../core/outbox/mod.ts";
import { type Json, serve, type Served, until } from "../fixture.ts";
import { startOutbox } from "./outbox_fixture.ts";

/** Which of some subscriptions an event was queued for. */
async function told(
  server: Served,
  event: string,
  subscriptions: readonly Json[],
): Promise<string[]> {
  const events = await server.rows("outbox_events");
  const ids = new Set(events.filter(({ name }) => name === event).map(({ id }) => id));
  const rows = (await server.rows("outbox_deliveries")).filter(({ event_id }) => ids.has(event_id));
  return subscriptions
    .filter(({ id }) => rows.some(({ subscription_id }) => subscription_id === id))
    .map(({ description }) => description);
}

const url = "https://hooks.example.com/x";

test("a credential's own subscriptions do not hear what it caused, where the event is guarded", async () => {
  await using outbox = await startOutbox();
  const { server, received } = outbox;
  const a = await server.key();
  const b = await server.key();
  const subscribe = async ({ client }: typeof a, description: string) =>
    (
      await client("POST", "/v1/webhooks", {
        url: received.receiver.url(`/${description}`),
        events: ["*"],
        description,
      })
    ).json;
  const all = [await subscribe(a, "a"), await subscribe(b, "b")];
  await a.client("POST", "/v1/notes", { text: "by a" });
  expect(await told(server, "notes.noted", all)).toEqual(["b"]);
  await b.client("POST", "/v1/notes", { text: "by b" });
  expect(await told(server, "notes.noted", all)).toEqual(["a", "b"]);
  await outbox.settle();
  const heard = (path: string) => outbox.hits(path).map(({ text }) => JSON.parse(text).data.text);
  expect([heard("/a"), heard("/b")]).toEqual([["by b"], ["by a"]]);
  await a.client("POST", "/v1/notes/remark", {});
  expect(await told(server, "notes.other", all)).toEqual(["a", "b"]);
});

test("who has no credential has none that could be guarded: the command line hears itself", async () => {
  await using outbox = await startOutbox();
  const { server } = outbox;
  const call = async (name: string, input: object): Promise<Json> => {
    const registered = server.app.registry.operations.get(name);
    if (registered === undefined) throw new Error(`There is no ${name}`);
    return await callIn(server.app, server.account_id, registered, { ...input });
  };
  const own = await call("webhooks.create", { url, events: ["notes.noted"], description: "cli" });
  const byKey = await outbox.subscribe("/key", { description: "key" });
  await call("notes.create", { text: "a" });
  const [row] = (await server.rows("outbox_events")).filter(({ name }) => name === "notes.noted");
  expect(row.credential_id).toBeNull();
  expect(await told(server, "notes.noted", [own, byKey])).toEqual(["cli", "key"]);
});

test("an event goes to those only whose scopes may see it, and '*' means no more than that", async () => {
  await using outbox = await startOutbox();
  const { server } = outbox;
  const subscribe = async (description: string, scopes: string[], events: string[]) => {
    const { client } = await server.key({ scopes });
    return await client("POST", "/v1/webhooks", { url, events, description });
  };
  const made = [
    await subscribe("all", ["*"], ["*"]),
    await subscribe("blind", ["webhooks:*"], ["*"]),
    await subscribe("sees", ["webhooks:write", "notes:read"], ["*"]),
    await subscribe("writes", ["webhooks:write", "notes:write"], ["*"]),
    await subscribe("named", ["webhooks:write", "notes:*"], ["notes.noted"]),
    await subscribe("another event", ["*"], ["notes.other"]),
  ];
  expect(made.map(({ status }) => status)).toEqual(Array(6).fill(201));
  const asked = await subscribe("asks too much", ["webhooks:write"], ["notes.noted"]);
  expect([asked.status, asked.json.error.required_scopes]).toEqual([403, ["notes:read"]]);
  await outbox.author("POST", "/v1/notes", { text: "a" });
  const all = made.map(({ json }) => json);
  expect(await told(server, "notes.noted", all)).toEqual(["all", "sees", "named"]);
});

test("another account hears nothing", async () => {
  await using outbox = await startOutbox();
  const { server } = outbox;
  const stranger = await server.key({ account_id: await server.account() });
  const { json } = await stranger.client("POST", "/v1/webhooks", {
    url,
    events: ["*"],
    description: "stranger",
  });
  await outbox.author("POST", "/v1/notes", { text: "a" });
  expect(await told(server, "notes.noted", [json])).toEqual([]);
});

test("whoever is restricted to listings hears of them, and of nothing that belongs to none", async () => {
  await using server = await serve({ start: false });
  const owner = await server.key();
  const listing = async () =>
    (
      await owner.client("POST", "/v1/listings", {
        title: "a",
        timezone: "Europe/Rome",
        currency: "EUR",
      })
    ).json.id;
  const [mine, other] = [await listing(), await listing()];
  const subscribe = async (description: string, listing_ids: string[] | null) => {
    const { client } = await server.key({ listing_ids });
    return (await client("POST", "/v1/webhooks", { url, events: ["*"], description })).json;
  };
  const all = [
    await subscribe("all", null),
    await subscribe("mine", [mine]),
    await subscribe("other", [other]),
  ];
  const reserve = (listing_id: string) =>
    owner.client("POST", "/v1/reservations", {
      listing_id,
      check_in_date: "2027-05-14",
      check_out_date: "2027-05-17",
      guest: { full_name: "Ada" },
    });
  expect((await reserve(mine)).status).toBe(201);
  expect(await told(server, "reservation.created", all)).toEqual(["all", "mine"]);
  expect((await reserve(other)).status).toBe(201);
  expect(await told(server, "reservation.created", all)).toEqual(["all", "mine", "other"]);
});

test("a verification goes to the one subscription that it is about", async () => {
  await using outbox = await startOutbox();
  const [a, b] = [await outbox.subscribe("/a"), await outbox.subscribe("/b")];
  const verified = (path: string) =>
    outbox
      .hits(path, "webhook.verification")
      .map(({ text }) => JSON.parse(text).data.subscription_id);
  expect([verified("/a"), verified("/b")]).toEqual([[a.id], [b.id]]);
  expect((await outbox.author("POST", "/v1/webhooks/test", { subscription_id: b.id })).status).toBe(
    202,
  );
  await outbox.settle();
  expect([verified("/a"), verified("/b")]).toEqual([[a.id], [b.id, b.id]]);
});

test("a subscription that is deleted is sent nothing more, and what waited for it is cancelled", async () => {
  await using outbox = await startOutbox();
  const { server, received } = outbox;
  const { id } = await outbox.subscribe("/a");
  received.receiver.answer("/a", { status: 500 });
  await outbox.author("POST", "/v1/notes", { text: "a" });
  await outbox.settle();
  // One waits for its retry, one is under way.
  received.receiver.answer("/a", { status: 200, delay_ms: 300 });
  await outbox.author("POST", "/v1/notes", { text: "b" });
  server.app.wake();
  expect(await until(() => outbox.hits("/a").length === 2)).toBe(true);
  expect((await outbox.author("DELETE", `/v1/webhooks/${id}`)).status).toBe(200);
  await outbox.settle();
  const deliveries = await outbox.deliveries(id);
  expect(deliveries.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
  for (const { finished_at } of deliveries) expect(finished_at).toBe(outbox.clock.now());
  outbox.clock.advance(86_400_000);
  await outbox.author("POST", "/v1/notes", { text: "c" });
  await outbox.settle();
  expect(outbox.hits("/a")).toHaveLength(2);
  expect(await outbox.deliveries(id)).toHaveLength(2);
  expect(JSON.stringify(await server.rows("outbox_secrets"))).not.toContain(id);
});

test("a paused subscription keeps its events, and is sent them all once it goes on", async () => {
  await using outbox = await startOutbox();
  const { server } = outbox;
  const { store } = server.app;
  const { id } = await outbox.subscribe("/a");
  const turn = (status: "active" | "paused") =>
    store.write((db) => updateSubscription(wholeAccount(server.account_id), db, id, { status }));
  await turn("paused");
  for (const text of ["1", "2", "3"]) await outbox.author("POST", "/v1/notes", { text });
  await outbox.settle();
  outbox.clock.advance(86_400_000);
  await outbox.settle();
  expect(outbox.hits("/a")).toEqual([]);
  expect((await outbox.deliveries(id)).map(({ state, attempt }) => [state, attempt])).toEqual(
    Array(3).fill(["pending", 1]),
  );
  await turn("active");
  await outbox.settle();
  const bodies: string[] = outbox.hits("/a").map(({ text }) => JSON.parse(text).data.text);
  expect(bodies.sort()).toEqual(["1", "2", "3"]);
  expect((await outbox.deliveries(id)).map(({ state }) => state)).toEqual(
    Array(3).fill("delivered"),
  );
});

test("a receiver that hangs holds up no other", async () => {
  await using outbox = await startOutbox();
  const { receiver } = outbox.received;
  await outbox.subscribe("/hangs");
  const { id } = await outbox.subscribe("/works");
  receiver.answer("/hangs", "hang");
  const many = 30;
  for (let i = 0; i < many; i++) await outbox.author("POST", "/v1/notes", { text: String(i) });
  outbox.server.app.wake();
  expect(await until(() => outbox.hits("/works").length === many)).toBe(true);
  expect(
    await until(async () =>
      (await outbox.deliveries(id)).every(({ state }) => state === "delivered"),
    ),
  ).toBe(true);
  // So many at once to one receiver, and no more.
  expect(outbox.hits("/hangs").length).toBeLessThanOrEqual(8);
  receiver.answer("/hangs", { status: 200 });
  receiver.disconnect();
});
