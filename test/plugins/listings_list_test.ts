import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Client, Json } from "../fixture.ts";
import { fault, type Inn, openInn } from "./inn.ts";

let inn: Inn;
let client: Client;
const made = new Map<string, Json>();

beforeAll(async () => {
  inn = await openInn();
  ({ client } = inn);
  const add = async (title: string, fields: object = {}): Promise<void> => {
    made.set(title, await inn.listing({ title, ...fields }));
    inn.clock.advance(60_000);
  };
  await add("Lake house", { internal_name: "LH-1", tags: ["lake", "a_b"], status: "draft" });
  await add("Sea house 100%", { tags: ["sea"], status: "inactive" });
  await add("Élodie's loft", {
    internal_name: "under_score",
    tags: ["lakes", "axb"],
    external_id: "ext-1",
  });
  await add("mill");
  await client("POST", `/v1/listings/${made.get("mill")?.id}/archive`, {});
});
afterAll(() => inn[Symbol.asyncDispose]());

const titles = async (query: string): Promise<string[]> => {
  const { status, json, text } = await client("GET", `/v1/listings?${query}`);
  if (status !== 200) throw new Error(text);
  return json.data.map(({ title }: Json) => title);
};
const q = (text: string): Promise<string[]> => titles(`q=${encodeURIComponent(text)}`);

test("listings come newest first, archived ones too: nothing is hidden by default", async () => {
  expect(await titles("")).toEqual(["mill", "Élodie's loft", "Sea house 100%", "Lake house"]);
});

test("listings sort by title, by creation and by change, in both directions", async () => {
  expect(await titles("sort=title")).toEqual([
    "Lake house",
    "Sea house 100%",
    "mill",
    "Élodie's loft",
  ]);
  expect(await titles("sort=-title")).toEqual([
    "Élodie's loft",
    "mill",
    "Sea house 100%",
    "Lake house",
  ]);
  expect((await titles("sort=created_at"))[0]).toBe("Lake house");
  inn.clock.advance(60_000);
  await client("PATCH", `/v1/listings/${made.get("Lake house")?.id}`, { max_guests: 3 });
  expect((await titles("sort=-updated_at"))[0]).toBe("Lake house");
  expect(fault(await client("GET", "/v1/listings?sort=status"))).toEqual([
    422,
    "validation_failed",
    "sort",
  ]);
});

test("listings are narrowed by one status or several", async () => {
  expect(await titles("status=draft")).toEqual(["Lake house"]);
  expect(await titles("status=draft,archived")).toEqual(["mill", "Lake house"]);
  expect(await titles("status=draft&status=inactive")).toEqual(["Sea house 100%", "Lake house"]);
  expect(fault(await client("GET", "/v1/listings?status=gone"))).toEqual([
    422,
    "validation_failed",
    "status[0]",
  ]);
});

test("q finds a part of the title or of the internal name, whatever its case", async () => {
  expect(await q("HOUSE")).toEqual(["Sea house 100%", "Lake house"]);
  expect(await q("lh-")).toEqual(["Lake house"]);
  expect(await q("Élodie")).toEqual(["Élodie's loft"]);
  expect(await q("'s l")).toEqual(["Élodie's loft"]);
});

test("q takes %, _ and \\ for what they are", async () => {
  expect(await q("100%")).toEqual(["Sea house 100%"]);
  expect(await q("%")).toEqual(["Sea house 100%"]);
  expect(await q("r_s")).toEqual(["Élodie's loft"]);
  expect(await q("_")).toEqual(["Élodie's loft"]);
  expect(await q("\\")).toEqual([]);
});

test("tag finds whole tags only", async () => {
  expect(await titles("tag=lake")).toEqual(["Lake house"]);
  expect(await titles("tag=a_b")).toEqual(["Lake house"]);
  expect(await titles("tag=%25")).toEqual([]);
});

test("external_id, created_since and updated_since narrow, the instant itself included", async () => {
  expect(await titles("external_id=ext-1")).toEqual(["Élodie's loft"]);
  const loft = made.get("Élodie's loft");
  expect(await titles(`created_since=${loft?.created_at}`)).toEqual(["mill", "Élodie's loft"]);
  expect(await titles("updated_since=2027-01-10T12:03:30Z&status=archived")).toEqual(["mill"]);
  expect(fault(await client("GET", "/v1/listings?updated_since=2027-01-10"))).toEqual([
    422,
    "validation_failed",
    "updated_since",
  ]);
});
