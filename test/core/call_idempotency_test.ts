/**
 * The same request again: one effect, one answer, for a day.
 */

import { expect, test } from "bun:test";

import { fakeClock } from "../../core/db/mod.ts";
import { serve } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const again = { "idempotency-key": "order-7" };
const day = 86_400_000;
const options = () => ({
  plugins: [notesPlugin()],
  clock: fakeClock(1_800_000_000_000),
  start: false,
});

test("a write repeated under its key takes effect once, and is answered as the first time", async () => {
  await using server = await serve(options());
  const { client } = await server.key();
  const write = () => client("POST", "/v1/notes", { text: "a", tags: ["x"] }, again);
  const first = await write();
  const second = await write();
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.text).toBe(first.text);
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(await server.rows("notes")).toHaveLength(1);
  expect(await server.events()).toEqual(["notes.noted"]);
  expect(await server.rows("audit_entries")).toHaveLength(1);
});

test("of many that come at once under one key, one takes effect", async () => {
  await using server = await serve(options());
  const { client } = await server.key();
  const write = () => client("POST", "/v1/notes", { text: "a" }, again);
  const answers = await Promise.all(Array.from({ length: 20 }, write));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.has("idempotent-replayed"))).toHaveLength(19);
  expect(await server.rows("notes")).toHaveLength(1);
});

test("a key belongs to its credential, and a key that stood for another request is refused", async () => {
  await using server = await serve(options());
  const a = await server.key();
  const b = await server.key();
  const stranger = await server.key({ account_id: await server.account() });
  for (const { client } of [a, b, stranger]) {
    const made = await client("POST", "/v1/notes", { text: "a" }, again);
    expect([made.status, made.headers.has("idempotent-replayed")]).toEqual([201, false]);
  }
  const reused = [
    await a.client("POST", "/v1/notes", { text: "b" }, again),
    await a.client("POST", "/v1/notes/mint", { text: "a" }, again),
    await a.client("POST", "/v1/notes/mint", {}, again),
  ];
  expect(reused.map(({ status }) => status)).toEqual([422, 422, 422]);
  expect(reused[0]?.json.error.code).toBe("idempotency_key_reused");
  expect(reused[2]?.json.error.code).toBe("idempotency_key_reused");
  expect(await server.rows("notes")).toHaveLength(3);
});

test("a refusal is not kept: the same key may be tried again", async () => {
  await using server = await serve(options());
  const { client } = await server.key();
  const fail = () => client("POST", "/v1/notes/fail", { how: "problem" }, again);
  expect((await fail()).status).toBe(409);
  expect((await fail()).headers.has("idempotent-replayed")).toBe(false);
  expect(await server.rows("calls_answers")).toEqual([]);
  expect((await client("POST", "/v1/notes", { text: "a" }, again)).status).toBe(201);
});

test("an answer that holds a secret is kept encrypted, and given again in clear", async () => {
  await using server = await serve(options());
  const { client } = await server.key();
  const mint = () => client("POST", "/v1/notes/mint", {}, again);
  const first = await mint();
  const { key } = first.json.inside;
  expect(key).toStartWith("mint_");
  const [kept] = await server.rows("calls_answers");
  expect(kept.encrypted).toBe(1);
  expect(JSON.stringify(kept)).not.toContain("mint_");
  expect((await mint()).text).toBe(first.text);

  // Bound to its place: under another key it does not open.
  const box = kept.body as string;
  const { secrets } = server.app;
  expect(() => secrets.decrypt(box, "answer somebody else")).toThrow();

  const plain = await client("POST", "/v1/notes", { text: "a" }, { "idempotency-key": "plain" });
  const rows = await server.rows("calls_answers");
  expect(rows.find((row) => row.key === "plain")).toMatchObject({ encrypted: 0, body: plain.text });
});

test("the key of the API itself is kept encrypted too", async () => {
  await using server = await serve(options());
  const { client } = await server.key();
  const body = { label: "kept", scopes: ["notes:read"] };
  const made = await client("POST", "/v1/api-keys", body, again);
  expect(made.status).toBe(201);
  expect(JSON.stringify(await server.rows("calls_answers"))).not.toContain(made.json.key);
  expect((await client("POST", "/v1/api-keys", body, again)).json.key).toBe(made.json.key);
});

test("after a day the answer is forgotten: at once for the caller, by a job for the table", async () => {
  const all = options();
  await using server = await serve(all);
  const { client } = await server.key();
  const write = (key: string) =>
    client("POST", "/v1/notes", { text: "a" }, { "idempotency-key": key });
  await server.app.start();
  await write("early");
  all.clock.advance(3_600_000);
  await write("late");
  all.clock.advance(day - 3_600_000 - 1000);
  expect((await write("early")).headers.has("idempotent-replayed")).toBe(true);
  expect(await server.rows("notes")).toHaveLength(2);

  all.clock.advance(1000);
  await server.app.scheduler.runDue();
  expect((await server.rows("calls_answers")).map(({ key }) => key)).toEqual(["late"]);
  expect((await write("early")).headers.has("idempotent-replayed")).toBe(false);
  expect((await write("late")).headers.has("idempotent-replayed")).toBe(true);
  expect(await server.rows("notes")).toHaveLength(3);
});

test("an answer that has expired is not given again, even before the job has run", async () => {
  const all = options();
  await using server = await serve(all);
  const { client } = await server.key();
  const write = () => client("POST", "/v1/notes", { text: "a" }, again);
  await write();
  all.clock.advance(day);
  expect((await write()).headers.has("idempotent-replayed")).toBe(false);
  expect((await write()).headers.has("idempotent-replayed")).toBe(true);
  expect(await server.rows("notes")).toHaveLength(2);
});

test("a key must be visible ASCII of at most 255 characters", async () => {
  await using server = await serve(options());
  const { client } = await server.key();
  const write = (key: string) =>
    client("POST", "/v1/notes", { text: "a" }, { "idempotency-key": key });
  for (const wrong of ["", "a b", "x".repeat(256), "ключ"]) {
    const refused = await write(wrong).catch(() => undefined);
    // What HTTP itself does not take never arrives.
    if (refused === undefined) continue;
    expect([wrong, refused.status]).toEqual([wrong, 422]);
    expect(refused.json.error.details[0].field).toBe("Idempotency-Key");
  }
  expect((await write("x".repeat(255))).status).toBe(201);
  expect(await server.rows("notes")).toHaveLength(1);
});
