/**
 * Who is calling: keys and how they are given, refused and noted; passwords; the setup link.
 */

import { describe, expect, test } from "bun:test";

import { Problem } from "#core";

import { createApp } from "../../core/app.ts";
import { readConfig } from "../../core/config/mod.ts";
import { fakeClock } from "../../core/db/mod.ts";
import {
  covers,
  createLastUsed,
  isSetupToken,
  newSetupLink,
  prepareAccount,
  useSetupToken,
} from "../../core/identity/mod.ts";
import { hashPassword, verifyPassword } from "../../core/identity/passwords.ts";
import { isScope, mayGrant } from "../../core/identity/scopes.ts";
import { serve, temporaryDir } from "../fixture.ts";
import { refusal } from "./db_fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const start = 1_800_000_000_000;
const metadata =
  'resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource/v1"';

describe("a key", () => {
  test("is taken in X-API-Key and as a bearer token, whatever the case of the scheme", async () => {
    await using server = await serve({ plugins: [notesPlugin()], start: false });
    const { key, id } = await server.key({ label: "Channel sync", scopes: ["notes:read"] });
    const ways = [
      { "x-api-key": key },
      { authorization: `Bearer ${key}` },
      { authorization: `bearer ${key}` },
      { authorization: `BEARER  ${key}` },
      // The key counts where both are there.
      { "x-api-key": key, authorization: "Bearer nonsense" },
      { "x-api-key": key, authorization: "Basic abc" },
    ];
    for (const headers of ways) {
      const me = await server.client(headers)("GET", "/v1/me");
      expect([headers, me.status]).toEqual([headers, 200]);
      expect(me.json).toEqual({
        account: { id: server.account_id, name: "Test", plan: "enterprise" },
        credential: {
          kind: "api_key",
          id,
          label: "Channel sync",
          scopes: ["notes:read"],
          listing_ids: null,
        },
      });
    }
  });

  test("that will not do is 401 with its code and its challenge, to the letter", async () => {
    const clock = fakeClock(start);
    await using server = await serve({ plugins: [notesPlugin()], start: false, clock });
    const valid = await server.key();
    const expired = await server.key({ expires_at: "2027-01-15T08:00:00Z" });
    const revoked = await server.key();
    await valid.client("DELETE", `/v1/api-keys/${revoked.id}`);
    const bare = `Bearer ${metadata}`;
    const spoken = `Bearer error="invalid_token", ${metadata}`;
    const cases: [Record<string, string>, string, string][] = [
      [{}, "missing_credential", bare],
      [{ "x-api-key": "" }, "invalid_api_key", bare],
      [{ "x-api-key": "ik_live_nonsense" }, "invalid_api_key", bare],
      [{ "x-api-key": valid.key.slice(0, -1) }, "invalid_api_key", bare],
      [{ "x-api-key": valid.key.toLowerCase() }, "invalid_api_key", bare],
      [{ "x-api-key": expired.key }, "invalid_api_key", bare],
      [{ "x-api-key": revoked.key }, "revoked", bare],
      [{ "x-api-key": "nonsense", authorization: `Bearer ${valid.key}` }, "invalid_api_key", bare],
      [{ authorization: "Bearer nonsense" }, "invalid_token", spoken],
      [{ authorization: "Bearer" }, "invalid_token", spoken],
      [{ authorization: `Bearer ${expired.key}` }, "invalid_token", spoken],
      [{ authorization: `Bearer ${revoked.key}` }, "revoked", spoken],
    ];
    for (const [headers, code, challenge] of cases) {
      const refused = await server.client(headers)("GET", "/v1/notes");
      expect([headers, refused.status, refused.json.error.code]).toEqual([headers, 401, code]);
      expect(refused.headers.get("www-authenticate")).toBe(challenge);
      for (const { key } of [valid, expired, revoked]) expect(refused.text).not.toContain(key);
    }
    expect((await valid.client("GET", "/v1/notes")).headers.has("www-authenticate")).toBe(false);
  });

  test("works until the second at which it expires", async () => {
    const clock = fakeClock(start);
    await using server = await serve({ plugins: [notesPlugin()], start: false, clock });
    const { client } = await server.key({ expires_at: "2027-01-15T08:00:10Z" });
    clock.advance(9999);
    expect((await client("GET", "/v1/notes")).status).toBe(200);
    clock.advance(1);
    expect((await client("GET", "/v1/notes")).status).toBe(401);
  });

  test("shows when it was last used, written down for many at once", async () => {
    const clock = fakeClock(start);
    await using server = await serve({ plugins: [notesPlugin()], start: false, clock });
    const { store } = server.app;
    const [a, b, unused] = [await server.key(), await server.key(), await server.key()];
    const before = store.stats.units;
    for (let i = 0; i < 20; i++) {
      await a.client("GET", "/v1/notes");
      await b.client("GET", "/v1/notes");
    }
    // A read costs no write.
    expect(store.stats.units).toBe(before);
    const used = async () => {
      const rows = await server.rows("identity_api_keys");
      return [a, b, unused].map(({ id }) => rows.find((row) => row.id === id).last_used_at);
    };
    expect(await used()).toEqual([null, null, null]);
    clock.advance(5000);
    await b.client("GET", "/v1/notes");
    await server.stop();
    await using again = await serve({
      plugins: [notesPlugin()],
      start: false,
      clock,
      dir: server.dir,
    });
    const rows = await again.rows("identity_api_keys");
    expect([a, b, unused].map(({ id }) => rows.find((row) => row.id === id).last_used_at)).toEqual([
      "2027-01-15T08:00:00Z",
      "2027-01-15T08:00:05Z",
      null,
    ]);
  });

  test("is noted in one unit, however many keys were used", async () => {
    await using server = await serve({ plugins: [notesPlugin()], start: false });
    const { store, clock } = server.app;
    const keys = [await server.key(), await server.key(), await server.key()];
    const lastUsed = createLastUsed(store, clock);
    for (const { id } of [...keys, ...keys]) lastUsed.note(id);
    const before = store.stats.units;
    await lastUsed.flush();
    await lastUsed.flush();
    expect(store.stats.units - before).toBe(1);
    for (const row of await server.rows("identity_api_keys")) expect(row.last_used_at).toBeString();
  });
});

test("scopes cover what they name, and a pattern what it stands for", () => {
  const table: [string[], string, boolean][] = [
    [["listings:read"], "listings:read", true],
    [["listings:read"], "listings:write", false],
    [["listings:write"], "listings:read", false],
    [["listings:read"], "listings:read_sensitive", false],
    [["*"], "anything:at_all", true],
    [["*:*"], "anything:at_all", true],
    [["listings:*"], "listings:write", true],
    [["listings:*"], "reservations:write", false],
    [["*:read"], "reservations:read", true],
    [["*:read"], "reservations:write", false],
    [["a:read", "b:*"], "b:write", true],
    [["list*:read"], "listings:read", false],
    [["listings"], "listings:read", false],
    [[], "listings:read", false],
  ];
  for (const [granted, needed, covered] of table) {
    expect([granted, needed, covers(granted, needed)]).toEqual([granted, needed, covered]);
  }
});

test("nobody gives away what he lacks", () => {
  const table: [string[], string, boolean][] = [
    [["*"], "*", true],
    [["*:*"], "*", false],
    [["listings:*"], "listings:read", true],
    [["listings:*"], "listings:*", true],
    [["listings:*"], "*:read", false],
    [["listings:read"], "listings:*", false],
    [["*:read"], "*:read", true],
    [["*:read"], "listings:read", true],
    [["*:read"], "listings:*", false],
    [["a:read", "a:write"], "a:*", false],
    [[], "a:read", false],
  ];
  for (const [granted, wanted, may] of table) {
    expect([granted, wanted, mayGrant(granted, wanted)]).toEqual([granted, wanted, may]);
  }
  const known = ["listings:read", "listings:write"];
  expect(
    ["*", "listings:*", "*:read", "listings:read"].map((each) => isScope(each, known)),
  ).toEqual(Array(4).fill(true));
  expect(
    ["guests:*", "*:delete", "listings", "guests:read"].map((each) => isScope(each, known)),
  ).toEqual(Array(4).fill(false));
});

describe("a password", () => {
  const wanted = { name: "Lake homes", email: "Ada@Example.com", password: "correct horse" };

  test("is kept as argon2id, salted, with at least 19 MiB and two passes", async () => {
    const [hash, other] = [
      await hashPassword("correct horse"),
      await hashPassword("correct horse"),
    ];
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(hash).not.toBe(other);
    expect(await verifyPassword("correct horse", hash)).toBe(true);
    expect(await verifyPassword("correct horsf", hash)).toBe(false);
  });

  test("must fit the one that is known, for a further account of the same person", async () => {
    const { password_hash, email } = await prepareAccount(wanted, undefined);
    expect(email).toBe("ada@example.com");
    const existing = {
      id: "u",
      email,
      name: "ada",
      password_hash,
      created_at: "2027-01-01T00:00:00Z",
    };
    expect((await prepareAccount(wanted, existing)).password_hash).toBe(password_hash);
    const wrong = await refusal(prepareAccount({ ...wanted, password: "another horse" }, existing));
    expect((wrong as Problem).code).toBe("duplicate");
  });

  test("must be neither short nor endless, and the rest must be there too", async () => {
    const wrong = [
      { password: "nine char" },
      { password: "x".repeat(201) },
      { email: "nobody" },
      { email: "a b@c.d" },
      { email: `${"a".repeat(243)}@example.com` },
      { name: "  " },
      { name: "x".repeat(121) },
    ];
    for (const part of wrong) {
      const { code } = (await refusal(
        prepareAccount({ ...wanted, ...part }, undefined),
      )) as Problem;
      expect([part, code]).toEqual([part, "validation_failed"] as never);
    }
  });
});

test("an e-mail address that is far too long is refused at once", async () => {
  const wanted = { name: "Lake homes", password: "correct horse" };
  const since = performance.now();
  for (const email of [`a@${"a.".repeat(500_000)} `, `${"@".repeat(1_000_000)}`]) {
    const { details } = (await refusal(prepareAccount({ ...wanted, email }, undefined))) as Problem;
    expect(details.map(({ field, code }) => [field, code])).toEqual([["email", "too_long"]]);
    expect(details[0]?.message.length).toBeLessThan(200);
  }
  expect(performance.now() - since).toBeLessThan(1000);
  const longest = `${"a".repeat(242)}@example.com`;
  expect((await prepareAccount({ ...wanted, email: longest }, undefined)).email).toBe(longest);
});

test("the setup link works once, on an empty database, and only the last one", async () => {
  using temporary = temporaryDir();
  const config = readConfig({ INNKEEP_DATA_DIR: temporary.dir, INNKEEP_LOG_LEVEL: "silent" });
  const app = createApp({ config, plugins: [notesPlugin()], clock: fakeClock(start) });
  const { store } = app;
  const tokenOf = (link: string | undefined) => new URL(link ?? "").searchParams.get("token") ?? "";
  const early = tokenOf(await newSetupLink(app));
  const link = await newSetupLink(app);
  expect(link).toMatch(/^http:\/\/localhost:3000\/setup\?token=[A-Za-z0-9]{32}$/);
  const token = tokenOf(link);
  const fits = (given: string) => store.read((db) => isSetupToken(db, given));
  expect([await fits(early), await fits(token), await fits("")]).toEqual([false, true, false]);
  const use = () => store.write((db) => useSetupToken(db, token, app.clock.now()));
  const both = await Promise.all([use(), use()]);
  expect(both).toEqual([true, false]);
  expect(await fits(token)).toBe(false);
  await app.stop();

  await using server = await serve({ plugins: [notesPlugin()], start: false });
  expect(await newSetupLink(server.app)).toBeUndefined();
});
