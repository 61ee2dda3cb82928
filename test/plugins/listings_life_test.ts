import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Json, until } from "../fixture.ts";
import { fault, type Inn, openInn, today } from "./inn.ts";

const day = 86_400_000;

describe("archiving", () => {
  let inn: Inn;
  beforeAll(async () => {
    inn = await openInn();
  });
  afterAll(() => inn[Symbol.asyncDispose]());
  const archive = ({ id }: Json, body?: object) =>
    inn.client("POST", `/v1/listings/${id}/archive`, body ?? {});

  test("is refused while stays lie ahead, and names them", async () => {
    const listing = await inn.listing();
    const stays = [
      await inn.stay(listing, "2027-03-01", "2027-03-03"),
      await inn.stay(listing, "2027-04-01", "2027-04-03", { status: "pending" }),
    ];
    await inn.stay(listing, "2027-05-01", "2027-05-03", { status: "inquiry" });
    const told = await inn.told(async () => {
      const reply = await archive(listing);
      expect(fault(reply)).toEqual([409, "invalid_transition"]);
      expect(reply.json.error.conflicts).toEqual(
        stays.map(({ id, check_in_date, check_out_date }) => ({
          kind: "reservation",
          id,
          check_in_date,
          check_out_date,
        })),
      );
    });
    expect(told).toEqual([]);
    const [entry] = (await inn.server.rows("audit_entries")).slice(-1);
    expect([entry.operation, entry.outcome]).toEqual(["listings.archive", "invalid_transition"]);
  });

  test("takes the nights out of reach, however they are asked for", async () => {
    const listing = await inn.listing();
    const dates = ["2027-08-01", "2027-08-03"] as const;
    const inquiry = await inn.stay(listing, ...dates, { status: "inquiry" });
    const booked = await inn.stay(listing, "2027-08-10", "2027-08-12");
    await archive(listing, { force: true });
    const path = `/v1/reservations/${inquiry.id}`;
    const block = { start_date: "2027-09-01", end_date: "2027-09-02" };
    const moved = { check_in_date: "2027-08-11", check_out_date: "2027-08-13" };
    for (const reply of [
      await inn.client("PATCH", path, { status: "confirmed" }),
      await inn.client("POST", `/v1/listings/${listing.id}/calendar-blocks`, block),
      await inn.client("POST", `/v1/reservations/${booked.id}/reschedule`, moved),
    ]) {
      expect(fault(reply)).toEqual([409, "invalid_transition"]);
    }
    expect((await inn.client("POST", `/v1/reservations/${booked.id}/cancel`)).status).toBe(200);
  });

  test("happens all the same with force, and is told of once", async () => {
    const listing = await inn.listing();
    await inn.stay(listing, "2027-03-01", "2027-03-03");
    const told = await inn.told(async () => {
      const { status, json } = await archive(listing, { force: true });
      expect([status, json.status, json.archived_at, json.version]).toEqual([
        200,
        "archived",
        "2027-01-10T12:00:00Z",
        2,
      ]);
      const again = await archive(listing, { force: true });
      expect([again.status, again.json]).toEqual([200, json]);
    });
    expect(
      told.map(([name, { change, changed_fields }]) => [name, change, changed_fields]),
    ).toEqual([["listing.updated", "archived", ["status", "archived_at"]]]);
  });

  test("is not hindered by stays that are over, cancelled or end today", async () => {
    const listing = await inn.listing();
    await inn.stay(listing, "2026-12-01", "2026-12-05");
    await inn.stay(listing, "2027-01-08", "2027-01-10");
    const { id } = await inn.stay(listing, "2027-02-01", "2027-02-05");
    expect(fault(await archive(listing))).toEqual([409, "invalid_transition"]);
    await inn.client("POST", `/v1/reservations/${id}/cancel`);
    expect((await archive(listing)).status).toBe(200);
  });

  test("judges what is today by the listing's own zone", async () => {
    // Noon of the 10th in UTC is 02:00 of the 11th on Kiritimati, and 01:00 of the 10th on Pago Pago.
    const ahead = await inn.listing({ timezone: "Pacific/Pago_Pago" });
    const past = await inn.listing({ timezone: "Pacific/Kiritimati" });
    for (const listing of [ahead, past]) await inn.stay(listing, "2027-01-09", "2027-01-11");
    expect(fault(await archive(ahead))).toEqual([409, "invalid_transition"]);
    expect((await archive(past)).status).toBe(200);
  });

  test("is final: nothing can be changed or booked any more, and no night is shown as free", async () => {
    const listing = await inn.listing();
    await archive(listing);
    const change = await inn.client("PATCH", `/v1/listings/${listing.id}`, { status: "active" });
    expect(fault(change)).toEqual([409, "invalid_transition"]);
    expect(change.json.error.current_status).toBe("archived");
    expect(fault(await inn.book(listing, "2027-03-01", "2027-03-03"))).toEqual([
      409,
      "invalid_transition",
    ]);
    const { json } = await inn.client(
      "GET",
      `/v1/listings/${listing.id}/calendar?from=2027-03-01&to=2027-03-03`,
    );
    expect(json.days.map((one: Json) => one.available)).toEqual([false, false]);
  });
});

describe("a listing that moves in time", () => {
  const at = (stay: Json): string[] => [stay.timezone, stay.check_in_at, stay.check_out_at];
  const read = async (inn: Inn, { id }: Json): Promise<Json> =>
    (await inn.client("GET", `/v1/reservations/${id}`)).json;

  test("takes the stays that lie ahead with it, each told of, and leaves those that are over", async () => {
    await using inn = await openInn({ start: true });
    const listing = await inn.listing();
    const ahead = await inn.stay(listing, "2027-05-14", "2027-05-17");
    const asked = await inn.stay(listing, "2027-06-01", "2027-06-02", { status: "inquiry" });
    const over = await inn.stay(listing, "2026-05-14", "2026-05-17");
    const gone = await inn.stay(listing, "2027-07-01", "2027-07-02");
    await inn.client("POST", `/v1/reservations/${gone.id}/cancel`);
    expect(at(ahead)).toEqual(["Europe/Rome", "2027-05-14T13:00:00Z", "2027-05-17T09:00:00Z"]);

    const told = await inn.told(async () => {
      await inn.client("PATCH", `/v1/listings/${listing.id}`, { timezone: "America/New_York" });
      await until(async () => (await read(inn, asked)).timezone === "America/New_York");
    });
    expect(at(await read(inn, ahead))).toEqual([
      "America/New_York",
      "2027-05-14T19:00:00Z",
      "2027-05-17T15:00:00Z",
    ]);
    expect(at(await read(inn, asked))).toEqual([
      "America/New_York",
      "2027-06-01T19:00:00Z",
      "2027-06-02T15:00:00Z",
    ]);
    expect(await read(inn, over)).toEqual(over);
    expect(at(await read(inn, gone))).toEqual(at(gone));
    const changes = told
      .slice(1)
      .map(([name, data]) => [name, data.id, data.changed_fields, data.previous]);
    const fields = ["timezone", "check_in_at", "check_out_at"];
    const before = ({ timezone, check_in_at, check_out_at }: Json): Json => ({
      timezone,
      check_in_at,
      check_out_at,
    });
    expect(told[0]?.[0]).toBe("listing.updated");
    expect(changes).toEqual([
      ["reservation.updated", ahead.id, fields, before(ahead)],
      ["reservation.updated", asked.id, fields, before(asked)],
    ]);
    const { version, updated_at } = await read(inn, ahead);
    expect([version, updated_at]).toEqual([2, "2027-01-10T12:00:00Z"]);
  });

  test("tells of the time that changed only, and of nothing for other changes", async () => {
    await using inn = await openInn({ start: true });
    const listing = await inn.listing();
    const stay = await inn.stay(listing, "2027-05-14", "2027-05-17");
    const told = await inn.told(async () => {
      await inn.client("PATCH", `/v1/listings/${listing.id}`, { title: "Sea house" });
      await inn.client("PATCH", `/v1/listings/${listing.id}`, { check_in_time: "17:30" });
      await until(async () => (await read(inn, stay)).check_in_time === "17:30");
    });
    const changes = told.filter(([name]) => name === "reservation.updated");
    expect(
      changes.map(([, { changed_fields, check_in_at, check_out_at }]) => [
        changed_fields,
        check_in_at,
        check_out_at,
      ]),
    ).toEqual([[["check_in_time", "check_in_at"], "2027-05-14T15:30:00Z", "2027-05-17T09:00:00Z"]]);
  });

  test("does so once, however often the server starts", async () => {
    await using inn = await openInn({ start: true });
    const listing = await inn.listing();
    const stay = await inn.stay(listing, "2027-05-14", "2027-05-17");
    await inn.client("PATCH", `/v1/listings/${listing.id}`, { check_out_time: "10:00" });
    await until(async () => (await read(inn, stay)).check_out_time === "10:00");
    const [done] = await inn.server.rows("outbox_reactions").then((rows) => rows.slice(-1));
    expect([done.reaction, done.state, done.failures]).toEqual([
      "reservations.follow_listing",
      "done",
      0,
    ]);
    inn.clock.set(today + day);
    expect((await read(inn, stay)).version).toBe(2);
  });
});
