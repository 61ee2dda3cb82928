/**
 * The audit log: who did what by which door, and without what should not be kept.
 */

import { describe, expect, test } from "bun:test";

import { callIn } from "../../core/cli/call.ts";
import { fakeClock } from "../../core/db/mod.ts";
import { type Json, serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const begin = async () => {
  const clock = fakeClock(1_800_000_000_000);
  const server = await serve({ plugins: [notesPlugin()], clock, start: false });
  return { clock, server };
};

const entries = async (server: Served): Promise<Json[]> =>
  (await server.rows("audit_entries")).sort((a, b) => (a.id < b.id ? -1 : 1));

const body = {
  text: "hello",
  author: "Ada Lovelace",
  guest: { name: "Grace Hopper", age: 40 },
  pin: "0451",
  metadata: { room: "12" },
};

describe("an entry", () => {
  test("of a write over REST tells who, what, with which request and what came of it", async () => {
    const { server } = await begin();
    await using _ = server;
    const { client, id } = await server.key({ label: "Channel sync" });
    const made = await client("POST", "/v1/notes", body);
    const [entry, ...others] = await entries(server);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      account_id: server.account_id,
      at: "2027-01-15T08:00:00Z",
      actor_kind: "api_key",
      credential_id: id,
      user_id: null,
      actor_label: "Channel sync",
      surface: "rest",
      operation: "notes.create",
      request_id: made.headers.get("x-request-id"),
      outcome: "ok",
    });
    expect(JSON.parse(entry.input)).toEqual({
      text: "hello",
      author: "[personal]",
      guest: { name: "[personal]", age: 40 },
      pin: "[secret]",
      metadata: { room: "12" },
      tags: [],
    });
  });

  test("of the command line says so, and has no credential", async () => {
    const { server } = await begin();
    await using _ = server;
    const registered = server.app.registry.operations.get("notes.create");
    if (registered === undefined) throw new Error("There is no notes.create");
    await callIn(server.app, server.account_id, registered, { text: "a" });
    expect(await entries(server)).toMatchObject([
      {
        actor_kind: "cli",
        credential_id: null,
        actor_label: "command line",
        surface: "cli",
        outcome: "ok",
      },
    ]);
  });

  test("is left by refusals too, and by none of the reads", async () => {
    const { server } = await begin();
    await using _ = server;
    const { client } = await server.key();
    const reader = await server.key({ scopes: ["notes:read"] });
    await client("GET", "/v1/notes");
    await client("GET", "/v1/notes/nobody");
    await reader.client("POST", "/v1/notes", { text: "a" });
    await client("POST", "/v1/notes", {});
    await client("POST", "/v1/notes", { text: "held" });
    await client("POST", "/v1/notes/fail", { how: "error" });
    await client("POST", "/v1/notes?dry_run=1", { text: "a" });
    await client("DELETE", "/v1/api-keys/nobody");
    const outcomes = (await entries(server)).map(
      ({ operation, outcome }) => `${operation} ${outcome}`,
    );
    expect(outcomes).toEqual([
      "notes.create insufficient_scope",
      "notes.create validation_failed",
      "notes.create invalid_transition",
      "notes.fail internal",
      "api_keys.revoke not_found",
    ]);
  });

  test("of an input that does not fit keeps nothing of what does not fit", async () => {
    const { server } = await begin();
    await using _ = server;
    const { client } = await server.key();
    const reader = await server.key({ scopes: ["notes:read"] });
    const leak = "Ada Lovelace 0451";
    const unfit: object[] = [
      { text: "a", passwrod: leak },
      { text: "a", guest: leak },
      { text: "a", guest: { name: "A", age: 1, phone: leak } },
      { text: "a", guest: [leak] },
      { text: "a", author: [leak] },
      { text: { [leak]: leak } },
      { text: "a", tags: [{ deep: leak }] },
      { text: "a", tags: leak },
      Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`unknown_${i}`, leak])),
    ];
    for (const each of unfit) {
      expect((await client("POST", "/v1/notes", each)).status).toBe(422);
      expect((await reader.client("POST", "/v1/notes", each)).status).toBe(403);
    }
    const deep = `{"text":"a","tags":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect((await client("POST", "/v1/notes", deep)).status).toBe(422);
    const kept = await entries(server);
    expect(kept).toHaveLength(unfit.length * 2 + 1);
    for (const { input } of kept) expect(input).not.toContain(leak);
    expect(JSON.parse(kept[0].input)).toEqual({ text: "a", passwrod: "[unfit]", tags: [] });
  });

  test("has no more than 8 KB of the input", async () => {
    const { server } = await begin();
    await using _ = server;
    const { client } = await server.key();
    const metadata = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`k${i}`, "x".repeat(400)]),
    );
    expect((await client("POST", "/v1/notes", { text: "a", metadata })).status).toBe(201);
    const [{ input }] = (await entries(server)) as [Json];
    expect(input.length).toBeLessThan(100);
    expect(JSON.parse(input).omitted).toMatch(/^1\d{4} characters$/);
  });

  test("is found by what it tells, in its own account only", async () => {
    const { server, clock } = await begin();
    await using _ = server;
    const a = await server.key();
    const b = await server.key();
    const stranger = await server.key({ account_id: await server.account() });
    const made = await a.client("POST", "/v1/notes", { text: "a" });
    clock.advance(60_000);
    await b.client("POST", "/v1/notes", {});
    await stranger.client("POST", "/v1/notes", { text: "c" });
    const search = async (query: string, { client }: typeof a = a) =>
      (await client("GET", `/v1/audit-log${query}`)).json.data;
    expect(await search("")).toHaveLength(2);
    expect(await search("", stranger)).toHaveLength(1);
    expect((await search(`?credential_id=${b.id}`))[0].outcome).toBe("validation_failed");
    expect(await search("?outcome=ok")).toHaveLength(1);
    expect(await search("?operation=notes.fail")).toEqual([]);
    expect(await search(`?request_id=${made.headers.get("x-request-id")}`)).toHaveLength(1);
    expect((await search("?since=2027-01-15T08:01:00Z"))[0].actor.credential_id).toBe(b.id);
    expect((await search("?until=2027-01-15T08:01:00Z"))[0].actor.credential_id).toBe(a.id);
    expect((await search("?outcome=ok"))[0]).toMatchObject({
      input: { text: "a" },
      seal: null,
      surface: "rest",
    });
  });
});
