/**
 * Reactions: once for each event, in a unit of their own, again after a failure, put aside after many.
 */

import { expect, test } from "bun:test";

import { defineEvent, definePlugin, defineReaction, type Plugin, t, tables } from "#core";
import webhooks from "#plugins/webhooks";

import { fakeClock } from "../../core/db/mod.ts";
import { type Json, serve, type Served, until } from "../fixture.ts";
import { noted, notesPlugin } from "./notes_plugin.ts";

/** What the reactions of a test have done, and when they are to fail. */
interface Diary {
  readonly texts: string[];
  failing: boolean;
}

function follower(diary: Diary): Plugin {
  const followed = defineEvent({
    name: "follower.followed",
    summary: "A note was followed.",
    scope: null,
    listing: null,
    payload: t.Object({ text: t.String() }),
  });
  const follow = defineReaction({
    name: "follower.follow",
    on: noted,
    emits: [followed],
    async handler({ id, text }, { db, emit, actor, access: { account_id } }) {
      diary.texts.push(text);
      await tables<{ follows: Json }>(db)
        .insertInto("follows")
        .values({ id, account_id, actor: actor.kind })
        .execute();
      emit(followed, { text });
      if (diary.failing) throw new Error("Not today");
    },
  });
  return definePlugin({
    name: "follower",
    summary: "Follows notes.",
    events: { followed },
    reactions: { follow },
    migrations: {
      "0001_create": [
        "create table follows (id text primary key, account_id text not null, actor text not null)",
      ],
    },
  });
}

const begin = async (failing = false, dir?: string) => {
  const diary: Diary = { texts: [], failing };
  const clock = fakeClock(1_800_000_000_000);
  const plugins = [notesPlugin(), webhooks, follower(diary)];
  const server = await serve({ plugins, clock, ...(dir === undefined ? {} : { dir }) });
  return { diary, clock, server, plugins };
};

const states = async (server: Served): Promise<string[]> =>
  (await server.rows("outbox_reactions")).map(({ state }) => state);

test("a reaction runs once, after the commit, as the system, in a unit that also says so", async () => {
  const { server, diary } = await begin();
  await using _ = server;
  const { client } = await server.key();
  await client("POST", "/v1/notes", { text: "a" });
  await client("POST", "/v1/notes", { text: "b" });
  expect(await until(async () => (await states(server)).every((state) => state === "done"))).toBe(
    true,
  );
  expect(diary.texts).toEqual(["a", "b"]);
  expect((await server.rows("follows")).map(({ actor }) => actor)).toEqual(["system", "system"]);
  expect((await server.events()).toSorted()).toEqual([
    "follower.followed",
    "follower.followed",
    "notes.noted",
    "notes.noted",
  ]);
  server.app.wake();
  await Bun.sleep(50);
  expect(diary.texts).toHaveLength(2);
});

test("an event that was taken back is followed by nothing", async () => {
  const { server, diary } = await begin();
  await using _ = server;
  const { client } = await server.key();
  expect((await client("POST", "/v1/notes/fail", { how: "problem" })).status).toBe(409);
  expect((await client("POST", "/v1/notes?dry_run=1", { text: "dry" })).status).toBe(201);
  await Bun.sleep(50);
  expect([diary.texts, await states(server)]).toEqual([[], []]);
});

test("two servers on the same data follow an event once between them", async () => {
  const { server, diary, plugins, clock } = await begin();
  await using _ = server;
  const second = await serve({ plugins, clock, dir: server.dir });
  const { client } = await server.key();
  const texts = Array.from({ length: 40 }, (_, i) => String(i));
  await Promise.all(
    texts.map(async (text) => {
      await client("POST", "/v1/notes", { text });
      second.app.wake();
    }),
  );
  const done = async () => {
    const all = await states(server);
    return all.length === 40 && all.every((state) => state === "done");
  };
  expect(await until(done, 10_000)).toBe(true);
  expect(await server.rows("follows")).toHaveLength(40);
  // Claimed in the unit that does the work: the second one does not even begin.
  expect(diary.texts.toSorted()).toEqual(texts.toSorted());
  await second.stop();
}, 15_000);

test("a reaction that fails leaves nothing, and is tried again later and later", async () => {
  const { server, diary, clock } = await begin(true);
  await using _ = server;
  const { client } = await server.key();
  await client("POST", "/v1/notes", { text: "a" });
  const row = async () => (await server.rows("outbox_reactions"))[0];
  for (const [failures, seconds] of [
    [1, 2],
    [2, 4],
    [3, 8],
  ] as const) {
    expect(await until(async () => (await row()).failures === failures)).toBe(true);
    expect(await row()).toMatchObject({ state: "pending", last_error: "Not today" });
    expect((await row()).due_ms - clock.ms()).toBe(seconds * 1000);
    clock.advance(seconds * 1000 - 1);
    server.app.wake();
    await Bun.sleep(20);
    expect(diary.texts).toHaveLength(failures);
    clock.advance(1);
    if (failures === 3) diary.failing = false;
    server.app.wake();
  }
  expect(await until(async () => (await row()).state === "done")).toBe(true);
  expect(diary.texts).toEqual(["a", "a", "a", "a"]);
  expect(await server.rows("follows")).toHaveLength(1);
  expect((await server.events()).toSorted()).toEqual(["follower.followed", "notes.noted"]);
});

test("a reaction that fails ten times is put aside, where it is seen, and holds up no other", async () => {
  const { server, diary, clock } = await begin(true);
  await using _ = server;
  const { client } = await server.key();
  await client("POST", "/v1/notes", { text: "poison" });
  const row = async () => (await server.rows("outbox_reactions"))[0];
  for (let failures = 1; failures <= 10; failures++) {
    expect(await until(async () => (await row()).failures === failures)).toBe(true);
    clock.advance(86_400_000);
    server.app.wake();
  }
  expect(await row()).toMatchObject({ state: "dead", failures: 10, last_error: "Not today" });
  clock.advance(86_400_000);
  diary.failing = false;
  await client("POST", "/v1/notes", { text: "good" });
  expect(await until(() => diary.texts.includes("good"))).toBe(true);
  expect(diary.texts.filter((text) => text === "poison")).toHaveLength(10);
  expect((await states(server)).toSorted()).toEqual(["dead", "done"]);
});

test("a reaction that nobody got to is followed after the next start", async () => {
  const diary: Diary = { texts: [], failing: false };
  const clock = fakeClock(1_800_000_000_000);
  const plugins = [notesPlugin(), webhooks, follower(diary)];
  await using server = await serve({ plugins, clock, start: false });
  const { client } = await server.key();
  await client("POST", "/v1/notes", { text: "a" });
  await server.stop();
  expect(diary.texts).toEqual([]);
  await using again = await serve({ plugins, clock, dir: server.dir });
  expect(await until(async () => (await states(again))[0] === "done")).toBe(true);
  expect(diary.texts).toEqual(["a"]);
});
