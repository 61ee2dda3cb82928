/**
 * The first day of an integrator, from end to end.
 */

import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { receive, serve, until } from "./fixture.ts";

test("a reservation made with one key reaches the other key's receiver, signed, and not its own", async () => {
  await using received = await receive();
  const { receiver } = received;
  await using server = await serve({ env: received.env });
  const a = await server.key({ label: "A" });
  const b = await server.key({ label: "B" });
  const listing = await a.client("POST", "/v1/listings", {
    title: "Lake house",
    timezone: "Europe/Rome",
    currency: "EUR",
  });
  expect(listing.status).toBe(201);

  const subscribe = async (of: typeof a, path: string) =>
    await of.client("POST", "/v1/webhooks", {
      url: receiver.url(path),
      events: ["reservation.created"],
    });
  const ofA = await subscribe(a, "/a");
  const ofB = await subscribe(b, "/b");
  expect([ofA.status, ofB.status]).toEqual([201, 201]);
  const hits = (path: string, event: string) =>
    receiver.hits.filter((hit) => hit.target === path && hit.header("x-webhook-event") === event);
  for (const path of ["/a", "/b"])
    expect(await until(() => hits(path, "webhook.verification")[0])).toBeDefined();

  const stay = await a.client("POST", "/v1/reservations", {
    listing_id: listing.json.id,
    check_in_date: "2027-05-14",
    check_out_date: "2027-05-17",
    guest: { full_name: "Ada Lovelace" },
  });
  expect(stay.status).toBe(201);
  const hit = await until(() => hits("/b", "reservation.created")[0]);
  const body = JSON.parse(new TextDecoder().decode(hit?.body));
  expect(Object.keys(body)).toEqual(["created_at", "data", "event", "id", "schema_version"]);
  expect(body.data.id).toBe(stay.json.id);
  const mac = createHmac("sha256", ofB.json.secret)
    .update(hit?.body ?? "")
    .digest("hex");
  expect(hit?.header("x-webhook-signature")).toBe(`sha256=${mac}`);
  expect(hit?.header("x-webhook-attempt")).toBe("1");
  expect(hit?.header("user-agent")).toBe("Service-Webhook/1.0");
  await server.app.deliverer.settled();
  expect(hits("/a", "reservation.created")).toHaveLength(0);

  const audit = await a.client("GET", "/v1/audit-log?operation=reservations.create");
  expect(audit.json.data).toHaveLength(1);
  expect(audit.json.data[0].actor.label).toBe("A");
  expect(audit.text).not.toContain("Ada");
});
