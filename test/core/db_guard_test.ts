/**
 * The guard of the tests, and prepared queries under it.
 */

import { describe, expect, test } from "bun:test";

import { accountGuard } from "../../core/db/guard.ts";
import { acrossAccounts, type Database, open, prepared, tables } from "../../core/db/mod.ts";
import { temporaryDir } from "../fixture.ts";
import { refusal } from "./db_fixture.ts";

interface Things {
  things: { id: string; account_id: string; name: string };
  zones: { name: string };
}

const things = (db: Database) => tables<Things>(db);

const migrations = [
  {
    plugin: "things",
    migrations: {
      "0001_create": [
        "create table things (id text primary key, account_id text not null, name text not null)",
        "create table zones (name text primary key)",
      ],
    },
  },
];

function openGuarded() {
  const { dir, [Symbol.dispose]: remove } = temporaryDir();
  const store = open({ dataDir: dir, migrations, plugins: [accountGuard(new Set(["things"]))] });
  const dispose = async () => {
    await store.close();
    remove();
  };
  return { store, [Symbol.asyncDispose]: dispose };
}

const row = { id: "1", account_id: "mine", name: "a" };

describe("a statement on an account's table that forgets the account is refused:", () => {
  const forgetful: Record<string, (db: Database) => Promise<unknown>> = {
    "a select": (db) => things(db).selectFrom("things").selectAll().execute(),
    "a select by id": (db) =>
      things(db).selectFrom("things").selectAll().where("id", "=", "1").execute(),
    "a select of the account, which does not narrow it": (db) =>
      things(db).selectFrom("things").select("account_id").orderBy("account_id").execute(),
    "a select under another name": (db) =>
      things(db).selectFrom("things as t").select("t.id").execute(),
    "a select below another": (db) =>
      things(db)
        .selectFrom("zones")
        .selectAll()
        .where("name", "in", (below) => below.selectFrom("things").select("name"))
        .execute(),
    "an update": (db) =>
      things(db).updateTable("things").set({ name: "b" }).where("id", "=", "1").execute(),
    "an update of the account itself": (db) =>
      things(db).updateTable("things").set({ account_id: "other" }).where("id", "=", "1").execute(),
    "a delete": (db) => things(db).deleteFrom("things").where("id", "=", "1").execute(),
    "an insert": (db) =>
      things(db)
        .insertInto("things")
        .values({ id: "2", name: "b" } as never)
        .execute(),
    "a prepared select": (db) =>
      prepared<{ id: string }>()((built, { id }) =>
        things(built).selectFrom("things").selectAll().where("id", "=", id),
      )(db, { id: "1" }),
  };
  for (const [what, statement] of Object.entries(forgetful)) {
    test(what, async () => {
      await using guarded = openGuarded();
      const { store } = guarded;
      await store.write((db) => things(db).insertInto("things").values(row).execute());
      const { message } = await refusal(store.write(statement));
      expect(message).toContain('on "things" does not name its account_id');
      const left = await store.read((db) =>
        things(acrossAccounts(db)).selectFrom("things").selectAll().execute(),
      );
      expect(left).toEqual([row]);
    });
  }
});

test("statements that name the account, or mean to span accounts, pass", async () => {
  await using guarded = openGuarded();
  const { store } = guarded;
  await store.write(async (db) => {
    await things(db).insertInto("things").values(row).execute();
    await things(db).insertInto("zones").values({ name: "a" }).execute();
    await things(db)
      .updateTable("things")
      .set({ name: "b" })
      .where("account_id", "=", "mine")
      .where("id", "=", "1")
      .execute();
    const found = await things(db)
      .selectFrom("things as t")
      .select("t.name")
      .where("t.account_id", "=", "mine")
      .execute();
    expect(found).toEqual([{ name: "b" }]);
    await things(acrossAccounts(db)).updateTable("things").set({ name: "c" }).execute();
    expect(await things(acrossAccounts(db)).selectFrom("things").select("name").execute()).toEqual([
      { name: "c" },
    ]);
    await things(db).deleteFrom("things").where("account_id", "=", "mine").execute();
    expect(await things(acrossAccounts(db)).selectFrom("things").selectAll().execute()).toEqual([]);
    expect(await things(db).selectFrom("zones").selectAll().execute()).toEqual([{ name: "a" }]);
  });
});

describe("a prepared query", () => {
  let built = 0;
  const byName = prepared<{ account_id: string; name: string }>()((db, { account_id, name }) => {
    built++;
    return things(db)
      .selectFrom("things")
      .select(["id", "name"])
      .where("account_id", "=", account_id)
      .where((each) =>
        each.or([each("name", "=", name), each("id", "=", name), each("id", "=", "fixed")]),
      );
  });
  const insert = prepared<{ id: string; name: string }>()((db, { id, name }) =>
    things(db).insertInto("things").values({ id, name, account_id: "mine" }),
  );

  test("takes its parameters wherever they stand, beside fixed values, and is built once per database", async () => {
    await using one = openGuarded();
    await using other = openGuarded();
    built = 0;
    for (const [place, { store }] of [one, other].entries()) {
      await store.write(async (db) => {
        await insert(db, { id: "1", name: `first of ${place}` });
        await insert(db, { id: "fixed", name: "kept" });
        await insert(db, { id: "3", name: "x'; drop table things; --" });
      });
    }
    const names = (opened: typeof one, name: string, account_id = "mine") =>
      opened.store.read(async (db) => {
        const found = await byName(db, { account_id, name });
        return found.map((each) => each.name).toSorted();
      });
    for (const round of [0, 1, 2]) {
      expect([round, await names(one, "1")]).toEqual([round, ["first of 0", "kept"]]);
      expect(await names(other, "first of 1")).toEqual(["first of 1", "kept"]);
      expect(await names(one, "x'; drop table things; --")).toEqual([
        "kept",
        "x'; drop table things; --",
      ]);
      expect(await names(one, "1", "other")).toEqual([]);
    }
    expect(built).toBe(2);
  });

  test("with a parameter that was forgotten is refused", async () => {
    await using opened = openGuarded();
    const wrong = opened.store.write((db) => insert(db, { id: "1" } as never));
    expect((await refusal(wrong)).message).not.toBe("");
    const left = await opened.store.read((db) =>
      things(acrossAccounts(db)).selectFrom("things").selectAll().execute(),
    );
    expect(left).toEqual([]);
  });
});
