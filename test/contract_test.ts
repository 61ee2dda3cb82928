/**
 * The contract that every plugin keeps, tested from its declarations: a new plugin is covered without a line here.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import Sqlite from "better-sqlite3";

import { declared, migrationsOf } from "../core/app.ts";
import { migrateFile } from "../core/db/mod.ts";
import { openapi } from "../core/http/openapi.ts";
import { sample } from "../core/plugin/sample.ts";
import type { EventType } from "../core/plugin/types.ts";
import { plugins } from "../plugins/mod.ts";
import { answers, conditionalReads } from "./contract/answers.ts";
import { misfits } from "./contract/fits.ts";
import { differences, golden, howToUpdate, shrinkage } from "./contract/golden.ts";
import { type House, openHouse } from "./contract/house.ts";
import { refusals } from "./contract/refusals.ts";
import { repeats } from "./contract/repeats.ts";
import { lists, strangers } from "./contract/strangers.ts";
import { toolsListed, toolStrangers } from "./contract/tools.ts";
import { temporaryDir } from "./fixture.ts";

const registry = declared(plugins);
const ofCore = registry.plugins
  .filter((plugin) => !plugins.includes(plugin))
  .map(({ name }) => name);

/** Tables of core that belong to no account: accounts themselves, people, links, the schedule. */
const ofNobody = ["identity_accounts", "identity_users", "identity_setup_links", "jobs_schedules"];

describe("every plugin", () => {
  test("is named like its folder, and every folder is in the list", async () => {
    const root = join(import.meta.dir, "../plugins");
    const folders = readdirSync(root, { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map(({ name }) => name).sort()).toEqual(plugins.map(({ name }) => name).sort());
    for (const plugin of plugins) {
      const { default: own } = (await import(join(root, plugin.name, "mod.ts"))) as {
        default: unknown;
      };
      expect(own).toBe(plugin);
    }
  });

  test("makes tables and indexes of its own name only, each of an account's with its account_id", () => {
    const database = new Sqlite(":memory:");
    const objects = (): { name: string; type: string }[] =>
      database
        .prepare("select name, type from sqlite_master where name not like 'sqlite_%'")
        .all() as { name: string; type: string }[];
    for (const { name, migrations = {} } of registry.plugins) {
      const before = objects().map((one) => one.name);
      for (const statement of Object.values(migrations).flat()) database.exec(statement);
      for (const made of objects().filter((one) => !before.includes(one.name))) {
        const own = made.name === name || made.name.startsWith(`${name}_`);
        expect([made.name, own]).toEqual([made.name, true]);
        if (made.type !== "table" || (ofCore.includes(name) && ofNobody.includes(made.name)))
          continue;
        const columns = database.pragma(`table_info(${made.name})`) as {
          name: string;
          notnull: number;
        }[];
        const account = columns.find((column) => column.name === "account_id");
        expect([made.name, account?.notnull]).toEqual([made.name, 1]);
      }
    }
  });

  test("migrates an empty database, and a second time not at all", () => {
    using temporary = temporaryDir();
    const all = migrationsOf(registry);
    const names = all.flatMap(({ plugin, migrations }) =>
      Object.keys(migrations).map((name) => ({ plugin, name })),
    );
    expect(migrateFile(temporary.dir, all)).toEqual(names);
    expect(migrateFile(temporary.dir, all)).toEqual([]);
  });
});

/** A house of its own for the tests around. */
function housed(): () => House {
  let house: House | undefined;
  beforeAll(async () => {
    house = await openHouse();
  });
  afterAll(async () => await house?.[Symbol.asyncDispose]());
  return () => {
    if (house === undefined) throw new Error("The house is not open");
    return house;
  };
}

for (const registered of registry.operations.values()) {
  describe(registered.operation.name, () => {
    const house = housed();
    answers(house, registered);
    conditionalReads(house, registered);
    refusals(house, registered);
    strangers(house, registered);
    lists(house, registered);
    repeats(house, registered);
    const { tool } = registered.operation;
    if (tool !== undefined) toolStrangers(house, tool.name, registered, registered.reads);
  });
}

for (const tool of registry.tools.values()) {
  describe(tool.name, () => {
    const house = housed();
    toolStrangers(house, tool.name, { operation: tool }, tool.read_only);
  });
}

describe("every event", () => {
  const house = housed();

  test("has a sample that fits its payload exactly", () => {
    for (const { name, payload } of registry.events.values()) {
      expect([name, ...misfits(payload, sample(payload))]).toEqual([name]);
    }
  });

  test("that is declared or emitted is in the catalogue, with its sample, its schema and its scope", async () => {
    const { client } = await house().party();
    const { json } = await client("GET", "/v1/webhooks/events");
    const catalogue = new Map<string, Record<string, unknown>>(
      json.data.map((entry: { name: string }) => [entry.name, entry]),
    );
    const emitted = registry.operations
      .values()
      .flatMap(({ operation }) => (operation.emits ?? []) as EventType[]);
    for (const { name } of [...emitted, ...registry.events.values()])
      expect([...catalogue.keys()]).toContain(name);
    expect(catalogue.size).toBe(registry.events.size);
    for (const [name, event] of registry.events) {
      const {
        scope,
        schema,
        sample: example,
        schema_version,
        echo_guarded,
      } = catalogue.get(name) ?? {};
      expect({ name, scope, schema_version, echo_guarded }).toEqual({
        name,
        scope: event.scope,
        schema_version: event.schema_version ?? 1,
        echo_guarded: event.echo_guarded === true,
      });
      expect(schema).toEqual(JSON.parse(JSON.stringify(event.payload)));
      expect(misfits(event.payload, example)).toEqual([]);
    }
  });

  test("has a field for its listing that is never absent", () => {
    for (const { name, listing, payload } of registry.events.values()) {
      if (listing !== null)
        expect([name, payload.required]).toEqual([name, expect.arrayContaining([listing])]);
    }
  });
});

describe("the surface", () => {
  const house = housed();
  const events = Object.fromEntries(
    [...registry.events.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, scope, listing, echo_guarded = false, schema_version = 1, payload }) => [
        name,
        { scope, listing, echo_guarded, schema_version, payload },
      ]),
  );

  test("has the events of golden/events.json, whose payloads only grow under one schema_version", async () => {
    const before: typeof events = (await golden("events.json")) ?? {};
    const faults = Object.entries(before).flatMap(([name, old]) => {
      const now = events[name];
      if (now !== undefined && now.schema_version > old.schema_version) return [];
      return shrinkage(old.payload, now?.payload).map((fault) => `${name}: ${fault}`);
    });
    // What has shrunk is not written down either.
    expect(faults, "readers of these events would break: count up schema_version").toEqual([]);
    expect(await differences("events.json", events), howToUpdate).toEqual([]);
  });

  test("would not let a payload shrink unnoticed", () => {
    const field = (schema: object): object => ({
      type: "object",
      required: ["a"],
      properties: { a: schema },
    });
    const text = { type: "string" };
    const list = { type: "array", items: field(text) };
    expect(shrinkage(field(text), { type: "object", properties: {} })).toEqual([
      "a may be missing",
      "a is gone",
    ]);
    expect(shrinkage(field(text), field({ type: "integer" }))).toEqual([
      "a: string became integer",
    ]);
    expect(shrinkage(field(text), field({ anyOf: [text, { type: "null" }] }))).toEqual([
      "a: string became one of several",
    ]);
    expect(shrinkage(field(list), field({ ...list, items: field({ type: "null" }) }))).toEqual([
      "a[].a: string became null",
    ]);
    expect(shrinkage(field(text), { ...field(text), properties: { a: text, b: text } })).toEqual(
      [],
    );
  });

  test("has the paths of golden/openapi.json", async () => {
    expect(
      await differences("openapi.json", openapi(registry, "http://localhost:3000")),
      howToUpdate,
    ).toEqual([]);
  });

  test("has the tools of golden/tools.json", async () => {
    const { client } = await house().party();
    expect(await differences("tools.json", await toolsListed(client)), howToUpdate).toEqual([]);
  });
});
