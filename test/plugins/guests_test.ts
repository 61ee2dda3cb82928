import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import type { Json } from "../fixture.ts";
import { fault, type Inn, openInn, today } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const add = async (fields: object): Promise<Json> => {
  const reply = await inn.client("POST", "/v1/guests", fields);
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  return reply.json;
};
const patch = ({ id }: Json, fields: object) => inn.client("PATCH", `/v1/guests/${id}`, fields);
const names = async (query: string): Promise<string[]> => {
  const { status, json, text } = await inn.client("GET", `/v1/guests?${query}`);
  if (status !== 200) throw new Error(text);
  return json.data.map(({ full_name }: Json) => full_name);
};

describe("a guest", () => {
  beforeEach(() => inn.clock.set(today));

  test("has no address that takes the server minutes to look at", async () => {
    const since = performance.now();
    const email = `a@${".".repeat(200_000)}@`;
    expect(fault(await inn.client("POST", "/v1/guests", { full_name: "A", email }))).toEqual([
      422,
      "validation_failed",
      "email",
    ]);
    expect(performance.now() - since).toBeLessThan(2000);
  });

  test("needs a name, and has null for what is not known", async () => {
    const guest = await add({ full_name: "Ada Lovelace" });
    expect(guest).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      account_id: inn.server.account_id,
      full_name: "Ada Lovelace",
      email: null,
      phone: null,
      locale: null,
      notes: null,
      tags: [],
      created_at: "2027-01-10T12:00:00Z",
      updated_at: "2027-01-10T12:00:00Z",
      version: 1,
    });
    expect((await inn.client("GET", `/v1/guests/${guest.id}`)).json).toEqual(guest);
    for (const full_name of ["", "x".repeat(201), null, 7]) {
      expect(fault(await inn.client("POST", "/v1/guests", { full_name }))).toEqual([
        422,
        "validation_failed",
        "full_name",
      ]);
    }
  });

  test("has an address, a telephone and a language in their usual forms", async () => {
    const wrong = {
      email: ["ada", "ada@", "a da@example.com", "@example.com", "ada@example"],
      phone: ["0612345678", "+0612345", "+39 06 1234", "+12"],
      locale: ["Italian", "it_IT"],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const reply = await inn.client("POST", "/v1/guests", { full_name: "Ada", [field]: value });
        expect([value, ...fault(reply)]).toEqual([value, 422, "validation_failed", field]);
      }
    }
    const guest = await add({
      full_name: "Ada",
      email: "Ada@Example.COM",
      phone: "+390612345678",
      locale: "it-IT",
    });
    expect([guest.email, guest.phone, guest.locale]).toEqual([
      "ada@example.com",
      "+390612345678",
      "it-IT",
    ]);
  });

  test("keeps what a change does not name", async () => {
    const full = {
      full_name: "Grace",
      email: "grace@example.com",
      phone: "+15551234567",
      locale: "en",
      notes: "Likes tea",
      tags: ["vip"],
    };
    const guest = await add(full);
    inn.clock.advance(1000);
    const { json } = await patch(guest, { full_name: "Grace Hopper" });
    expect(json).toEqual({
      ...guest,
      full_name: "Grace Hopper",
      updated_at: "2027-01-10T12:00:01Z",
      version: 2,
    });
    const cleared = await patch(guest, { email: null, tags: [] });
    expect(cleared.json).toMatchObject({
      full_name: "Grace Hopper",
      email: null,
      tags: [],
      notes: "Likes tea",
      version: 3,
    });
  });

  test("is found by the address that a change has given, however it was written", async () => {
    const guest = await add({ full_name: "Mary" });
    const { json } = await patch(guest, { email: "Mary@Example.org" });
    expect(json.email).toBe("mary@example.org");
    expect(await names("email=MARY@example.ORG")).toEqual(["Mary"]);
  });

  test("is told of by no event, and by the audit log without personal data", async () => {
    const told = await inn.told(async () => {
      const guest = await add({
        full_name: "Hedy Lamarr",
        email: "hedy@example.com",
        phone: "+43123456789",
        notes: "Allergic",
      });
      await patch(guest, { notes: "Not allergic" });
    });
    expect(told).toEqual([]);
    const log = (await inn.server.rows("audit_entries")).slice(-2);
    expect(log.map(({ operation, outcome }) => [operation, outcome])).toEqual([
      ["guests.create", "ok"],
      ["guests.update", "ok"],
    ]);
    for (const word of ["Hedy", "hedy@", "+43123", "llergic"])
      expect(JSON.stringify(log)).not.toContain(word);
  });
});

describe("a list of guests", () => {
  const tag = "search";
  beforeAll(async () => {
    for (const [full_name, email] of [
      ["Zoë Underscore_d", "zoe_1@example.net"],
      ["Élodie 100%", "elodie@example.net"],
      ["Bob O'Brien", "bob@example.net"],
      ["bobby tables", null],
    ]) {
      await add({ full_name, email, tags: [tag] });
      inn.clock.advance(60_000);
    }
  });

  test("is searched by a part of the name or of the address, whatever its case", async () => {
    expect(await names("q=BOB")).toEqual(["bobby tables", "Bob O'Brien"]);
    expect(await names("q=o%27b")).toEqual(["Bob O'Brien"]);
    expect(await names("q=ELODIE%40")).toEqual(["Élodie 100%"]);
    expect(await names(`q=${encodeURIComponent("Élodie")}`)).toEqual(["Élodie 100%"]);
    expect(await names("q=%25")).toEqual(["Élodie 100%"]);
    expect(await names("q=_")).toEqual(["Zoë Underscore_d"]);
    expect(await names("q=nobody")).toEqual([]);
  });

  test("is narrowed by the whole address, and by the instant of a change", async () => {
    expect(await names("email=bob%40example.net")).toEqual(["Bob O'Brien"]);
    expect(await names("email=ob%40example.net")).toEqual([]);
    const [last] = (await inn.client("GET", "/v1/guests?limit=1")).json.data;
    expect(await names(`updated_since=${last.updated_at}`)).toEqual(["bobby tables"]);
    expect(fault(await inn.client("GET", "/v1/guests?email=bob"))).toEqual([
      422,
      "validation_failed",
      "email",
    ]);
  });

  test("is sorted by name or by age", async () => {
    expect(await names("sort=full_name&q=example.net")).toEqual([
      "Bob O'Brien",
      "Zoë Underscore_d",
      "Élodie 100%",
    ]);
    expect((await names("sort=created_at&q=example.net"))[0]).toBe("Zoë Underscore_d");
  });
});
