import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Client, type Json, receive, until } from "../fixture.ts";
import { fault, type Inn, openInn, sorted } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const hook = "https://hooks.example.com/innkeep";
const body = (events: readonly string[]): Json => ({ url: hook, events });

/** The events that were put on their way to a subscription, in order. */
async function sentTo({ id }: Json): Promise<string[]> {
  const deliveries = (await inn.server.rows("outbox_deliveries")).filter(
    (row) => row.subscription_id === id,
  );
  const events = (await inn.server.rows("outbox_events")).sort((a, b) => a.seq - b.seq);
  return events
    .filter((event) => deliveries.some((row) => row.event_id === event.id))
    .map(({ name }) => name);
}

const keyWith = async (...scopes: string[]): Promise<Client> =>
  (await inn.server.key({ scopes })).client;

describe("who subscribes", () => {
  test("needs the scope of each event that is named", async () => {
    const client = await keyWith("webhooks:write", "listings:read");
    expect(
      (await client("POST", "/v1/webhooks", body(["listing.updated", "webhook.verification"])))
        .status,
    ).toBe(201);
    const reply = await client(
      "POST",
      "/v1/webhooks",
      body(["listing.updated", "reservation.created", "calendar.updated"]),
    );
    expect(fault(reply)).toEqual([403, "insufficient_scope"]);
    expect(reply.json.error.required_scopes.sort()).toEqual([
      "calendars:read",
      "reservations:read",
    ]);
    expect(reply.json.error.granted_scopes).toEqual(["webhooks:write", "listings:read"]);
  });

  test("hears of all events only what its scopes cover", async () => {
    const some = (
      await (
        await keyWith("webhooks:write", "listings:read")
      )("POST", "/v1/webhooks", body(["*"]))
    ).json;
    const all = (await inn.client("POST", "/v1/webhooks", body(["*"]))).json;
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
    await inn.client("PATCH", `/v1/reservations/${stay.id}`, { adults: 2 });
    expect(await sentTo(some)).toEqual(["webhook.verification", "listing.updated"]);
    // Its own creation of a reservation it need not be told of.
    expect(await sentTo(all)).toEqual([
      "webhook.verification",
      "listing.updated",
      "reservation.updated",
    ]);
  });

  test("cannot lead away what is on its way and not its to see", async () => {
    const { json } = await inn.client("POST", "/v1/webhooks", body(["reservation.cancelled"]));
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
    await inn.client("POST", `/v1/reservations/${stay.id}/cancel`);
    const thief = await keyWith("webhooks:write");
    const narrowed = await thief("PATCH", `/v1/webhooks/${json.id}`, {
      events: ["webhook.verification"],
    });
    expect(narrowed.status).toBe(200);
    const led = await thief("PATCH", `/v1/webhooks/${json.id}`, { url: "https://thief.example/" });
    expect(fault(led)).toEqual([403, "insufficient_scope"]);
    expect(led.json.error.required_scopes).toEqual(["reservations:read"]);
  });

  test("hears only of events that were chosen", async () => {
    const one = (await inn.client("POST", "/v1/webhooks", body(["reservation.cancelled"]))).json;
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
    await inn.client("POST", `/v1/reservations/${stay.id}/cancel`);
    expect(await sentTo(one)).toEqual(["webhook.verification", "reservation.cancelled"]);
  });

  test("hears nothing of another account", async () => {
    const stranger = await inn.server.key({ account_id: await inn.server.account() });
    const theirs = (await stranger.client("POST", "/v1/webhooks", body(["*"]))).json;
    await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
    expect(await sentTo(theirs)).toEqual(["webhook.verification"]);
  });

  test("hears of its listings only, where its key is restricted to some", async () => {
    const [own, other] = [await inn.listing(), await inn.listing()];
    const { client } = await inn.server.key({ listing_ids: [own.id] });
    const { json } = await client("POST", "/v1/webhooks", body(["*"]));
    expect(json.listing_ids).toEqual([own.id]);
    for (const listing of [own, other]) {
      await inn.stay(listing, "2027-05-14", "2027-05-17");
      await inn.client("PATCH", `/v1/listings/${listing.id}`, { max_guests: 5 });
    }
    const deliveries = (await inn.server.rows("outbox_deliveries")).filter(
      (row) => row.subscription_id === json.id,
    );
    const events = await inn.server.rows("outbox_events");
    const of = deliveries.map(({ event_id }) => events.find(({ id }) => id === event_id));
    expect(sorted(of.map(({ name, listing_id }) => [name, listing_id]))).toEqual([
      ["listing.updated", own.id],
      ["reservation.created", own.id],
      ["webhook.verification", null],
    ]);
  });

  test("hears of its own reservations in no reservation.created, but of their changes", async () => {
    const [a, b] = [await inn.server.key(), await inn.server.key()];
    const ofA = (
      await a.client("POST", "/v1/webhooks", body(["reservation.created", "reservation.updated"]))
    ).json;
    const ofB = (
      await b.client("POST", "/v1/webhooks", body(["reservation.created", "reservation.updated"]))
    ).json;
    const made = await a.client("POST", "/v1/reservations", {
      listing_id: (await inn.listing()).id,
      check_in_date: "2027-05-14",
      check_out_date: "2027-05-17",
      guest: { full_name: "Ada" },
    });
    await a.client("PATCH", `/v1/reservations/${made.json.id}`, { adults: 2 });
    expect(await sentTo(ofA)).toEqual(["webhook.verification", "reservation.updated"]);
    expect(await sentTo(ofB)).toEqual([
      "webhook.verification",
      "reservation.created",
      "reservation.updated",
    ]);
  });
});

describe("who changes a subscription", () => {
  test("needs the scopes of its events to send them elsewhere, or to choose others", async () => {
    const { json } = await inn.client("POST", "/v1/webhooks", body(["reservation.created"]));
    const path = `/v1/webhooks/${json.id}`;
    const weak = await keyWith("webhooks:write", "listings:read");
    const elsewhere = { url: "https://evil.example.com/" };
    const reply = await weak("PATCH", path, elsewhere);
    expect([...fault(reply), reply.json.error.required_scopes]).toEqual([
      403,
      "insufficient_scope",
      ["reservations:read"],
    ]);
    expect(fault(await weak("PATCH", path, { events: ["calendar.updated"] }))).toEqual([
      403,
      "insufficient_scope",
    ]);
    expect((await inn.client("GET", path)).json).toMatchObject({
      url: hook,
      events: ["reservation.created"],
      version: 1,
    });
    expect((await weak("PATCH", path, { description: "Fine" })).json).toMatchObject({
      description: "Fine",
      version: 2,
    });
    expect((await inn.client("PATCH", path, elsewhere)).json).toMatchObject({
      ...elsewhere,
      version: 3,
    });
  });

  test("takes over no more than it may see itself", async () => {
    const { json } = await inn.client("POST", "/v1/webhooks", body(["*"]));
    const weak = await keyWith("webhooks:write", "listings:read");
    await weak("PATCH", `/v1/webhooks/${json.id}`, { url: "https://other.example.com/" });
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
    await inn.client("PATCH", `/v1/reservations/${stay.id}`, { adults: 2 });
    expect(await sentTo(json)).toEqual(["webhook.verification", "listing.updated"]);
  });

  test("being restricted to listings, knows its own subscriptions only, and hears of its listings only", async () => {
    const others = await inn.client("POST", "/v1/webhooks", body(["*"]));
    const [own, other] = [await inn.listing(), await inn.listing()];
    const { client } = await inn.server.key({ listing_ids: [own.id] });
    const url = "https://other.example.com/";
    expect((await client("PATCH", `/v1/webhooks/${others.json.id}`, { url })).status).toBe(404);
    const { json } = await client("POST", "/v1/webhooks", body(["*"]));
    expect(json.listing_ids).toEqual([own.id]);
    expect((await client("GET", "/v1/webhooks")).json.data).toHaveLength(1);
    const before = await sentTo(json);
    for (const { id } of [own, other])
      await inn.client("PATCH", `/v1/listings/${id}`, { max_guests: 7 });
    expect((await sentTo(json)).slice(before.length)).toEqual(["listing.updated"]);
  });
});

test("a receiver is told at once of its subscription and of each test, signed with the secret that was shown", async () => {
  await using received = await receive();
  const { receiver } = received;
  await using live = await openInn({ start: true, env: received.env });
  const { json } = await live.client("POST", "/v1/webhooks", {
    url: receiver.url("/hook"),
    events: ["*"],
  });
  await live.client("POST", "/v1/webhooks/test");
  await until(() => receiver.hits.length === 2);
  const events = receiver.hits.map(({ text }) => JSON.parse(text));
  expect(events.map(({ event, data }) => [event, data.subscription_id])).toEqual([
    ["webhook.verification", json.id],
    ["webhook.verification", json.id],
  ]);
  for (const hit of receiver.hits) {
    const mac = new Bun.CryptoHasher("sha256", json.secret).update(hit.body).digest("hex");
    expect(hit.header("x-webhook-signature")).toBe(`sha256=${mac}`);
  }
  expect(new Set(events.map(({ id }) => id)).size).toBe(2);
});
