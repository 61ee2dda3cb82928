/**
 * Group commit: what units share, and what they do not.
 */

import { expect, test } from "bun:test";
import { join } from "node:path";

import Sqlite from "better-sqlite3";
import { sql } from "kysely";

import { acrossAccounts, type Database, isBusy, prepared } from "../../core/db/mod.ts";
import { addNote, noteIds, notes, openStore, refusal } from "./db_fixture.ts";

/** Reads with a connection that the store knows nothing of: it sees what is committed, and nothing else. */
function observe(dir: string) {
  const database = new Sqlite(join(dir, "innkeep.db"), { readonly: true });
  return {
    sees: (id: string): boolean =>
      database.prepare("select 1 from notes where id = ?").get(id) !== undefined,
    [Symbol.dispose]: () => database.close(),
  };
}

test("a unit that fails takes back its own writes and leaves its siblings theirs", async () => {
  await using opened = openStore();
  const { store } = opened;
  const outcomes = await Promise.allSettled([
    store.write((db) => addNote(db, "first")),
    store.write(async (db) => {
      await addNote(db, "second");
      throw new Error("changed its mind");
    }),
    store.write(async (db) => {
      await addNote(db, "third");
      await addNote(db, "first");
    }),
    store.write((db) => addNote(db, "fourth")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
    "fulfilled",
  ]);
  expect(await noteIds(store)).toEqual(["first", "fourth"]);
});

test("a commit that fails rejects all of its units, and the next ones work", async () => {
  await using opened = openStore();
  const { store } = opened;
  const orphan = (id: string) =>
    store.write((db) => notes(db).insertInto("lines").values({ id, note_id: "nobody" }).execute());
  // A busy machine may cut a batch in two: tried until all four are in one.
  let together = false;
  for (let round = 0; round < 50 && !together; round++) {
    const [a, b] = [`a${round}`, `b${round}`];
    const [first, fault, second, own] = await Promise.allSettled([
      store.write((db) => addNote(db, a)),
      orphan(`orphan${round}`),
      store.write((db) => addNote(db, b)),
      store.write(() => Promise.reject(new Error("its own reason"))),
    ]);
    expect([fault.status, own.status]).toEqual(["rejected", "rejected"]);
    const present = await noteIds(store);
    expect(present.includes(a)).toBe(first.status === "fulfilled");
    expect(present.includes(b)).toBe(second.status === "fulfilled");
    together = [first, fault, second, own].every((outcome) =>
      String((outcome as PromiseRejectedResult).reason).includes("FOREIGN KEY"),
    );
  }
  expect(together).toBe(true);
  await store.write((db) => addNote(db, "c"));
  expect(await noteIds(store)).toContain("c");
});

test("nobody hears of success or refusal before the commit has returned", async () => {
  await using opened = openStore();
  const { store, dir } = opened;
  using observer = observe(dir);
  const heard: [string, boolean][] = [];
  const units = ["a", "b", "refused", "c"].map(async (id) => {
    const written = store.write(async (db) => {
      if (id === "refused") throw new Error("no");
      await addNote(db, id);
    });
    // All of them share a commit, so whoever hears of anything must find the row of the first.
    await written.then(
      () => heard.push([id, observer.sees("a") && observer.sees(id)]),
      () => heard.push([id, observer.sees("a") && !observer.sees(id)]),
    );
  });
  await Promise.all(units);
  expect(heard).toEqual([
    ["a", true],
    ["b", true],
    ["refused", true],
    ["c", true],
  ]);
});

test("units that come together share commits", async () => {
  await using opened = openStore();
  const { store } = opened;
  const { commits, units } = store.stats;
  const many = 300;
  await Promise.all(
    Array.from({ length: many }, (_, i) => store.write((db) => addNote(db, String(i)))),
  );
  expect(store.stats.units - units).toBe(many);
  expect(store.stats.commits - commits).toBeLessThan(many / 2);
  expect(await noteIds(store)).toHaveLength(many);
});

test("no unit waits for ever, whenever it comes in", async () => {
  await using opened = openStore();
  const { store } = opened;
  // Tried with every mixture of turns: at once, some microtasks later, a macrotask later, a timer later.
  const turns = [
    async () => {},
    async () => {
      for (let n = Math.random() * 20; n > 0; n--) await Promise.resolve();
    },
    () => new Promise<void>((resolve) => setImmediate(resolve)),
    () => Bun.sleep(Math.random() * 2),
  ];
  const turn = () => (turns[Math.floor(Math.random() * turns.length)] as () => Promise<void>)();
  let settled = 0;
  const client = async (): Promise<void> => {
    for (let i = 0; i < 150; i++) {
      await turn();
      await store.write(async () => {});
      settled++;
    }
  };
  const all = Promise.all(Array.from({ length: 40 }, client)).then(() => "all settled");
  expect(await Promise.race([all, Bun.sleep(30_000).then(() => `${settled} settled`)])).toBe(
    "all settled",
  );
}, 40_000);

test("a straggler that uses its handle after its unit throws and writes nothing", async () => {
  await using opened = openStore();
  const { store } = opened;
  const count = prepared<{ text: string }>()((db, { text }) =>
    notes(db).selectFrom("notes").selectAll().where("text", "=", text),
  );
  let kept: Database | undefined;
  let parallel: Promise<void> | undefined;
  await store.write(async (db) => {
    kept = db;
    await addNote(db, "in time");
    // Not awaited: it comes too late.
    parallel = Bun.sleep(1).then(() => addNote(db, "too late"));
  });
  const db = kept as Database;
  const late = /used after its unit/;
  expect((await refusal(parallel as Promise<void>)).message).toMatch(late);
  await store.write(async () => {
    expect((await refusal(addNote(db, "in another's unit"))).message).toMatch(late);
    expect((await refusal(addNote(acrossAccounts(db), "across"))).message).toMatch(late);
    expect((await refusal(count(db, { text: "" }))).message).toMatch(late);
  });
  const failed = store.write(async (own) => {
    kept = own;
    throw new Error("failed");
  });
  await refusal(failed);
  expect((await refusal(addNote(kept as Database, "after a failure"))).message).toMatch(late);
  await store.read(async (own) => void (kept = own));
  expect((await refusal(count(kept as Database, { text: "" }))).message).toMatch(late);
  expect(await noteIds(store)).toEqual(["in time"]);
});

test("a unit cannot open a transaction of its own", async () => {
  await using opened = openStore();
  const { store } = opened;
  const nested = store.write((db) => db.transaction().execute(() => Promise.resolve()));
  expect((await refusal(nested)).message).toContain("a transaction already");
});

test("a unit that awaits something else than the database is ended, and its siblings go on", async () => {
  await using opened = openStore();
  const { store } = opened;
  let woken: Promise<Error> | undefined;
  const [before, hanging, behind] = await Promise.allSettled([
    store.write((db) => addNote(db, "before")),
    store.write(async (db) => {
      await addNote(db, "hanging");
      const asleep = Bun.sleep(600).then(() => addNote(db, "woken"));
      woken = refusal(asleep);
      await asleep;
    }),
    store.write((db) => addNote(db, "behind")),
  ]);
  expect([before?.status, behind?.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(String((hanging as PromiseRejectedResult).reason)).toContain("250 ms");
  expect((await (woken as Promise<Error>)).message).toContain("used after its unit");
  expect(await noteIds(store)).toEqual(["before", "behind"]);
});

test("several units that hang, one behind the other, are all ended", async () => {
  await using opened = openStore();
  const { store } = opened;
  const hang = () => store.write(() => new Promise(() => {}));
  const outcomes = await Promise.allSettled([hang(), hang(), hang()]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
});

test("timers get their turn while many units are worked off", async () => {
  await using opened = openStore();
  const { store } = opened;
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const busy = async (db: Database, id: string): Promise<void> => {
    for (const end = performance.now() + 2; performance.now() < end;);
    await addNote(db, id);
  };
  await Promise.all(
    Array.from({ length: 120 }, (_, i) => store.write((db) => busy(db, String(i)))),
  );
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(10);
});

test("a unit that ends the transaction by itself is told, and so are its siblings", async () => {
  await using opened = openStore();
  const { store } = opened;
  for (const statement of ["rollback", "release unit", "rollback to nothing"]) {
    const outcomes = Promise.allSettled([
      store.write((db) => sql.raw(statement).execute(db)),
      store.write((db) => addNote(db, `beside ${statement}`)),
    ]);
    const settled = await Promise.race([outcomes, Bun.sleep(5000)]);
    expect(settled?.[0]?.status).toBe("rejected");
  }
  await store.write((db) => addNote(db, "afterwards"));
  expect(await noteIds(store)).toContain("afterwards");
});

test("a unit that goes on after SQLite has rolled everything back writes nothing", async () => {
  await using opened = openStore();
  const { store } = opened;
  // As a full disk would end it: the unit catches the error and tries something smaller.
  const written = store.write(async (db) => {
    await addNote(db, "before");
    await sql.raw("rollback").execute(db);
    await addNote(db, "after").catch(() => {});
  });
  await refusal(written);
  expect(await noteIds(store)).toEqual([]);
});

test("a full disk leaves of a batch what was told of, nothing else, and room mends it", async () => {
  await using opened = openStore();
  const { store } = opened;
  const limit = (pages: string) =>
    store.write((db) => sql.raw(`pragma max_page_count = ${pages}`).execute(db));
  await limit("1");
  const ids = ["a", "b", "huge", "c", "d"];
  const outcomes = await Promise.allSettled(
    ids.map((id) => store.write((db) => addNote(db, id, "x".repeat(id === "huge" ? 1e6 : 1)))),
  );
  const told = ids.filter((_, place) => outcomes[place]?.status === "fulfilled");
  expect(told).not.toContain("huge");
  expect(await noteIds(store)).toEqual(told);
  const huge = outcomes[2] as PromiseRejectedResult;
  expect((huge.reason as { code: string }).code).toBe("SQLITE_FULL");
  await limit("1000000");
  await store.write((db) => addNote(db, "huge", "x".repeat(1e6)));
  expect(await noteIds(store)).toEqual([...told, "huge"].toSorted());
});

test("another process that holds the write lock is waited for, without blocking this one", async () => {
  await using opened = openStore();
  const { store, dir } = opened;
  const other = new Sqlite(join(dir, "innkeep.db"));
  other.exec("begin immediate");
  other.prepare("insert into notes values ('theirs', '')").run();
  let settled = false;
  const written = store.write((db) => addNote(db, "ours")).finally(() => (settled = true));
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  await Bun.sleep(150);
  clearInterval(timer);
  expect(settled).toBe(false);
  expect(ticks).toBeGreaterThan(2);
  expect(await noteIds(store)).toEqual([]);
  other.exec("commit");
  await written;
  other.close();
  expect(await noteIds(store)).toEqual(["ours", "theirs"]);
});

test("a closed database refuses further units, after those at hand", async () => {
  const opened = openStore();
  const { store, dir } = opened;
  const atHand = store.write((db) => addNote(db, "at hand"));
  const closing = store.close();
  expect((await refusal(store.write((db) => addNote(db, "late")))).message).toContain("closed");
  await Promise.all([atHand, closing]);
  using observer = observe(dir);
  expect([observer.sees("at hand"), observer.sees("late")]).toEqual([true, false]);
});

test("only what SQLite calls busy is busy", () => {
  const coded = (code: string): Error => Object.assign(new Error("?"), { code });
  expect(isBusy(coded("SQLITE_BUSY"))).toBe(true);
  expect(isBusy(coded("SQLITE_BUSY_SNAPSHOT"))).toBe(true);
  expect(isBusy(coded("SQLITE_FULL"))).toBe(false);
  expect(isBusy(new Error("SQLITE_BUSY"))).toBe(false);
  expect(isBusy("SQLITE_BUSY")).toBe(false);
});
