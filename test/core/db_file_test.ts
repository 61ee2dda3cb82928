/**
 * The database as a file: durable, migrated, owned by one server, shared with commands.
 */

import { expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import Sqlite from "better-sqlite3";
import { sql } from "kysely";

import { migrateFile, open, ownDatabase } from "../../core/db/mod.ts";
import { assertDurable, openReader, openWriter } from "../../core/db/sqlite.ts";
import { temporaryDir } from "../fixture.ts";
import { addNote, noteIds, notesMigrations, openStore, refusal } from "./db_fixture.ts";

const set = (migrations: Readonly<Record<string, readonly string[]>>) => [
  { plugin: "notes", migrations },
];

/** Runs a script in a process of its own, which says when it is ready. */
async function elsewhere(script: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, "-e", script, ...args], {
    cwd: join(import.meta.dir, "../.."),
    stdout: "pipe",
  });
  const reader = child.stdout.getReader();
  await reader.read();
  return child;
}

test("each commit of the writer waits for the disk, which the library's own choice would not", async () => {
  using temporary = temporaryDir();
  const ours = openWriter(join(temporary.dir, "ours.db"));
  ours.database.exec("create table t (x); insert into t values (1)");
  expect(ours.database.pragma("synchronous", { simple: true })).toBe(2);
  expect(ours.database.pragma("journal_mode", { simple: true })).toBe("wal");
  assertDurable(ours.database);
  ours.database.close();

  const plain = new Sqlite(join(temporary.dir, "plain.db"));
  plain.pragma("journal_mode = WAL");
  // Asked before the first write, it says FULL: hence the check after one.
  expect(plain.pragma("synchronous", { simple: true })).toBe(2);
  plain.exec("create table t (x); insert into t values (1)");
  expect(() => assertDurable(plain)).toThrow("synchronous is 1 instead of 2");
  plain.close();

  const rollback = new Sqlite(join(temporary.dir, "rollback.db"));
  rollback.exec("create table t (x)");
  expect(() => assertDurable(rollback)).toThrow("journal_mode delete");
  rollback.close();
});

test("the store's units run on such a connection, with foreign keys", async () => {
  await using opened = openStore();
  await opened.store.write((db) => addNote(db, "a"));
  const pragma = (name: string) =>
    opened.store.write(async (db) => (await sql.raw(`pragma ${name}`).execute(db)).rows[0]);
  expect(await pragma("synchronous")).toEqual({ synchronous: 2 });
  expect(await pragma("journal_mode")).toEqual({ journal_mode: "wal" });
  expect(await pragma("foreign_keys")).toEqual({ foreign_keys: 1 });
});

test("readers cannot write", async () => {
  await using opened = openStore();
  const written = opened.store.read((db) => addNote(db, "a"));
  expect((await refusal(written)).message).toContain("readonly");
  const made = opened.store.read((db) => sql.raw("create temp table t (x)").execute(db));
  expect((await refusal(made)).message).toContain("readonly");
  expect(await noteIds(opened.store)).toEqual([]);
  const { database } = openReader(join(opened.dir, "innkeep.db"));
  expect(database.readonly).toBe(true);
  expect(database.pragma("query_only", { simple: true })).toBe(1);
  database.close();
});

test("all that a read sees is of one moment, and more reads than readers wait their turn", async () => {
  await using opened = openStore();
  const { store } = opened;
  await store.write((db) => addNote(db, "before"));
  const count = sql<{ n: number }>`select count(*) as n from notes`;
  const seen = await store.read(async (db) => {
    const first = (await count.execute(db)).rows[0]?.n;
    await store.write((unit) => addNote(unit, "meanwhile"));
    return [first, (await count.execute(db)).rows[0]?.n];
  });
  expect(seen).toEqual([1, 1]);
  const reads = Array.from({ length: 50 }, (_, i) =>
    store.read(async (db) => {
      await Bun.sleep(1);
      if (i % 7 === 0) throw new Error("a read may fail");
      return (await count.execute(db)).rows[0]?.n;
    }),
  );
  const outcomes = await Promise.allSettled(reads);
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(8);
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") expect(outcome.value).toBe(2);
  }
});

test("a command that opens the file while a server writes waits for it", async () => {
  await using opened = openStore();
  const script = `
    const db = new (require("better-sqlite3"))(process.argv[1]);
    db.exec("begin immediate");
    console.log("held");
    setTimeout(() => { db.exec("commit"); }, 400);`;
  const other = await elsewhere(script, join(opened.dir, "innkeep.db"));
  const second = open({ dataDir: opened.dir, migrations: set(notesMigrations) });
  await second.write((db) => addNote(db, "by the command"));
  await second.close();
  expect(await other.exited).toBe(0);
  expect(await noteIds(opened.store)).toEqual(["by the command"]);
}, 20_000);

test("the log is emptied into the file while reads go on, so that it does not grow for ever", async () => {
  await using opened = openStore();
  const { store, dir } = opened;
  const large = "x".repeat(40_000);
  let written = 0;
  let running = true;
  // In every turn of the event loop somebody reads, as on a busy server.
  const reading = (async () => {
    while (running) {
      await store.read((db) => sql`select count(*) from notes`.execute(db));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  let most = 0;
  for (let i = 0; i < 4000; i++) {
    await store.write(async (db) => {
      if (i > 0) await sql`delete from notes`.execute(db);
      await addNote(db, String(i), large);
    });
    written += large.length;
    if (i % 100 === 0) most = Math.max(most, statSync(join(dir, "innkeep.db-wal")).size);
  }
  running = false;
  await reading;
  expect(most).toBeLessThan(written / 2);
}, 30_000);

test("once it is closed, the database file alone holds all of the data", async () => {
  const opened = openStore();
  const { store, dir } = opened;
  await store.write((db) => addNote(db, "kept"));
  await noteIds(store);
  await store.close();
  expect(readdirSync(dir).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  using elsewhere = temporaryDir();
  copyFileSync(join(dir, "innkeep.db"), join(elsewhere.dir, "innkeep.db"));
  const copy = open({ dataDir: elsewhere.dir, migrations: set(notesMigrations) });
  expect(await noteIds(copy)).toEqual(["kept"]);
  await copy.close();
});

test("migrations run once, in their order, and what they made stays", () => {
  using temporary = temporaryDir();
  const dataDir = join(temporary.dir, "not", "there", "yet");
  const second = { "0002_more": ["alter table notes add column more text"], ...notesMigrations };
  const names = (sets: ReturnType<typeof set>) =>
    migrateFile(dataDir, sets).map(({ name }) => name);
  expect(names(set(second))).toEqual(["0001_create", "0002_more"]);
  expect(names(set(second))).toEqual([]);
  expect(existsSync(join(dataDir, "backups"))).toBe(false);
});

test("a migration that has run and was changed since is refused", () => {
  using temporary = temporaryDir();
  const { dir } = temporary;
  migrateFile(dir, set({ "0001_create": ["create table a (x)"] }));
  const changed = set({
    "0001_create": ["create table a (x, y)"],
    "0002_more": ["create table b (x)"],
  });
  expect(() => migrateFile(dir, changed)).toThrow(
    '"notes/0001_create" has run and was changed since',
  );
  expect(() => open({ dataDir: dir, migrations: changed })).toThrow("changed since");
  const same = set({ "0001_create": ["create table a (x)"], "0002_more": ["create table b (x)"] });
  expect(migrateFile(dir, same)).toEqual([{ plugin: "notes", name: "0002_more" }]);
});

test("before data that is there already is migrated, it is copied to backups", async () => {
  const opened = openStore();
  const { store, dir } = opened;
  await store.write((db) => addNote(db, "precious"));
  await store.close();
  migrateFile(
    dir,
    set({ ...notesMigrations, "0002_drop": ["drop table lines", "drop table notes"] }),
  );
  const [backup, ...others] = readdirSync(join(dir, "backups"));
  expect(backup).toStartWith("before-notes-0002_drop-");
  expect(others).toEqual([]);
  const copy = new Sqlite(join(dir, "backups", backup ?? ""), { readonly: true });
  expect(copy.prepare("select id from notes").all()).toEqual([{ id: "precious" }]);
  expect(copy.pragma("integrity_check", { simple: true })).toBe("ok");
  copy.close();
});

test("a migration that fails takes all of its run back", () => {
  using temporary = temporaryDir();
  const { dir } = temporary;
  migrateFile(dir, set({ "0001_create": ["create table a (x)"] }));
  const broken = { "0001_create": ["create table a (x)"], "0002_b": ["create table b (x)"] };
  const wrong = { ...broken, "0003_c": ["create table c (x)", "this is no SQL"] };
  expect(() => migrateFile(dir, set(wrong))).toThrow("syntax error");
  const names = migrateFile(dir, set(broken)).map(({ name }) => name);
  expect(names).toEqual(["0002_b"]);
});

test("a second owner is refused, until the first lets go", () => {
  using temporary = temporaryDir();
  const release = ownDatabase(temporary.dir);
  expect(() => ownDatabase(temporary.dir)).toThrow("Another Innkeep server is using");
  release();
  ownDatabase(temporary.dir)();
});

test("an owner that was killed leaves nothing behind", async () => {
  using temporary = temporaryDir();
  const script = `
    const { ownDatabase } = await import("./core/db/mod.ts");
    ownDatabase(process.argv[1]);
    console.log("owned");
    setInterval(() => {}, 1000);`;
  const owner = await elsewhere(script, temporary.dir);
  expect(() => ownDatabase(temporary.dir)).toThrow("Another Innkeep server is using");
  owner.kill("SIGKILL");
  await owner.exited;
  ownDatabase(temporary.dir)();
});

test("under a running server nothing is migrated, but what is up to date opens", async () => {
  await using opened = openStore();
  const release = ownDatabase(opened.dir);
  const newer = { ...notesMigrations, "0002_more": ["create table more (x)"] };
  expect(() => migrateFile(opened.dir, set(newer))).toThrow("Another Innkeep server is using");
  const beside = open({ dataDir: opened.dir, migrations: set(notesMigrations) });
  await beside.write((db) => addNote(db, "beside"));
  await beside.close();
  expect(await noteIds(opened.store)).toEqual(["beside"]);
  release();
});
