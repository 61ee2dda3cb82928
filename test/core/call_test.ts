/**
 * How an operation runs: who may call it, what it leaves behind, and what it does not.
 */

import { describe, expect, test } from "bun:test";

import webhooks from "#plugins/webhooks";

import { setPlan } from "../../core/identity/mod.ts";
import { serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const started = { start: false } as const;

/** Everything that a call may leave behind. */
async function left(server: Served) {
  const [notes, events, deliveries, answers, audit] = await Promise.all([
    server.rows("notes"),
    server.rows("outbox_events"),
    server.rows("outbox_deliveries"),
    server.rows("calls_answers"),
    server.rows("audit_entries"),
  ]);
  const outcomes = audit
    .filter(({ operation }) => operation.startsWith("notes."))
    .map(({ operation, outcome }) => `${operation} ${outcome}`);
  return {
    notes: notes.map(({ text }) => text),
    events: events.map(({ name }) => name).filter((name) => name.startsWith("notes.")),
    deliveries: deliveries.length,
    answers: answers.length,
    audit: outcomes,
  };
}

const nothing = { notes: [], events: [], deliveries: 0, answers: 0, audit: [] as string[] };

describe("a call", () => {
  test("prepares before its unit, is guarded in it, and then runs", async () => {
    const trail: string[] = [];
    await using server = await serve({ plugins: [notesPlugin(trail)], ...started });
    const { client } = await server.key();
    const made = await client("POST", "/v1/notes", { text: "hello" });
    expect(made.status).toBe(201);
    expect(trail).toEqual(["prepare", "guard", "handler HELLO"]);
    expect(made.json).toEqual({ id: made.json.id, text: "hello", tags: [], version: 1 });
  });

  test("may prepare for longer than a unit may take, and holds up nobody meanwhile", async () => {
    await using server = await serve({ plugins: [notesPlugin()], ...started });
    const { client } = await server.key();
    const order: string[] = [];
    const slow = client("POST", "/v1/notes", { text: "slow" }).finally(() => order.push("slow"));
    const quick = client("POST", "/v1/notes", { text: "quick" }).finally(() => order.push("quick"));
    expect([(await slow).status, (await quick).status]).toEqual([201, 201]);
    expect(order).toEqual(["quick", "slow"]);
  });

  test("that a guard holds is refused, and leaves the refusal only", async () => {
    const trail: string[] = [];
    await using server = await serve({ plugins: [notesPlugin(trail)], ...started });
    const { client } = await server.key();
    const held = await client("POST", "/v1/notes", { text: "held" });
    expect([held.status, held.json.error.code]).toEqual([409, "invalid_transition"]);
    expect(trail).toEqual(["prepare", "guard"]);
    expect(await left(server)).toEqual({ ...nothing, audit: ["notes.create invalid_transition"] });
  });

  test("beyond the account's plan is 402, and says what is needed and where", async () => {
    const trail: string[] = [];
    await using server = await serve({ plugins: [notesPlugin(trail)], ...started });
    const { client } = await server.key();
    const call = () => client("POST", "/v1/notes/premium", {});
    expect((await call()).status).toBe(200);
    await server.app.store.write((db) => setPlan(db, server.account_id, "free"));
    const refused = await call();
    expect(refused.status).toBe(402);
    expect(refused.json.error).toEqual({
      code: "plan_upgrade_required",
      message: 'This needs the plan "pro", and the account has "free"',
      status: 402,
      request_id: refused.headers.get("x-request-id"),
      current_tier: "free",
      required_tier: "pro",
      feature: "notes.premium",
      billing_url: "http://localhost:3000/settings/plan",
    });
    await server.app.store.write((db) => setPlan(db, server.account_id, "pro"));
    expect((await call()).status).toBe(200);
    expect(trail).toEqual(["premium", "premium"]);
  });

  test("beyond the credential's scopes is 403, and does not even prepare", async () => {
    const trail: string[] = [];
    await using server = await serve({ plugins: [notesPlugin(trail)], ...started });
    const { client } = await server.key({ scopes: ["notes:read"] });
    const refused = await client("POST", "/v1/notes", { text: "a" });
    expect(refused.status).toBe(403);
    expect(refused.json.error).toMatchObject({
      code: "insufficient_scope",
      required_scopes: ["notes:write"],
      granted_scopes: ["notes:read"],
    });
    expect(trail).toEqual([]);
    expect(await left(server)).toEqual({ ...nothing, audit: ["notes.create insufficient_scope"] });
    expect((await client("GET", "/v1/notes")).status).toBe(200);
  });
});

describe("what fails", () => {
  const cases = {
    undeclared: [500, "internal"],
    misshapen: [500, "internal"],
    error: [500, "internal"],
    text: [500, "internal"],
    full: [503, "maintenance"],
    problem: [409, "duplicate"],
  } as const;
  for (const [how, [status, code]] of Object.entries(cases)) {
    test(`(${how}) takes everything back, is ${status}, and leaves the refusal only`, async () => {
      await using server = await serve({ plugins: [notesPlugin(), webhooks], ...started });
      const { client } = await server.key();
      const other = await server.key();
      await other.client("POST", "/v1/webhooks", { url: "https://example.com/x", events: ["*"] });
      const [{ length: before }, events] = [
        await server.rows("outbox_deliveries"),
        await server.events(),
      ];
      const failed = await client("POST", "/v1/notes/fail", { how }, { "idempotency-key": "k" });
      expect([failed.status, failed.json.error.code]).toEqual([status, code]);
      expect(failed.text).not.toContain("mirror");
      expect(failed.text).not.toContain("notes.other");
      const outcome = code === "maintenance" ? "internal" : code;
      expect(await left(server)).toEqual({
        ...nothing,
        deliveries: before,
        audit: [`notes.fail ${outcome}`],
      });
      expect(await server.events()).toEqual(events);

      // The same call, done right, leaves all of it.
      const made = await client("POST", "/v1/notes", { text: "b" }, { "idempotency-key": "k" });
      expect(made.status).toBe(201);
      expect(await left(server)).toEqual({
        notes: ["b"],
        events: ["notes.noted"],
        deliveries: before + 1,
        answers: 1,
        audit: [`notes.fail ${outcome}`, "notes.create ok"],
      });
      expect(await server.payloads("notes.noted")).toEqual([{ id: made.json.id, text: "b" }]);
    });
  }
});

describe("a dry run", () => {
  test("answers as the call would, and leaves nothing at all", async () => {
    await using server = await serve({ plugins: [notesPlugin(), webhooks], ...started });
    const { client } = await server.key();
    const dry = await client(
      "POST",
      "/v1/notes?dry_run=true",
      { text: "a" },
      { "idempotency-key": "k" },
    );
    expect(dry.status).toBe(201);
    expect(dry.headers.get("dry-run")).toBe("true");
    expect(dry.json).toMatchObject({ text: "a", version: 1 });
    const refused = await client("POST", "/v1/notes?dry_run=true", { text: "held" });
    expect(refused.json.error.code).toBe("invalid_transition");
    expect(await left(server)).toEqual(nothing);
    const made = await client(
      "POST",
      "/v1/notes?dry_run=false",
      { text: "a" },
      { "idempotency-key": "k" },
    );
    expect(made.headers.has("idempotent-replayed")).toBe(false);
    expect((await left(server)).notes).toEqual(["a"]);
  });
});
