import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { fault, type Inn, openInn } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const count = async (table: string): Promise<number> => (await inn.server.rows(table)).length;

describe("a new reservation", () => {
  test("needs a listing, two dates and a guest's name", async () => {
    const listing = await inn.listing();
    const reply = await inn.book(listing, "2027-05-14", "2027-05-17");
    expect(reply.status).toBe(201);
    expect(reply.headers.get("location")).toBe(`/v1/reservations/${reply.json.id}`);
    expect(reply.json).toMatchObject({
      listing_id: listing.id,
      listing_title: "Lake house",
      status: "confirmed",
      stage: "upcoming",
      kind: "guest_stay",
      channel: "direct",
      source: "api",
      source_reservation_id: null,
      channel_reservation_id: null,
      nights: 3,
      adults: 1,
      children: 0,
      num_guests: 1,
      currency: "EUR",
      total_price: null,
      payment_status: "unpaid",
      booked_at: "2027-01-10T12:00:00Z",
      confirmed_at: "2027-01-10T12:00:00Z",
      cancelled_at: null,
      version: 1,
      guest: { full_name: "Ada Lovelace", email: null, phone: null, locale: null },
      status_history: [{ status: "confirmed", changed_at: "2027-01-10T12:00:00Z", actor: "Test" }],
    });
    expect(reply.json.confirmation_code).toMatch(/^[A-HJKMNP-Z2-9]{8}$/);
    expect(await inn.nights(listing)).toEqual(
      ["2027-05-14", "2027-05-15", "2027-05-16"].map((night): [string, string] => [
        night,
        reply.json.id,
      ]),
    );
    expect((await inn.client("GET", `/v1/reservations/${reply.json.id}`)).json).toEqual(reply.json);
  });

  test("has its check-out after its check-in, and at most two years later", async () => {
    const listing = await inn.listing();
    for (const [from, to] of [
      ["2027-05-14", "2027-05-14"],
      ["2027-05-14", "2027-05-13"],
      ["2027-05-14", "2029-05-14"],
    ] as const) {
      expect(fault(await inn.book(listing, from, to))).toEqual([
        422,
        "validation_failed",
        "check_out_date",
      ]);
    }
    expect(fault(await inn.book(listing, "2027-02-29", "2027-03-01"))).toEqual([
      422,
      "validation_failed",
      "check_in_date",
    ]);
    expect((await inn.stay(listing, "2027-05-14", "2029-05-13")).nights).toBe(730);
  });

  test("counts guests of two years and more, and refuses what cannot be", async () => {
    const listing = await inn.listing();
    const party = { adults: 2, children: 3, infants: 1, pets: 1 };
    expect((await inn.stay(listing, "2027-05-14", "2027-05-15", party)).num_guests).toBe(5);
    const wrong = {
      adults: 0,
      children: -1,
      infants: 0.5,
      channel: "airbnb.com",
      source: "My PMS",
      kind: "party",
      status: "cancelled",
    };
    for (const [field, value] of Object.entries(wrong)) {
      expect(
        fault(await inn.book(listing, "2027-06-14", "2027-06-15", { [field]: value })),
      ).toEqual([422, "validation_failed", field]);
    }
  });

  test("of an inquiry holds no nights", async () => {
    const listing = await inn.listing();
    const asked = await inn.stay(listing, "2027-05-14", "2027-05-17", { status: "inquiry" });
    expect([asked.status, asked.stage, asked.confirmed_at]).toEqual(["inquiry", "inquiry", null]);
    expect(await inn.nights(listing)).toEqual([]);
    await inn.stay(listing, "2027-05-14", "2027-05-17");
    expect(
      (await inn.book(listing, "2027-05-14", "2027-05-17", { status: "inquiry" })).status,
    ).toBe(201);
  });

  test("of any status that holds nights is refused where they are taken, and leaves nothing behind", async () => {
    const listing = await inn.listing();
    const first = await inn.stay(listing, "2027-05-14", "2027-05-17");
    const kept = await inn.client("POST", `/v1/listings/${listing.id}/calendar-blocks`, {
      start_date: "2027-05-18",
      end_date: "2027-05-20",
    });
    const guests = await count("guests");
    for (const status of ["pending", "awaiting_payment", "confirmed"]) {
      const told = await inn.told(async () => {
        const reply = await inn.book(listing, "2027-05-16", "2027-05-19", {
          status,
          guest: { full_name: "Nobody" },
        });
        expect(fault(reply)).toEqual([409, "dates_unavailable"]);
        expect(reply.json.error.conflicts).toEqual([
          { kind: "reservation", id: first.id, dates: ["2027-05-16"] },
          { kind: "block", id: kept.json.id, dates: ["2027-05-18"] },
        ]);
      });
      expect(told).toEqual([]);
    }
    expect(await count("guests")).toBe(guests);
    expect((await inn.nights(listing)).map(([date]) => date)).not.toContain("2027-05-17");
  });

  test("may begin on the day on which another ends", async () => {
    const listing = await inn.listing();
    await inn.stay(listing, "2027-05-14", "2027-05-17");
    expect((await inn.book(listing, "2027-05-17", "2027-05-18")).status).toBe(201);
    expect((await inn.book(listing, "2027-05-13", "2027-05-14")).status).toBe(201);
    expect((await inn.book(listing, "2027-05-13", "2027-05-18")).json.error.conflicts).toHaveLength(
      3,
    );
  });

  test("is one of many that come at once for the same nights", async () => {
    const listing = await inn.listing();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => inn.book(listing, "2027-05-14", "2027-05-17")),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(19);
    expect(await inn.nights(listing)).toHaveLength(3);
  });
});

describe("the guest of a reservation", () => {
  test("is the one that is known by the e-mail address, however it is written", async () => {
    const listing = await inn.listing();
    const guest = {
      full_name: "Grace Hopper",
      email: "Grace@Example.com",
      phone: "+15551234567",
      locale: "en",
    };
    const first = await inn.stay(listing, "2027-05-01", "2027-05-02", { guest });
    const guests = await count("guests");
    const again = await inn.stay(listing, "2027-05-02", "2027-05-03", {
      guest: { full_name: "G. Hopper", email: "GRACE@example.COM" },
    });
    expect(again.guest).toEqual({ id: first.guest_id, ...guest, email: "grace@example.com" });
    expect(await count("guests")).toBe(guests);
    const other = await inn.stay(listing, "2027-05-03", "2027-05-04", {
      guest: { full_name: "Grace Hopper" },
    });
    expect(other.guest_id).not.toBe(first.guest_id);
  });

  test("may be named by id, and must then be there", async () => {
    const listing = await inn.listing();
    const { json: guest } = await inn.client("POST", "/v1/guests", { full_name: "Mary" });
    expect(
      (await inn.stay(listing, "2027-05-01", "2027-05-02", { guest: { id: guest.id } })).guest
        .full_name,
    ).toBe("Mary");
    const reply = await inn.book(listing, "2027-05-03", "2027-05-04", {
      guest: { id: "0198f3a0-0000-7000-8000-000000000000" },
    });
    expect([...fault(reply), reply.json.error.resource]).toEqual([404, "not_found", "guest"]);
    expect(await inn.nights(listing)).toHaveLength(1);
  });

  test("has a name, or is refused", async () => {
    const listing = await inn.listing();
    for (const guest of [{}, { email: "a@example.com" }]) {
      expect(fault(await inn.book(listing, "2027-05-01", "2027-05-02", { guest }))).toEqual([
        422,
        "validation_failed",
        "guest.full_name",
      ]);
    }
    expect(
      fault(await inn.book(listing, "2027-05-01", "2027-05-02", { guest: undefined })),
    ).toEqual([422, "validation_failed", "guest"]);
    expect(await inn.nights(listing)).toEqual([]);
  });
});

describe("the ids that others give to a reservation", () => {
  test("are taken once in an account, each with its channel or source", async () => {
    const listing = await inn.listing();
    let day = 10;
    const book = (fields: object) =>
      inn.book(listing, `2027-05-${++day}`, `2027-05-${day + 1}`, fields);
    const ids = {
      channel: "airbnb",
      channel_reservation_id: "HM123",
      source: "hostaway",
      source_reservation_id: "77",
      external_id: "mine",
    };
    const first = await book(ids);
    expect(first.status).toBe(201);
    for (const same of [
      { channel: "airbnb", channel_reservation_id: "HM123" },
      { source: "hostaway", source_reservation_id: "77" },
      { external_id: "mine" },
    ]) {
      const reply = await book(same);
      expect([...fault(reply), reply.json.error.id]).toEqual([409, "duplicate", first.json.id]);
    }
    expect((await book({ channel: "vrbo", channel_reservation_id: "HM123" })).status).toBe(201);
    expect((await book({ source: "guesty", source_reservation_id: "77" })).status).toBe(201);
    expect((await book({})).status).toBe(201);
    expect((await book({})).status).toBe(201);
  });

  test("tell a repeated booking from two that want the same nights", async () => {
    const listing = await inn.listing();
    const ids = { channel: "booking_com", channel_reservation_id: "4711" };
    const first = await inn.stay(listing, "2027-05-01", "2027-05-04", ids);
    const again = await inn.book(listing, "2027-05-01", "2027-05-04", ids);
    expect([...fault(again), again.json.error.id]).toEqual([409, "duplicate", first.id]);
  });

  test("are told to be taken, but not by which one, where its listing is not the key's", async () => {
    const [own, other] = [await inn.listing(), await inn.listing()];
    const taken = await inn.stay(other, "2027-05-01", "2027-05-02", { external_id: "elsewhere" });
    const mine = await inn.stay(own, "2027-05-01", "2027-05-02");
    const { client } = await inn.server.key({ listing_ids: [own.id] });
    const wanted = {
      listing_id: own.id,
      check_in_date: "2027-06-01",
      check_out_date: "2027-06-02",
      guest: { full_name: "Ada" },
      external_id: "elsewhere",
    };
    for (const reply of [
      await client("POST", "/v1/reservations", wanted),
      await client("PATCH", `/v1/reservations/${mine.id}`, { external_id: "elsewhere" }),
    ]) {
      expect(fault(reply)).toEqual([409, "duplicate"]);
      expect(reply.json.error).not.toHaveProperty("id");
      expect(reply.text).not.toContain(taken.id);
    }
  });

  test("are free for another account", async () => {
    const listing = await inn.listing();
    await inn.stay(listing, "2027-05-01", "2027-05-02", { external_id: "shared" });
    const stranger = await inn.server.key({ account_id: await inn.server.account() });
    const body = { title: "Other", timezone: "Europe/Rome", currency: "EUR" };
    const { json: other } = await stranger.client("POST", "/v1/listings", body);
    const reply = await stranger.client("POST", "/v1/reservations", {
      listing_id: other.id,
      check_in_date: "2027-05-01",
      check_out_date: "2027-05-02",
      guest: { full_name: "Ada" },
      external_id: "shared",
    });
    expect(reply.status).toBe(201);
  });
});
