/**
 * API keys as their holders manage them: shown once, never more powerful than who makes them, gone when revoked.
 */

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { sql } from "kysely";

import { acrossAccounts, fakeClock } from "../../core/db/mod.ts";
import { type Reply, serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const begin = () =>
  serve({ plugins: [notesPlugin()], start: false, clock: fakeClock(1_800_000_000_000) });

/** Every row of every table, as text. */
async function everything(server: Served): Promise<string> {
  const names = await server.app.store.read(
    async (db) =>
      (
        await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
          acrossAccounts(db),
        )
      ).rows,
  );
  const tables = await Promise.all(names.map(({ name }) => server.rows(name)));
  return JSON.stringify(tables);
}

test("a key is shown once: no later answer, no table and no file holds it", async () => {
  await using server = await begin();
  const { client } = await server.key();
  const body = { label: "Sync", scopes: ["notes:read"] };
  const made = await client("POST", "/v1/api-keys", body, { "idempotency-key": "k" });
  expect(made.status).toBe(201);
  const { key, id } = made.json;
  expect(key).toMatch(/^ik_live_[A-Za-z0-9]{43}$/);
  expect(made.json).toEqual({
    id,
    key,
    ...body,
    prefix: key.slice(0, 14),
    listing_ids: null,
    tier: "enterprise",
    created_by: expect.any(String),
    created_at: "2027-01-15T08:00:00Z",
    updated_at: "2027-01-15T08:00:00Z",
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    version: 1,
  });
  const own = server.client({ "x-api-key": key });
  const answers: Reply[] = [
    await own("GET", "/v1/me"),
    await own("GET", "/v1/notes"),
    await client("GET", `/v1/api-keys/${id}`),
    await client("GET", "/v1/api-keys"),
    await client("PATCH", `/v1/api-keys/${id}`, { label: "Renamed" }),
    await client("GET", "/v1/audit-log"),
    await client("DELETE", `/v1/api-keys/${id}`),
    await own("GET", "/v1/notes"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200, 401]);
  for (const { text, headers } of answers) {
    expect(text).not.toContain(key);
    expect(JSON.stringify([...headers])).not.toContain(key);
    expect(text).not.toContain('hash":');
  }
  expect(await everything(server)).not.toContain(key);
  const { dataDir } = server.config;
  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), "latin1"));
  expect(files.some((bytes) => bytes.includes("Renamed"))).toBe(true);
  for (const bytes of files) expect(bytes.includes(key)).toBe(false);
});

test("nobody grants a scope that he lacks, when making a key or when changing one", async () => {
  await using server = await begin();
  const owner = await server.key();
  const maker = await server.key({ scopes: ["api_keys:write", "api_keys:read", "notes:*"] });
  const make = (scopes: string[]) => maker.client("POST", "/v1/api-keys", { label: "x", scopes });
  for (const scopes of [["notes:read"], ["notes:*"], ["notes:write", "api_keys:read"]]) {
    expect((await make(scopes)).status).toBe(201);
  }
  const other = await owner.client("POST", "/v1/api-keys", { label: "y", scopes: ["notes:read"] });
  for (const scopes of [
    ["*"],
    ["*:read"],
    ["audit:read"],
    ["notes:read", "audit:read"],
    ["api_keys:*"],
  ]) {
    const change = () => maker.client("PATCH", `/v1/api-keys/${other.json.id}`, { scopes });
    for (const refused of [await make(scopes), await change()]) {
      expect([scopes, refused.status]).toEqual([scopes, 403]);
      expect(refused.json.error.code).toBe("insufficient_scope");
      expect(refused.json.error.granted_scopes).toEqual([
        "api_keys:write",
        "api_keys:read",
        "notes:*",
      ]);
    }
  }
  const rows = await server.rows("identity_api_keys");
  expect(rows).toHaveLength(6);
  expect(rows.find((row) => row.id === other.json.id).scopes).toBe('["notes:read"]');
});

test("nobody grants listings that he lacks", async () => {
  await using server = await begin();
  const owner = await server.key();
  const restricted = await server.key({ listing_ids: ["l1", "l2"] });
  const make = (more: object) =>
    restricted.client("POST", "/v1/api-keys", { label: "x", scopes: ["notes:read"], ...more });
  for (const more of [
    {},
    { listing_ids: null },
    { listing_ids: ["l1", "l3"] },
    { listing_ids: ["l3"] },
  ]) {
    const refused = await make(more);
    expect([more, refused.status, refused.json.error.code]).toEqual([
      more,
      403,
      "listing_not_permitted",
    ]);
  }
  expect((await make({ listing_ids: [] })).status).toBe(422);
  const made = await make({ listing_ids: ["l2"] });
  expect(made.json.listing_ids).toEqual(["l2"]);
  const me = await server.client({ "x-api-key": made.json.key })("GET", "/v1/me");
  expect(me.json.credential.listing_ids).toEqual(["l2"]);
  const wide = await owner.client("POST", "/v1/api-keys", {
    label: "wide",
    scopes: ["notes:read"],
  });
  const widened = await restricted.client("PATCH", `/v1/api-keys/${wide.json.id}`, {
    scopes: ["*"],
  });
  // Keys of others are not even there for it.
  expect([widened.status, widened.json.error.code]).toEqual([404, "not_found"]);
});

test("a key has the tier of the one that made it, and cannot ask for another", async () => {
  await using server = await begin();
  const maker = await server.key({ tier: "pro" });
  const body = { label: "x", scopes: ["*"] };
  expect((await maker.client("POST", "/v1/api-keys", body)).json.tier).toBe("pro");
  const asked = await maker.client("POST", "/v1/api-keys", { ...body, tier: "enterprise" });
  expect([asked.status, asked.json.error.details[0].field]).toEqual([422, "tier"]);
});

test("a revoked key is refused at its next call, and stays revoked", async () => {
  await using server = await begin();
  const owner = await server.key();
  const { id, client } = await server.key();
  expect((await client("GET", "/v1/notes")).status).toBe(200);
  const first = await owner.client("DELETE", `/v1/api-keys/${id}`);
  expect(first.json.revoked_at).toBe("2027-01-15T08:00:00Z");
  const refused = await client("POST", "/v1/notes", { text: "a" });
  expect([refused.status, refused.json.error.code]).toEqual([401, "revoked"]);
  expect(await server.rows("notes")).toEqual([]);
  const again = await owner.client("DELETE", `/v1/api-keys/${id}`);
  expect(again.json).toEqual(first.json);
  // A key may revoke itself.
  expect((await owner.client("DELETE", `/v1/api-keys/${owner.id}`)).status).toBe(200);
  expect((await owner.client("GET", "/v1/notes")).status).toBe(401);
});

test("a key that another process revokes or narrows is judged so at its next call", async () => {
  await using server = await begin();
  await using beside = await serve({ plugins: [notesPlugin()], start: false, dir: server.dir });
  const owner = await beside.key();
  const { id, client } = await server.key();
  expect((await client("POST", "/v1/notes", { text: "a" })).status).toBe(201);
  await owner.client("PATCH", `/v1/api-keys/${id}`, { scopes: ["notes:read"] });
  expect((await client("POST", "/v1/notes", { text: "b" })).status).toBe(403);
  await owner.client("DELETE", `/v1/api-keys/${id}`);
  expect((await client("GET", "/v1/notes")).status).toBe(401);
});

test("a key is changed by whoever knows its version, and narrowed at once", async () => {
  await using server = await begin();
  const owner = await server.key();
  const { id, client } = await server.key();
  const path = `/v1/api-keys/${id}`;
  const changed = await owner.client(
    "PATCH",
    path,
    { scopes: ["notes:read"] },
    { "if-match": '"1"' },
  );
  expect([changed.status, changed.headers.get("etag")]).toEqual([200, '"2"']);
  expect((await client("POST", "/v1/notes", { text: "a" })).status).toBe(403);
  expect((await owner.client("PATCH", path, { label: "x" }, { "if-match": '"1"' })).status).toBe(
    412,
  );
  expect((await owner.client("DELETE", path, undefined, { "if-match": '"1"' })).status).toBe(412);
  expect((await client("GET", "/v1/notes")).status).toBe(200);
});

test("keys of another account are not there", async () => {
  await using server = await begin();
  const { id } = await server.key();
  const stranger = await server.key({ account_id: await server.account() });
  const path = `/v1/api-keys/${id}`;
  const tries = [
    await stranger.client("GET", path),
    await stranger.client("PATCH", path, { label: "mine" }),
    await stranger.client("DELETE", path),
  ];
  expect(tries.map(({ status }) => status)).toEqual([404, 404, 404]);
  const listed = await stranger.client("GET", "/v1/api-keys");
  expect(listed.json.data.map((each: { id: string }) => each.id)).toEqual([stranger.id]);
});

test("a key that would be expired at once, or is described wrongly, is refused", async () => {
  await using server = await begin();
  const { client } = await server.key();
  const wrong: [object, string][] = [
    [{ expires_at: "2027-01-15T08:00:00Z" }, "expires_at"],
    [{ expires_at: "soon" }, "expires_at"],
    [{ label: "" }, "label"],
    [{ scopes: [] }, "scopes"],
    [{ scopes: ["notes:read", "notes:read"] }, "scopes"],
    [{ scopes: ["Notes:Read"] }, "scopes[0]"],
    [{ scopes: ["*:*"] }, "scopes[0]"],
    [{ scopes: ["note:read"] }, "scopes"],
    [{ scopes: "notes:read" }, "scopes"],
  ];
  for (const [part, field] of wrong) {
    const refused = await client("POST", "/v1/api-keys", { label: "x", scopes: ["*"], ...part });
    expect([part, refused.status, refused.json.error.details?.[0].field]).toEqual([
      part,
      422,
      field,
    ]);
  }
  const soon = { label: "x", scopes: ["*"], expires_at: "2027-01-15T08:00:01Z" };
  expect((await client("POST", "/v1/api-keys", soon)).status).toBe(201);
});

test("a key that ends makes none that outlives it", async () => {
  await using server = await begin();
  const end = "2027-01-15T08:00:05Z";
  const { client } = await server.key({ expires_at: end });
  const make = (more: object) =>
    client("POST", "/v1/api-keys", { label: "x", scopes: ["*"], ...more });
  expect((await make({})).json.expires_at).toBe(end);
  expect((await make({ expires_at: null })).json.expires_at).toBe(end);
  const later = await make({ expires_at: "2027-01-15T08:00:06Z" });
  expect([later.status, later.json.error.details[0].code]).toEqual([422, "too_late"]);
});
