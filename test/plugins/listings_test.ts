import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { acrossAccounts, tables } from "../../core/db/mod.ts";
import type { Json } from "../fixture.ts";
import { fault, type Inn, openInn, sorted } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const small = { title: "Lake house", timezone: "Europe/Rome", currency: "EUR" };
const create = (fields: object) => inn.client("POST", "/v1/listings", { ...small, ...fields });
const patch = ({ id }: Json, fields: object, headers = {}) =>
  inn.client("PATCH", `/v1/listings/${id}`, fields, headers);
const rowOf = async ({ id }: Json): Promise<Json> =>
  (await inn.server.rows("listings")).find((row) => row.id === id);

describe("amounts", () => {
  test("are shown with the digits of their currency and stored in minor units", async () => {
    const cases = [
      ["EUR", "120.5", "120.50", 12_050],
      ["EUR", "120", "120.00", 12_000],
      ["EUR", "007.50", "7.50", 750],
      ["EUR", "0.1", "0.10", 10],
      ["EUR", "0", "0.00", 0],
      ["EUR", "19.9900", "19.99", 1999],
      ["EUR", "123456789012.34", "123456789012.34", 12_345_678_901_234],
      ["JPY", "12000", "12000", 12_000],
      ["JPY", "12000.00", "12000", 12_000],
      ["KWD", "1.234", "1.234", 1234],
      ["KWD", "1.2", "1.200", 1200],
    ] as const;
    for (const [currency, given, shown, stored] of cases) {
      const { status, json } = await create({ currency, base_price: given });
      expect([given, status, json.base_price]).toEqual([given, 201, shown]);
      expect((await rowOf(json)).base_price).toBe(stored);
      const read = await inn.client("GET", `/v1/listings/${json.id}`);
      expect(read.json.base_price).toBe(shown);
    }
  });

  test("with more decimals than their currency has are refused", async () => {
    for (const [currency, amount] of [
      ["EUR", "1.234"],
      ["EUR", "0.001"],
      ["JPY", "120.5"],
      ["KWD", "0.0001"],
    ]) {
      expect(fault(await create({ currency, cleaning_fee: amount }))).toEqual([
        422,
        "validation_failed",
        "cleaning_fee",
      ]);
    }
    const listing = await inn.listing({ currency: "JPY", base_price: "9000" });
    expect(fault(await patch(listing, { base_price: "9000.5" }))).toEqual([
      422,
      "validation_failed",
      "base_price",
    ]);
    expect((await rowOf(listing)).base_price).toBe(9000);
  });

  test("are decimal strings and nothing else", async () => {
    for (const amount of [
      120.5,
      "1e3",
      "1,5",
      ".5",
      "5.",
      "+5",
      "€5",
      "",
      " 5",
      "1 000",
      "Infinity",
      "0x10",
      "5.12345",
    ]) {
      expect([amount, ...fault(await create({ base_price: amount }))]).toEqual([
        amount,
        422,
        "validation_failed",
        "base_price",
      ]);
    }
  });
});

describe("the words of a listing", () => {
  test("are those of the documentation", async () => {
    const words = {
      property_type:
        "apartment house villa cabin condo townhouse guesthouse guest_suite loft studio bungalow chalet cottage boat " +
        "hotel_room hostel aparthotel farm_stay tiny_home rv other",
      room_type: "entire_place private_room shared_room hotel_room",
      cancellation_policy: "flexible moderate firm strict non_refundable custom",
      status: "draft active inactive",
    };
    for (const [field, list] of Object.entries(words)) {
      for (const word of list.split(" ")) {
        const { status, json } = await create({ [field]: word });
        expect([word, status, json[field]]).toEqual([word, 201, word]);
      }
      const wrong = await create({ [field]: "castle" });
      expect(fault(wrong)).toEqual([422, "validation_failed", field]);
      expect(wrong.json.error.details[0].code).toBe("not_allowed");
    }
    expect(fault(await create({ status: "archived" }))).toEqual([
      422,
      "validation_failed",
      "status",
    ]);
  });

  test("name real zones, currencies, times and countries", async () => {
    const wrong = {
      timezone: ["Mars/Base", "+02:00", "Rome", "", "Europe/Rome "],
      currency: ["EURO", "eur", "E1R", "", "ZZZ"],
      check_in_time: ["24:00", "9:00", "15:60", "15:00:00"],
      locale: ["Italian", "it_IT", "i"],
      bathrooms: [0.3, -1, 101],
      max_guests: [0, 1.5, 501],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        expect([value, ...fault(await create({ [field]: value }))]).toEqual([
          value,
          422,
          "validation_failed",
          field,
        ]);
      }
    }
    const place = { country_code: "Italy", latitude: 91 };
    const reply = await create({ address: place });
    expect(sorted(fault(reply).slice(2))).toEqual(["address.country_code", "address.latitude"]);
  });
});

describe("a new listing", () => {
  test("may be as wrong as it likes: it is refused at once", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const body = JSON.stringify({ ...small, tags: "?" }).replace('"?"', deep);
    const tags = await inn.client("POST", "/v1/listings", body);
    expect(fault(tags)).toEqual([422, "validation_failed", "tags[0]"]);
    const amenities = Array.from({ length: 100_000 }, (_, count) => count.toString(36));
    expect(fault(await create({ amenities }))).toEqual([422, "validation_failed", "amenities"]);
    const timezone = "A".repeat(900_000);
    expect(fault(await create({ timezone }))).toEqual([422, "validation_failed", "timezone"]);
  });

  test("needs a title, a zone and a currency, has sensible values for the rest, and is told of", async () => {
    let listing: Json;
    const told = await inn.told(async () => {
      const reply = await create({});
      expect(reply.status).toBe(201);
      expect(reply.headers.get("location")).toBe(`/v1/listings/${reply.json.id}`);
      expect(reply.headers.get("etag")).toBe('"1"');
      listing = reply.json;
    });
    expect(listing).toMatchObject({
      ...small,
      account_id: inn.server.account_id,
      status: "active",
      property_type: "apartment",
      check_in_time: "15:00",
      check_out_time: "11:00",
      base_price: null,
      address: null,
      tags: [],
      metadata: {},
      created_at: "2027-01-10T12:00:00Z",
      version: 1,
    });
    const { wifi_password: _password, access_instructions: _access, ...open } = listing;
    const changed_fields = expect.arrayContaining(["title", "timezone", "currency"]);
    const more = {
      listing_id: listing.id,
      listing_title: "Lake house",
      change: "created",
      changed_fields,
    };
    expect(told).toEqual([["listing.updated", { ...open, ...more }]]);
  });

  test("keeps every field that is given", async () => {
    const given = {
      address: {
        line1: "Via Roma 1",
        line2: null,
        city: "Como",
        state: null,
        postal_code: "22100",
        country_code: "IT",
        latitude: 45.81,
        longitude: 9.08,
        display: "Como",
      },
      room_details: [{ kind: "bedroom", beds: [{ type: "double", quantity: 1 }] }],
      house_rules: {
        pets_allowed: true,
        smoking_allowed: false,
        events_allowed: false,
        children_allowed: true,
        quiet_hours: { from: "22:00", to: "08:00" },
      },
      amenities: ["wifi", "kitchen"],
      bathrooms: 1.5,
      area_sqm: 82.5,
      instant_book: false,
      tags: ["lake", "größe"],
      metadata: { note: 'with "quotes"', "a/b\nc": "any name", [`${"n".repeat(40)}`]: "long name" },
      description: "Zwei Zimmer.\nSeeblick 🏞️",
    };
    const { json } = await create(given);
    expect(json).toMatchObject(given);
    expect((await inn.client("GET", `/v1/listings/${json.id}`)).json).toEqual(json);
  });

  test("takes an external_id that is new in its account", async () => {
    const external_id = "unit 7/ß";
    const first = await create({ external_id });
    const again = await create({ external_id });
    expect([again.status, again.json.error.code, again.json.error.id]).toEqual([
      409,
      "duplicate",
      first.json.id,
    ]);
    const other = await inn.listing();
    expect(fault(await patch(other, { external_id }))).toEqual([409, "duplicate"]);
    expect((await patch(first.json, { external_id })).status).toBe(200);
    const stranger = await inn.server.key({ account_id: await inn.server.account() });
    expect((await stranger.client("POST", "/v1/listings", { ...small, external_id })).status).toBe(
      201,
    );
  });
});

test("metadata have names of 1 to 40 characters, and no other", async () => {
  const listing = await inn.listing();
  const wrong = { "": "metadata.", ["n".repeat(41)]: `metadata.${"n".repeat(41)}` };
  for (const [name, field] of Object.entries(wrong)) {
    for (const reply of [
      await create({ metadata: { [name]: "x" } }),
      await patch(listing, { metadata: { good: "x", [name]: "x" } }),
      await inn.book(listing, "2027-05-01", "2027-05-02", { metadata: { [name]: "x" } }),
    ]) {
      expect(fault(reply)).toEqual([422, "validation_failed", field]);
      expect(reply.json.error.details[0]).toMatchObject({
        code: "invalid_name",
        message: `"${field}": its name must have 1 to 40 characters`,
      });
    }
  }
  expect(fault(await create({ metadata: { n: "x".repeat(501) } }))).toEqual([
    422,
    "validation_failed",
    "metadata.n",
  ]);
});

describe("a key that is restricted to listings", () => {
  test("is told that an external_id is taken, but not by which listing", async () => {
    const [own, other] = [await inn.listing(), await inn.listing({ external_id: "hidden" })];
    const { client } = await inn.server.key({ listing_ids: [own.id] });
    const reply = await client("PATCH", `/v1/listings/${own.id}`, { external_id: "hidden" });
    expect(fault(reply)).toEqual([409, "duplicate"]);
    expect(reply.json.error).not.toHaveProperty("id");
    expect(reply.text).not.toContain(other.id);
    const both = await inn.server.key({ listing_ids: [own.id, other.id] });
    const told = await both.client("PATCH", `/v1/listings/${own.id}`, { external_id: "hidden" });
    expect([told.json.error.id, told.json.error.resource]).toEqual([other.id, "listing"]);
  });
});

describe("a changed listing", () => {
  test("is told of with exactly the fields that differ", async () => {
    const listing = await inn.listing({ title: "Old", base_price: "100", tags: ["a"] });
    const told = await inn.told(async () => {
      const { json } = await patch(listing, {
        title: "New",
        base_price: "100.00",
        tags: ["a"],
        max_guests: 4,
      });
      expect(json).toMatchObject({ title: "New", base_price: "100.00", max_guests: 4, version: 2 });
    });
    expect(told).toHaveLength(1);
    const [name, data] = told[0] ?? ["", {}];
    expect([name, data.change, data.changed_fields, data.version]).toEqual([
      "listing.updated",
      "updated",
      ["title", "max_guests"],
      2,
    ]);
  });

  test("is not told of, and keeps its version, when nothing differs", async () => {
    const listing = await inn.listing({ base_price: "100" });
    const told = await inn.told(async () => {
      for (const same of [
        {},
        { title: "Lake house" },
        { base_price: "100.00" },
        { base_price: "100" },
        { tags: [] },
      ]) {
        const { json } = await patch(listing, same);
        expect(json).toEqual(listing);
      }
    });
    expect(told).toEqual([]);
  });

  test("cannot be a unit of itself, and keeps its currency", async () => {
    const listing = await inn.listing();
    expect(fault(await patch(listing, { parent_listing_id: listing.id }))).toEqual([
      409,
      "invalid_transition",
    ]);
    expect(fault(await patch(listing, { currency: "USD" }))).toEqual([
      422,
      "validation_failed",
      "currency",
    ]);
    const unit = await create({ parent_listing_id: listing.id });
    expect(unit.json.parent_listing_id).toBe(listing.id);
  });

  test("cannot be a unit of what is a unit of it, however far down", async () => {
    const chain = [await inn.listing()];
    for (let depth = 0; depth < 5; depth++)
      chain.push(await inn.listing({ parent_listing_id: chain.at(-1).id }));
    const [top, ...units] = chain;
    for (const unit of units) {
      const reply = await patch(top, { parent_listing_id: unit.id });
      expect(fault(reply)).toEqual([409, "invalid_transition"]);
      expect(reply.json.error.message).toContain(unit.id);
    }
    expect((await rowOf(top)).parent_listing_id).toBeNull();
    // Sideways and upwards are no circles, and the same parent again is none either.
    const [, second, , , , last] = chain;
    expect((await patch(last, { parent_listing_id: second.id })).status).toBe(200);
    expect((await patch(last, { parent_listing_id: second.id })).status).toBe(200);
    expect((await patch(top, { parent_listing_id: (await inn.listing()).id })).status).toBe(200);
  });

  test("whose parents go round in a circle already can be put right", async () => {
    const [a, b, c] = [await inn.listing(), await inn.listing(), await inn.listing()];
    await inn.server.app.store.write(async (db) => {
      for (const [id, parent_listing_id] of [
        [a.id, b.id],
        [b.id, a.id],
      ]) {
        await tables<{ listings: Json }>(acrossAccounts(db))
          .updateTable("listings")
          .set({ parent_listing_id })
          .where("account_id", "=", a.account_id)
          .where("id", "=", id)
          .execute();
      }
    });
    expect((await patch(c, { parent_listing_id: a.id })).status).toBe(200);
    expect((await patch(a, { parent_listing_id: null })).status).toBe(200);
  });
});
