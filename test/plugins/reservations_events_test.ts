import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Json } from "../fixture.ts";
import { type Inn, openInn, type Told } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const patch = ({ id }: Json, fields: object) =>
  inn.client("PATCH", `/v1/reservations/${id}`, fields);
const post = ({ id }: Json, action: string, body?: object) =>
  inn.client("POST", `/v1/reservations/${id}/${action}`, body);

/** A reservation as others see it. */
const open = ({ notes_internal: _notes, metadata: _metadata, ...rest }: Json): Json => rest;

/** Of a change: its event's name, what changed, and what it was before. */
const changes = (told: readonly Told[]): unknown[] =>
  told.map(([name, { changed_fields, previous }]) => [name, changed_fields, previous]);

test("a new reservation is told of once, with all that it is but the team's own notes", async () => {
  const listing = await inn.listing();
  let stay: Json;
  const told = await inn.told(async () => {
    stay = await inn.stay(listing, "2027-05-14", "2027-05-17", {
      notes_internal: "Geheimnotiz",
      metadata: { secret: "Geheimdatum" },
      channel: "airbnb",
      channel_reservation_id: "HM1",
      source: "hostaway",
      source_reservation_id: "9",
    });
  });
  expect(told).toEqual([["reservation.created", open(stay)]]);
  expect(stay.notes_internal).toBe("Geheimnotiz");
  expect(JSON.stringify(told)).not.toContain("Geheim");
  const names = [
    "source",
    "channel",
    "source_reservation_id",
    "channel_reservation_id",
    "check_in_at",
    "check_out_at",
  ];
  expect(Object.keys(told[0]?.[1])).toEqual(expect.arrayContaining(names));
});

describe("a change", () => {
  test("is told of with what changed and what it was", async () => {
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17", {
      total_price: "100",
    });
    inn.clock.advance(1000);
    let after: Json;
    const told = await inn.told(async () => {
      after = (await patch(stay, { adults: 2, children: 1, total_price: "150.5", tags: ["vip"] }))
        .json;
    });
    expect(after).toMatchObject({
      adults: 2,
      children: 1,
      num_guests: 3,
      total_price: "150.50",
      tags: ["vip"],
      version: 2,
    });
    const previous = { adults: 1, children: 0, num_guests: 1, total_price: "100.00", tags: [] };
    expect(told).toHaveLength(1);
    const [name, { changed_fields, ...data }] = told[0] ?? ["", {}];
    expect([name, data]).toEqual(["reservation.updated", { ...open(after), previous }]);
    expect(changed_fields.sort()).toEqual(Object.keys(previous).sort());
  });

  test("names only fields that differ, however many are given", async () => {
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17", {
      total_price: "100",
    });
    const told = await inn.told(() =>
      patch(stay, { adults: 1, total_price: "100.0", pets: 1, payment_status: "unpaid" }),
    );
    expect(changes(told)).toEqual([["reservation.updated", ["pets"], { pets: 0 }]]);
  });

  test("of nothing is not told of, and the version stays", async () => {
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17", {
      total_price: "100",
      metadata: { a: "1", b: "2" },
    });
    const told = await inn.told(async () => {
      const nothing = [
        {},
        { adults: 1 },
        { total_price: "100" },
        { total_price: "100.00" },
        { status: "confirmed" },
        { metadata: { b: "2", a: "1" } },
      ];
      for (const same of nothing) expect((await patch(stay, same)).json).toEqual(stay);
    });
    expect(told).toEqual([]);
  });

  test("of the team's own notes names them and shows nothing of them", async () => {
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17", {
      notes_internal: "Geheim eins",
    });
    const told = await inn.told(() =>
      patch(stay, { notes_internal: "Geheim zwei", metadata: { k: "Geheim drei" } }),
    );
    expect(changes(told)).toEqual([["reservation.updated", ["notes_internal", "metadata"], {}]]);
    expect(JSON.stringify(told)).not.toContain("Geheim");
    const log = JSON.stringify((await inn.server.rows("audit_entries")).slice(-2));
    expect(log).not.toContain("Geheim eins");
    expect(log).not.toContain("Geheim zwei");
  });

  test("of the status is told of as a change of status", async () => {
    const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17", {
      status: "pending",
    });
    const told = await inn.told(() => patch(stay, { status: "confirmed" }));
    const { status_history } = stay;
    expect(changes(told)).toEqual([
      [
        "reservation.updated",
        ["status", "status_history", "confirmed_at"],
        { status: "pending", status_history, confirmed_at: null },
      ],
    ]);
  });
});

test("a cancellation is told of as a change and as what it is, in this order, once", async () => {
  const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
  let after: Json;
  const told = await inn.told(async () => {
    after = (await post(stay, "cancel", { cancelled_by: "guest", reason: "Ill" })).json;
    expect((await post(stay, "cancel")).status).toBe(409);
  });
  const fields = [
    "status",
    "status_history",
    "cancelled_at",
    "cancelled_by",
    "cancellation_reason",
  ];
  const { status_history } = stay;
  const previous = {
    status: "confirmed",
    status_history,
    cancelled_at: null,
    cancelled_by: null,
    cancellation_reason: null,
  };
  expect(told).toEqual([
    ["reservation.updated", { ...open(after), changed_fields: fields, previous }],
    ["reservation.cancelled", open(after)],
  ]);
  expect(told[1]?.[1]).toMatchObject({
    cancelled_by: "guest",
    cancellation_reason: "Ill",
    cancelled_at: after.updated_at,
  });
});

test("a move is told of as a change and as what it is, with where it came from", async () => {
  const stay = await inn.stay(await inn.listing(), "2027-05-14", "2027-05-17");
  let after: Json;
  const told = await inn.told(async () => {
    after = (
      await post(stay, "reschedule", { check_in_date: "2027-05-14", check_out_date: "2027-05-18" })
    ).json;
  });
  const { check_out_date, nights, check_out_at } = stay;
  expect(told).toEqual([
    [
      "reservation.updated",
      {
        ...open(after),
        changed_fields: ["check_out_date", "nights", "check_out_at"],
        previous: { check_out_date, nights, check_out_at },
      },
    ],
    [
      "reservation.rescheduled",
      {
        ...open(after),
        previous_check_in_at: stay.check_in_at,
        previous_check_out_at: stay.check_out_at,
        previous_nights: 3,
      },
    ],
  ]);
});

test("what is refused, only tried or repeated under a key is not told of", async () => {
  const listing = await inn.listing();
  const stay = await inn.stay(listing, "2027-05-14", "2027-05-17");
  const told = await inn.told(async () => {
    await inn.book(listing, "2027-05-14", "2027-05-17");
    await inn.client("POST", `/v1/reservations/${stay.id}/cancel?dry_run=true`);
    await inn.client("PATCH", `/v1/reservations/${stay.id}`, { adults: 2 }, { "if-match": '"7"' });
    for (let n = 0; n < 3; n++) {
      await inn.client(
        "PATCH",
        `/v1/reservations/${stay.id}`,
        { adults: 3 },
        { "idempotency-key": "one" },
      );
    }
  });
  expect(changes(told)).toEqual([
    ["reservation.updated", ["adults", "num_guests"], { adults: 1, num_guests: 1 }],
  ]);
});
