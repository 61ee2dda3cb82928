import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Json, Reply } from "../fixture.ts";
import { fault, type Inn, openInn, sorted } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

/** The ways that the documentation knows. */
const ways: Readonly<Record<string, readonly string[]>> = {
  inquiry: ["pending", "confirmed", "declined", "expired"],
  pending: ["awaiting_payment", "confirmed", "declined", "expired", "cancelled"],
  awaiting_payment: ["confirmed", "expired", "cancelled"],
  confirmed: ["cancelled"],
  declined: [],
  expired: [],
  cancelled: [],
};
const holding = ["pending", "awaiting_payment", "confirmed"];

/** How to bring a new reservation to a status that it cannot begin with. */
const beginnings: Readonly<Record<string, string>> = {
  declined: "inquiry",
  expired: "inquiry",
  cancelled: "confirmed",
};

const go = (id: string, to: string): Promise<Reply> =>
  to === "cancelled"
    ? inn.client("POST", `/v1/reservations/${id}/cancel`)
    : inn.client("PATCH", `/v1/reservations/${id}`, { status: to });
const read = async (id: string): Promise<Json> =>
  (await inn.client("GET", `/v1/reservations/${id}`)).json;
const nightsOf = async (stay: Json): Promise<number> =>
  (await inn.server.rows("calendar_nights")).filter(({ holder_id }) => holder_id === stay.id)
    .length;

async function stayThatIs(status: string): Promise<Json> {
  const listing = await inn.listing();
  const stay = await inn.stay(listing, "2027-05-14", "2027-05-17", {
    status: beginnings[status] ?? status,
  });
  if (beginnings[status] !== undefined) await go(stay.id, status);
  return await read(stay.id);
}

describe("the status of a reservation", () => {
  for (const [from, allowed] of Object.entries(ways)) {
    for (const to of Object.keys(ways)) {
      const may = allowed.includes(to);
      if (to === "inquiry") continue;
      if (from === to && to !== "cancelled") continue;

      test(`${may ? "goes" : "does not go"} from ${from} to ${to}`, async () => {
        const stay = await stayThatIs(from);
        expect([stay.status, await nightsOf(stay)]).toEqual([from, holding.includes(from) ? 3 : 0]);
        inn.clock.advance(1000);
        let reply: Reply | undefined;
        const told = await inn.told(async () => {
          reply = await go(stay.id, to);
        });
        const after = await read(stay.id);
        if (!may) {
          expect(reply?.json.error).toMatchObject({
            code: "invalid_transition",
            status: 409,
            current_status: from,
            allowed,
          });
          expect([after, told, await nightsOf(stay)]).toEqual([
            stay,
            [],
            holding.includes(from) ? 3 : 0,
          ]);
          return;
        }
        expect([reply?.status, reply?.json]).toEqual([200, after]);
        expect([after.status, after.version]).toEqual([to, stay.version + 1]);
        expect(after.status_history.at(-1)).toEqual({
          status: to,
          changed_at: after.updated_at,
          actor: "Test",
        });
        expect(after.status_history).toHaveLength(stay.status_history.length + 1);
        expect(after.confirmed_at).toBe(to === "confirmed" ? after.updated_at : stay.confirmed_at);
        expect(after.cancelled_at).toBe(to === "cancelled" ? after.updated_at : null);
        expect(await nightsOf(stay)).toBe(holding.includes(to) ? 3 : 0);
        expect(told.map(([name]) => name)).toEqual([
          "reservation.updated",
          ...(to === "cancelled" ? ["reservation.cancelled"] : []),
        ]);
      });
    }
  }

  test("stays what it is when it is given again, and then nothing is told", async () => {
    for (const status of ["pending", "awaiting_payment", "confirmed", "declined", "expired"]) {
      const stay = await stayThatIs(status);
      const told = await inn.told(async () => {
        const reply = await go(stay.id, status);
        expect([reply.status, reply.json]).toEqual([200, stay]);
      });
      expect(told).toEqual([]);
    }
  });

  test("is not cancelled and not made an inquiry by a mere change", async () => {
    const stay = await stayThatIs("pending");
    for (const status of ["cancelled", "inquiry"]) {
      expect(fault(await inn.client("PATCH", `/v1/reservations/${stay.id}`, { status }))).toEqual([
        422,
        "validation_failed",
        "status",
      ]);
    }
  });

  test("becomes confirmed only where the nights of an inquiry are still free", async () => {
    const listing = await inn.listing();
    const asked = await inn.stay(listing, "2027-05-14", "2027-05-17", { status: "inquiry" });
    const other = await inn.stay(listing, "2027-05-16", "2027-05-18");
    for (const status of ["confirmed", "pending"]) {
      const told = await inn.told(async () => {
        const reply = await go(asked.id, status);
        expect(fault(reply)).toEqual([409, "dates_unavailable"]);
        expect(reply.json.error.conflicts).toEqual([
          { kind: "reservation", id: other.id, dates: ["2027-05-16"] },
        ]);
      });
      expect(told).toEqual([]);
    }
    expect(await read(asked.id)).toEqual(asked);
    await go(other.id, "cancelled");
    expect((await go(asked.id, "confirmed")).json.status).toBe("confirmed");
  });

  test("frees the nights for others when it is final", async () => {
    for (const to of ["declined", "expired", "cancelled"]) {
      const stay = await stayThatIs("pending");
      await go(stay.id, to);
      const again = await inn.book({ id: stay.listing_id }, "2027-05-14", "2027-05-17");
      expect([to, again.status]).toEqual([to, 201]);
    }
  });

  test("says when, by whom and why a stay was cancelled", async () => {
    const stay = await stayThatIs("confirmed");
    const body = { cancelled_by: "guest", reason: "Ill" };
    const { json } = await inn.client("POST", `/v1/reservations/${stay.id}/cancel`, body);
    expect(json).toMatchObject({
      status: "cancelled",
      stage: "cancelled",
      cancelled_by: "guest",
      cancellation_reason: "Ill",
    });
    const plain = await stayThatIs("confirmed");
    expect((await go(plain.id, "cancelled")).json).toMatchObject({
      cancelled_by: "host",
      cancellation_reason: null,
    });
    const wrong = await inn.client("POST", `/v1/reservations/${plain.id}/cancel`, {
      cancelled_by: "weather",
    });
    expect(fault(wrong)).toEqual([422, "validation_failed", "cancelled_by"]);
  });
});

describe("a reservation that moves", () => {
  const move = (id: string, check_in_date: string, check_out_date: string, headers = {}) =>
    inn.client(
      "POST",
      `/v1/reservations/${id}/reschedule`,
      { check_in_date, check_out_date },
      headers,
    );

  test("takes its new nights and gives back its old ones, those that it had before included", async () => {
    const stay = await stayThatIs("confirmed");
    const { status, json } = await move(stay.id, "2027-05-15", "2027-05-19");
    expect([status, json]).toEqual([
      200,
      {
        ...stay,
        check_in_date: "2027-05-15",
        check_out_date: "2027-05-19",
        check_in_at: "2027-05-15T13:00:00Z",
        check_out_at: "2027-05-19T09:00:00Z",
        nights: 4,
        updated_at: json.updated_at,
        version: 2,
      },
    ]);
    expect((await inn.nights({ id: stay.listing_id })).map(([date]) => date)).toEqual([
      "2027-05-15",
      "2027-05-16",
      "2027-05-17",
      "2027-05-18",
    ]);
    expect((await move(stay.id, "2027-05-16", "2027-05-17")).json.nights).toBe(1);
    expect(await inn.nights({ id: stay.listing_id })).toEqual([["2027-05-16", stay.id]]);
  });

  test("changes nothing where it meets another", async () => {
    const stay = await stayThatIs("confirmed");
    const other = await inn.stay({ id: stay.listing_id }, "2027-05-18", "2027-05-20");
    const before = await inn.nights({ id: stay.listing_id });
    const told = await inn.told(async () => {
      const reply = await move(stay.id, "2027-05-16", "2027-05-19");
      expect(fault(reply)).toEqual([409, "dates_unavailable"]);
      expect(reply.json.error.conflicts).toEqual([
        { kind: "reservation", id: other.id, dates: ["2027-05-18"] },
      ]);
    });
    expect([told, await read(stay.id), await inn.nights({ id: stay.listing_id })]).toEqual([
      [],
      stay,
      before,
    ]);
  });

  test("must be live, and go somewhere", async () => {
    for (const status of ["declined", "expired", "cancelled"]) {
      const stay = await stayThatIs(status);
      const reply = await move(stay.id, "2027-06-01", "2027-06-02");
      expect([...fault(reply), reply.json.error.current_status]).toEqual([
        409,
        "invalid_transition",
        status,
      ]);
    }
    const stay = await stayThatIs("pending");
    expect(fault(await move(stay.id, "2027-05-14", "2027-05-17"))).toEqual([
      422,
      "validation_failed",
      "check_in_date",
    ]);
    expect(fault(await move(stay.id, "2027-05-14", "2027-05-14"))).toEqual([
      422,
      "validation_failed",
      "check_out_date",
    ]);
    expect(await read(stay.id)).toEqual(stay);
  });

  test("of an inquiry moves freely, since it holds no nights", async () => {
    const stay = await stayThatIs("inquiry");
    await inn.stay({ id: stay.listing_id }, "2027-06-01", "2027-06-05");
    const { json } = await move(stay.id, "2027-06-01", "2027-06-03");
    expect([json.check_in_date, json.nights, await nightsOf(json)]).toEqual(["2027-06-01", 2, 0]);
  });

  test("is one of two that want the same nights at once", async () => {
    const listing = await inn.listing();
    const [one, other] = [
      await inn.stay(listing, "2027-05-01", "2027-05-02"),
      await inn.stay(listing, "2027-05-02", "2027-05-03"),
    ];
    const replies = await Promise.all(
      [one, other].map(({ id }) => move(id, "2027-05-10", "2027-05-12")),
    );
    expect(sorted(replies.map(({ status }) => status))).toEqual([200, 409]);
    expect(await inn.nights(listing)).toHaveLength(3);
  });
});
