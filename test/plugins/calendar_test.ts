import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Json } from "../fixture.ts";
import { fault, type Inn, openInn, sorted } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const calendar = ({ id }: Json, query: string) =>
  inn.client("GET", `/v1/listings/${id}/calendar?${query}`);
const block = ({ id }: Json, start_date: string, end_date: string, fields: object = {}) =>
  inn.client("POST", `/v1/listings/${id}/calendar-blocks`, { start_date, end_date, ...fields });
const unblock = (id: string) => inn.client("DELETE", `/v1/calendar-blocks/${id}`);
const dates = (days: readonly Json[]): string[] => days.map(({ date }) => date);

describe("a calendar", () => {
  test("shows each night of a half-open range, with who holds it", async () => {
    const listing = await inn.listing({ title: "Mill", base_price: "80", min_nights: 2 });
    const stay = await inn.stay(listing, "2027-05-02", "2027-05-04");
    const { json: kept } = await block(listing, "2027-05-04", "2027-05-05", {
      reason: "maintenance",
    });
    const { status, json } = await calendar(listing, "from=2027-05-01&to=2027-05-06");
    const { days, ...head } = json;
    expect([status, head]).toEqual([
      200,
      { listing_id: listing.id, listing_title: "Mill", timezone: "Europe/Rome", currency: "EUR" },
    ]);
    const free = {
      available: true,
      status: "available",
      block_id: null,
      reservation_id: null,
      reason: null,
      price: "80.00",
      min_nights: 2,
    };
    const held = { ...free, available: false, status: "reserved", reservation_id: stay.id };
    expect(days).toEqual([
      { ...free, date: "2027-05-01" },
      { ...held, date: "2027-05-02" },
      { ...held, date: "2027-05-03" },
      {
        ...free,
        date: "2027-05-04",
        available: false,
        status: "blocked",
        block_id: kept.id,
        reason: "maintenance",
      },
      { ...free, date: "2027-05-05" },
    ]);
  });

  test("has 30 days unless told otherwise, and two years at most", async () => {
    const listing = await inn.listing();
    const month = (await calendar(listing, "from=2027-02-10")).json.days;
    expect([month.length, month[0].date, month.at(-1).date]).toEqual([
      30,
      "2027-02-10",
      "2027-03-11",
    ]);
    const years = await calendar(listing, "from=2027-01-01&to=2028-12-31");
    expect([years.status, years.json.days.length]).toEqual([200, 730]);
    expect(new Set(dates(years.json.days)).size).toBe(730);
    expect(dates(years.json.days)).toContain("2028-02-29");
    expect(fault(await calendar(listing, "from=2027-01-01&to=2029-01-01"))).toEqual([
      422,
      "validation_failed",
      "to",
    ]);
  });

  test("refuses ranges that are empty, turned round or no dates", async () => {
    const listing = await inn.listing();
    const reply = await calendar(listing, "from=2027-05-01&to=2027-05-01");
    expect([...fault(reply), reply.json.error.details[0].code]).toEqual([
      422,
      "validation_failed",
      "to",
      "must_be_after",
    ]);
    expect(fault(await calendar(listing, "from=2027-05-02&to=2027-05-01"))).toEqual([
      422,
      "validation_failed",
      "to",
    ]);
    for (const from of [
      "2027-02-29",
      "2027-13-01",
      "2027-5-1",
      "tomorrow",
      "2027-05-01T00:00:00Z",
    ]) {
      expect(fault(await calendar(listing, `from=${from}`))).toEqual([
        422,
        "validation_failed",
        "from",
      ]);
    }
    expect(fault(await calendar(listing, ""))).toEqual([422, "validation_failed", "from"]);
  });
});

describe("a block", () => {
  test("takes its nights, gives them back, and is listed in between", async () => {
    const listing = await inn.listing();
    const { status, json } = await block(listing, "2027-05-14", "2027-05-17", { note: "Painters" });
    expect([status, json]).toEqual([
      201,
      {
        id: json.id,
        account_id: inn.server.account_id,
        listing_id: listing.id,
        start_date: "2027-05-14",
        end_date: "2027-05-17",
        reason: "other",
        note: "Painters",
        created_at: "2027-01-10T12:00:00Z",
        updated_at: "2027-01-10T12:00:00Z",
        version: 1,
      },
    ]);
    expect(await inn.nights(listing)).toEqual([
      ["2027-05-14", json.id],
      ["2027-05-15", json.id],
      ["2027-05-16", json.id],
    ]);
    const list = async (): Promise<Json[]> =>
      (await inn.client("GET", `/v1/listings/${listing.id}/calendar-blocks`)).json.data;
    expect(await list()).toEqual([json]);
    expect((await unblock(json.id)).json).toEqual(json);
    expect([await list(), await inn.nights(listing)]).toEqual([[], []]);
    expect(fault(await unblock(json.id))).toEqual([404, "not_found"]);
  });

  test("has one of the known reasons, and an end after its beginning", async () => {
    const listing = await inn.listing();
    for (const [n, reason] of [
      "owner_use",
      "maintenance",
      "hold",
      "seasonal_closure",
      "other",
    ].entries()) {
      expect(
        (await block(listing, `2027-05-0${n + 1}`, `2027-05-0${n + 2}`, { reason })).json.reason,
      ).toBe(reason);
    }
    expect(fault(await block(listing, "2027-06-01", "2027-06-02", { reason: "holiday" }))).toEqual([
      422,
      "validation_failed",
      "reason",
    ]);
    expect(fault(await block(listing, "2027-06-01", "2027-06-01"))).toEqual([
      422,
      "validation_failed",
      "end_date",
    ]);
    expect(fault(await block(listing, "2027-06-02", "2027-06-01"))).toEqual([
      422,
      "validation_failed",
      "end_date",
    ]);
    expect(fault(await block(listing, "2027-06-01", "2029-06-02"))).toEqual([
      422,
      "validation_failed",
      "end_date",
    ]);
  });

  test("is refused where nights are held already, with all conflicts, and then takes none", async () => {
    const listing = await inn.listing();
    const stay = await inn.stay(listing, "2027-05-10", "2027-05-12");
    const first = (await block(listing, "2027-05-12", "2027-05-13")).json;
    const before = await inn.nights(listing);
    const reply = await block(listing, "2027-05-09", "2027-05-14");
    expect(fault(reply)).toEqual([409, "dates_unavailable"]);
    expect(reply.json.error.conflicts).toEqual([
      { kind: "reservation", id: stay.id, dates: ["2027-05-10", "2027-05-11"] },
      { kind: "block", id: first.id, dates: ["2027-05-12"] },
    ]);
    expect(await inn.nights(listing)).toEqual(before);
    expect(
      (await inn.server.rows("calendar_blocks")).filter((row) => row.listing_id === listing.id),
    ).toHaveLength(1);
  });

  test("may touch others end to end, and hinders other listings not at all", async () => {
    const listing = await inn.listing();
    const other = await inn.listing();
    await inn.stay(listing, "2027-05-10", "2027-05-12");
    expect((await block(listing, "2027-05-12", "2027-05-13")).status).toBe(201);
    expect((await block(listing, "2027-05-09", "2027-05-10")).status).toBe(201);
    expect((await block(other, "2027-05-10", "2027-05-12")).status).toBe(201);
  });

  test("can be made once only when two ask at the same moment", async () => {
    const listing = await inn.listing();
    const replies = await Promise.all(
      ["01", "02", "03"].map((from) => block(listing, `2027-05-${from}`, "2027-05-05")),
    );
    expect(sorted(replies.map(({ status }) => status))).toEqual([201, 409, 409]);
    const [holder] = new Set((await inn.nights(listing)).map(([, id]) => id));
    expect(replies.find(({ status }) => status === 201)?.json.id).toBe(holder);
  });
});
