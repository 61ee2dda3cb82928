import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import fc from "fast-check";

import type { Json } from "../fixture.ts";
import { type Inn, openInn, today } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

/** The day after, worked out without the server's own arithmetic. */
const nextDay = (date: string): string => {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1, day + 1)).toISOString().slice(0, 10);
};

async function arrival(timezone: string, date: string, time: string): Promise<string> {
  const listing = await inn.listing({ timezone, check_in_time: time });
  const stay = await inn.stay(listing, date, nextDay(date));
  expect([stay.check_in_date, stay.check_in_time, stay.timezone]).toEqual([date, time, timezone]);
  return stay.check_in_at;
}

describe("the instant of a check-in", () => {
  // Worked out by hand from the rules of each zone.
  const cases: readonly (readonly [
    why: string,
    zone: string,
    date: string,
    time: string,
    at: string,
  ])[] = [
    ["winter", "Europe/Rome", "2027-03-27", "15:00", "2027-03-27T14:00:00Z"],
    [
      "the day on which summer time begins",
      "Europe/Rome",
      "2027-03-28",
      "15:00",
      "2027-03-28T13:00:00Z",
    ],
    [
      "the last minute before the spring gap",
      "Europe/Rome",
      "2027-03-28",
      "01:59",
      "2027-03-28T00:59:00Z",
    ],
    ["the spring gap, moved forward", "Europe/Rome", "2027-03-28", "02:30", "2027-03-28T01:30:00Z"],
    [
      "the first minute after the spring gap",
      "Europe/Rome",
      "2027-03-28",
      "03:00",
      "2027-03-28T01:00:00Z",
    ],
    ["summer", "Europe/Rome", "2027-10-30", "15:00", "2027-10-30T13:00:00Z"],
    [
      "the hour that comes twice in autumn, the first time",
      "Europe/Rome",
      "2027-10-31",
      "02:30",
      "2027-10-31T00:30:00Z",
    ],
    [
      "the day on which summer time ends",
      "Europe/Rome",
      "2027-10-31",
      "15:00",
      "2027-10-31T14:00:00Z",
    ],
    ["American winter", "America/New_York", "2027-03-13", "15:00", "2027-03-13T20:00:00Z"],
    ["the American spring gap", "America/New_York", "2027-03-14", "02:30", "2027-03-14T07:30:00Z"],
    ["American summer", "America/New_York", "2027-07-01", "15:00", "2027-07-01T19:00:00Z"],
    [
      "the American hour that comes twice",
      "America/New_York",
      "2027-11-07",
      "01:30",
      "2027-11-07T05:30:00Z",
    ],
    [
      "the southern summer of half an hour",
      "Australia/Lord_Howe",
      "2027-01-15",
      "15:00",
      "2027-01-15T04:00:00Z",
    ],
    [
      "the southern winter of half an hour",
      "Australia/Lord_Howe",
      "2027-07-15",
      "15:00",
      "2027-07-15T04:30:00Z",
    ],
    [
      "half an hour that comes twice",
      "Australia/Lord_Howe",
      "2027-04-04",
      "01:45",
      "2027-04-03T14:45:00Z",
    ],
    ["a gap of half an hour", "Australia/Lord_Howe", "2027-10-03", "02:15", "2027-10-02T15:45:00Z"],
    ["beyond the date line", "Pacific/Apia", "2027-05-14", "15:00", "2027-05-14T02:00:00Z"],
    ["the day that Samoa left out", "Pacific/Apia", "2011-12-30", "15:00", "2011-12-31T01:00:00Z"],
    ["the far west", "Pacific/Pago_Pago", "2027-05-14", "15:00", "2027-05-15T02:00:00Z"],
    ["the far east", "Pacific/Kiritimati", "2027-05-14", "15:00", "2027-05-14T01:00:00Z"],
    [
      "an offset of three quarters",
      "Asia/Kathmandu",
      "2027-05-14",
      "15:00",
      "2027-05-14T09:15:00Z",
    ],
    ["midnight that is left out", "Africa/Cairo", "2027-04-30", "00:30", "2027-04-29T22:30:00Z"],
    ["no zone at all", "UTC", "2027-05-14", "15:00", "2027-05-14T15:00:00Z"],
    ["29 February", "Europe/London", "2028-02-29", "15:00", "2028-02-29T15:00:00Z"],
  ];

  for (const [why, zone, date, time, at] of cases) {
    test(`is right in ${zone} at ${time} of ${date}: ${why}`, async () => {
      expect(await arrival(zone, date, time)).toBe(at);
    });
  }

  test("reads in its zone as the local date and time, in any zone and at any time", async () => {
    const zones = [
      "Europe/Rome",
      "America/St_Johns",
      "Asia/Kolkata",
      "Pacific/Chatham",
      "Africa/Casablanca",
      "America/Sao_Paulo",
    ];
    const wall = (zone: string, at: string): string => {
      const parts = new Intl.DateTimeFormat("sv-SE", {
        timeZone: zone,
        dateStyle: "short",
        timeStyle: "short",
      });
      return parts.format(Date.parse(at));
    };
    const day = fc
      .integer({ min: 0, max: 3000 })
      .map((n) => new Date(today + n * 86_400_000).toISOString().slice(0, 10));
    // From noon on no clock is ever changed.
    const time = fc.tuple(fc.integer({ min: 12, max: 23 }), fc.integer({ min: 0, max: 59 }));
    const property = fc.asyncProperty(
      fc.constantFrom(...zones),
      day,
      time,
      async (zone, date, [hour, minute]) => {
        const local = `${hour}:${String(minute).padStart(2, "0")}`;
        expect(wall(zone, await arrival(zone, date, local))).toBe(`${date} ${local}`);
      },
    );
    await fc.assert(property, { numRuns: 60, seed: 7 });
  });
});

test("the last day of four digits cannot be booked: its evening is of a year that has five", async () => {
  const listing = await inn.listing({ timezone: "America/New_York", check_out_time: "23:00" });
  for (const [from, to] of [
    ["9999-12-30", "9999-12-31"],
    ["0000-12-30", "0000-12-31"],
  ] as const)
    expect((await inn.book(listing, from, to)).status).toBe(422);
  expect((await inn.book(listing, "9998-12-30", "9998-12-31")).status).toBe(201);
});

test("the instant of a check-out follows from its own date and time", async () => {
  const listing = await inn.listing({ check_in_time: "16:00", check_out_time: "10:30" });
  // Over the night in which summer time begins, and over the one in which it ends.
  const spring = await inn.stay(listing, "2027-03-27", "2027-03-28");
  expect([spring.check_in_at, spring.check_out_at, spring.nights]).toEqual([
    "2027-03-27T15:00:00Z",
    "2027-03-28T08:30:00Z",
    1,
  ]);
  const autumn = await inn.stay(listing, "2027-10-30", "2027-11-01");
  expect([autumn.check_in_at, autumn.check_out_at, autumn.nights]).toEqual([
    "2027-10-30T14:00:00Z",
    "2027-11-01T09:30:00Z",
    2,
  ]);
});

describe("the stage of a stay", () => {
  const stageAt = async ({ id }: Json, at: string): Promise<string> => {
    inn.clock.set(Date.parse(at));
    const { json } = await inn.client("GET", `/v1/reservations/${id}`);
    const { json: list } = await inn.client("GET", "/v1/reservations?limit=200");
    expect(list.data.find((one: Json) => one.id === id).stage).toBe(json.stage);
    inn.clock.set(today);
    return json.stage;
  };

  test("changes at midnight of the listing's own zone", async () => {
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
    for (const [at, stage] of [
      ["2027-01-10T12:00:00Z", "upcoming"],
      ["2027-05-13T21:59:59Z", "upcoming"],
      ["2027-05-13T22:00:00Z", "arriving_today"],
      ["2027-05-14T21:59:59Z", "arriving_today"],
      ["2027-05-14T22:00:00Z", "currently_hosting"],
      ["2027-05-16T21:59:59Z", "currently_hosting"],
      ["2027-05-16T22:00:00Z", "departing_today"],
      ["2027-05-17T21:59:59Z", "departing_today"],
      ["2027-05-17T22:00:00Z", "checked_out"],
      ["2030-01-01T00:00:00Z", "checked_out"],
    ] as const) {
      expect([at, await stageAt(stay, at)]).toEqual([at, stage]);
    }
  });

  test("differs at one moment between the ends of the world", async () => {
    const east = await inn.stay(
      await inn.listing({ timezone: "Pacific/Kiritimati" }),
      "2027-05-14",
      "2027-05-15",
    );
    const west = await inn.stay(
      await inn.listing({ timezone: "Pacific/Pago_Pago" }),
      "2027-05-14",
      "2027-05-15",
    );
    const both = async (at: string): Promise<string[]> => [
      await stageAt(east, at),
      await stageAt(west, at),
    ];
    expect(await both("2027-05-13T10:00:00Z")).toEqual(["arriving_today", "upcoming"]);
    expect(await both("2027-05-14T10:30:00Z")).toEqual(["departing_today", "upcoming"]);
    expect(await both("2027-05-15T10:30:00Z")).toEqual(["checked_out", "arriving_today"]);
  });

  test("is the status where there is no stay yet, or none any more", async () => {
    const during = "2027-05-15T12:00:00Z";
    const listing = await inn.listing();
    const stages: Record<string, string> = {};
    for (const status of ["inquiry", "pending", "awaiting_payment"]) {
      const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17", { status });
      stages[status] = await stageAt(stay, during);
    }
    for (const status of ["declined", "expired", "cancelled"]) {
      const stay = await inn.stay(listing, "2027-05-14", "2027-05-17", { status: "pending" });
      if (status === "cancelled") await inn.client("POST", `/v1/reservations/${stay.id}/cancel`);
      else await inn.client("PATCH", `/v1/reservations/${stay.id}`, { status });
      stages[status] = await stageAt(stay, during);
    }
    expect(stages).toEqual({
      inquiry: "inquiry",
      pending: "pending",
      awaiting_payment: "pending",
      declined: "cancelled",
      expired: "cancelled",
      cancelled: "cancelled",
    });
  });
});
