/**
 * The first day of an integrator, with processes, ports, certificates and a real MCP client: from the sources, and from
 * the binary alone where `INNKEEP_TEST_BINARY` names it.
 */

import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { type Json, receive, temporaryDir, until } from "../fixture.ts";
import { run, startServer } from "../process.ts";

test("from an empty folder to a signed delivery, an assistant's answer and the audit log", async () => {
  using temporary = temporaryDir();
  await using received = await receive();
  const { receiver } = received;
  const settings = { DATA_DIR: join(temporary.dir, "data"), ...received.env };
  const innkeep = async (...args: string[]): Promise<Json> => {
    const { code, out, err } = await run(settings, ...args);
    expect([args[0], code, code === 0 ? "" : err]).toEqual([args[0], 0, ""]);
    return JSON.parse(out);
  };
  const owner = ["--email", "ada@example.com", "--password", "correct horse battery"];
  await innkeep("setup", "--account", "Lake homes", ...owner);
  const a = await innkeep("keys", "create", "--label", "A", "--scopes", "*");
  const b = await innkeep("keys", "create", "--label", "B", "--scopes", "*");

  await using server = await startServer(settings);
  const call = async (key: string, method: string, path: string, body?: object): Promise<Json> => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: await answer.json() };
  };
  const home = { title: "Lake house", timezone: "Europe/Rome", currency: "EUR" };
  const listing = await call(a.key, "POST", "/v1/listings", home);
  expect(listing.status).toBe(201);

  const hook = (path: string) => ({ url: receiver.url(path), events: ["reservation.created"] });
  const ofA = await call(a.key, "POST", "/v1/webhooks", hook("/a"));
  const ofB = await call(b.key, "POST", "/v1/webhooks", hook("/b"));
  expect([ofA.status, ofB.status]).toEqual([201, 201]);
  const hits = (path: string, event: string) =>
    receiver.hits.filter((hit) => hit.target === path && hit.header("x-webhook-event") === event);
  const greeted = () =>
    ["/a", "/b"].every((path) => hits(path, "webhook.verification").length === 1);
  expect(await until(greeted)).toBe(true);

  const stay = await call(a.key, "POST", "/v1/reservations", {
    listing_id: listing.json.id,
    check_in_date: "2027-05-14",
    check_out_date: "2027-05-17",
    guest: { full_name: "Grace Hopper" },
  });
  expect(stay.status).toBe(201);
  const told = await until(() => hits("/b", "reservation.created")[0]);
  const mac = createHmac("sha256", ofB.json.secret)
    .update(told?.body ?? "")
    .digest("hex");
  expect(told?.header("x-webhook-signature")).toBe(`sha256=${mac}`);
  expect(JSON.parse(told?.text ?? "{}").data.id).toBe(stay.json.id);

  const assistant = new Client({ name: "journey", version: "1" });
  await assistant.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { "x-api-key": b.key } },
    }),
  );
  const { tools } = await assistant.listTools();
  expect(tools.map(({ name }) => name)).toContain("get_reservation");
  const found = await assistant.callTool({
    name: "get_reservation",
    arguments: { id: stay.json.id },
  });
  expect((found.structuredContent as Json).guest.full_name).toBe("Grace Hopper");
  await assistant.close();

  const log = await call(b.key, "GET", "/v1/audit-log?operation=reservations.create");
  expect(log.json.data).toHaveLength(1);
  expect(log.json.data[0]).toMatchObject({ actor: { label: "A" }, surface: "rest", outcome: "ok" });
  // Whoever caused it is not told of it.
  expect(hits("/a", "reservation.created")).toHaveLength(0);
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
}, 30_000);
