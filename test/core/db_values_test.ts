/**
 * Values between the wire and the table: dates, instants, zones, amounts, records, ids.
 */

import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { choice, currency, money, nullable, Problem, t } from "#core";

import {
  addDays,
  codec,
  columnsOf,
  dateIn,
  fakeClock,
  fromMinor,
  instantIn,
  instantOf,
  msOf,
  newId,
  newUlid,
  nightsBetween,
  pick,
  type Row,
  systemClock,
  toMinor,
} from "../../core/db/mod.ts";
import { minorDigits } from "../../core/db/row.ts";
import { isDate, isInstant, isTime, isTimezone } from "../../core/db/time.ts";

const dates = fc
  .integer({ min: Date.UTC(1950, 0, 1) / 86_400_000, max: Date.UTC(2200, 0, 1) / 86_400_000 })
  .map((day) => instantOf(day * 86_400_000).slice(0, 10));

describe("dates", () => {
  test("exist in the calendar, or are refused", () => {
    for (const real of ["2024-02-29", "2000-02-29", "2027-12-31", "0001-01-01", "9999-12-31"]) {
      expect([real, isDate(real)]).toEqual([real, true]);
    }
    const unreal = [
      "2023-02-29",
      "1900-02-29",
      "2027-04-31",
      "2027-00-10",
      "2027-13-01",
      "2027-01-00",
    ];
    const malformed = [
      "2027-1-1",
      "27-01-01",
      "2027-01-01T00:00:00Z",
      " 2027-01-01",
      "2027/01/01",
      "",
      "２０２７-01-01",
    ];
    for (const wrong of [...unreal, ...malformed])
      expect([wrong, isDate(wrong)]).toEqual([wrong, false]);
  });

  test("moved by days are dates, and the nights between tell by how many", () => {
    fc.assert(
      fc.property(dates, fc.integer({ min: -3000, max: 3000 }), (from, days) => {
        const to = addDays(from, days);
        expect(isDate(to)).toBe(true);
        expect(nightsBetween(from, to)).toBe(days);
        expect(nightsBetween(to, from)).toBe(days === 0 ? 0 : -days);
        expect(addDays(to, -days)).toBe(from);
        expect(to > from).toBe(days > 0);
      }),
      { numRuns: 2000 },
    );
  });

  test("are moved over the ends of months and years, and over clock changes", () => {
    expect(addDays("2024-02-28", 1)).toBe("2024-02-29");
    expect(addDays("2023-12-31", 1)).toBe("2024-01-01");
    expect(addDays("2024-01-01", -1)).toBe("2023-12-31");
    expect(nightsBetween("2027-03-27", "2027-03-29")).toBe(2);
  });
});

test("instants have one form", () => {
  for (const good of ["2027-05-14T13:00:00Z", "2024-02-29T23:59:59Z"])
    expect(isInstant(good)).toBe(true);
  const bad = [
    "2027-05-14T24:00:00Z",
    "2027-05-14T13:60:00Z",
    "2027-05-14T13:00:60Z",
    "2027-05-14T13:00:00+00:00",
    "2027-05-14T13:00:00.000Z",
    "2027-05-14 13:00:00Z",
    "2027-02-30T13:00:00Z",
    "2027-05-14T13:00:00",
  ];
  for (const wrong of bad) expect([wrong, isInstant(wrong)]).toEqual([wrong, false]);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 7_258_118_400 }), (seconds) => {
      const instant = instantOf(seconds * 1000 + 999);
      expect(isInstant(instant)).toBe(true);
      expect(msOf(instant)).toBe(seconds * 1000);
    }),
  );
  expect(["00:00", "23:59"].map(isTime)).toEqual([true, true]);
  expect(["24:00", "9:00", "09:60", "09:00:00"].map(isTime)).toEqual([false, false, false, false]);
});

test("zones are IANA names, not offsets", () => {
  for (const zone of ["Europe/Rome", "America/Argentina/Buenos_Aires", "UTC", "Etc/GMT+5"]) {
    expect([zone, isTimezone(zone)]).toEqual([zone, true]);
    expect(isTimezone(zone)).toBe(true);
  }
  for (const wrong of ["+02:00", "Europe/Nowhere", "", "Rome", "Europe/", "../etc/passwd"]) {
    expect([wrong, isTimezone(wrong)]).toEqual([wrong, false]);
  }
});

describe("a local time becomes an instant", () => {
  const cases: [string, string, string, string][] = [
    ["Europe/Rome", "2027-01-10", "15:00", "2027-01-10T14:00:00Z"],
    ["Europe/Rome", "2027-07-10", "15:00", "2027-07-10T13:00:00Z"],
    // Left out by the clock change: moved forward.
    ["Europe/Rome", "2027-03-28", "02:30", "2027-03-28T01:30:00Z"],
    // Comes twice: the earlier one.
    ["Europe/Rome", "2027-10-31", "02:30", "2027-10-31T00:30:00Z"],
    ["Pacific/Kiritimati", "2027-01-10", "15:00", "2027-01-10T01:00:00Z"],
    ["Pacific/Pago_Pago", "2027-01-10", "15:00", "2027-01-11T02:00:00Z"],
    ["Asia/Kathmandu", "2027-01-10", "00:00", "2027-01-09T18:15:00Z"],
  ];
  for (const [zone, date, time, instant] of cases) {
    test(`in ${zone} on ${date} at ${time}`, () => {
      expect(instantIn(zone, date, time)).toBe(instant);
      expect(dateIn(zone, instant)).toBe(date);
    });
  }
});

test("a clock stands where it is put, and the machine's goes on", () => {
  const clock = fakeClock(1_800_000_000_000);
  expect([clock.ms(), clock.now()]).toEqual([1_800_000_000_000, "2027-01-15T08:00:00Z"]);
  clock.advance(90_061_000);
  expect(clock.now("any account")).toBe("2027-01-16T09:01:01Z");
  clock.set(0);
  expect(clock.now()).toBe("1970-01-01T00:00:00Z");
  const system = systemClock();
  expect(system.ms()).toBeGreaterThan(1_700_000_000_000);
  expect(isInstant(system.now())).toBe(true);
});

describe("amounts", () => {
  const cases: [string, string, number, string][] = [
    ["120.5", "EUR", 12_050, "120.50"],
    ["120", "EUR", 12_000, "120.00"],
    ["0.05", "EUR", 5, "0.05"],
    ["-0.5", "EUR", -50, "-0.50"],
    ["-12.34", "EUR", -1234, "-12.34"],
    ["007.10", "EUR", 710, "7.10"],
    ["1.5000", "EUR", 150, "1.50"],
    ["1500", "JPY", 1500, "1500"],
    ["1500.0", "JPY", 1500, "1500"],
    ["1.234", "KWD", 1234, "1.234"],
    ["0.1", "BHD", 100, "0.100"],
    ["999999999999.99", "EUR", 99_999_999_999_999, "999999999999.99"],
  ];
  for (const [text, code, minor, back] of cases) {
    test(`${text} ${code} are ${minor}`, () => {
      expect(toMinor(text, code)).toBe(minor);
      expect(fromMinor(minor, code)).toBe(back);
    });
  }

  test("with more decimals than their currency has are refused, not rounded", () => {
    for (const [text, code] of [
      ["0.001", "EUR"],
      ["1.5", "JPY"],
      ["-1.0001", "KWD"],
    ] as const) {
      const refused = (): number => toMinor(text, code, "total_price");
      expect(refused).toThrow(Problem);
      expect(refused).toThrow('"total_price" has more decimals');
    }
  });

  test("too large to be kept exactly are refused, and there is no minus zero", () => {
    expect(() => toMinor("999999999999.9999", "CLF", "fee")).toThrow('"fee" is too large');
    expect(Object.is(toMinor("-0.00", "EUR"), 0)).toBe(true);
  });

  test("go there and back unchanged, in every currency", () => {
    const currencies = fc.constantFrom(...Intl.supportedValuesOf("currency"));
    fc.assert(
      fc.property(currencies, fc.maxSafeInteger(), (code, minor) => {
        expect(toMinor(fromMinor(minor, code), code)).toBe(minor);
      }),
      { numRuns: 3000 },
    );
    // Whatever the wire lets in is kept exactly, or refused: never rounded.
    const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`));
    fc.assert(
      fc.property(
        currencies,
        digits(12),
        digits(4),
        fc.boolean(),
        (code, whole, fraction, negative) => {
          const text = `${negative ? "-" : ""}${whole}.${fraction}`;
          let minor: number;
          try {
            minor = toMinor(text, code);
          } catch (error) {
            expect(error).toBeInstanceOf(Problem);
            return;
          }
          const scale = 10n ** BigInt(Math.max(0, 4 - minorDigits(code)));
          const exact = BigInt(whole + fraction.padEnd(4, "0")) * (negative ? -1n : 1n);
          expect(Number.isSafeInteger(minor)).toBe(true);
          expect(BigInt(minor) * scale).toBe(exact);
          expect(Object.is(minor, -0)).toBe(false);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe("records and rows", () => {
  const Thing = t.Object({
    id: t.String(),
    title: t.String(),
    kind: choice(["a", "b"]),
    count: t.Integer(),
    ratio: t.Number(),
    done: t.Boolean(),
    seen: nullable(t.Boolean()),
    tags: t.Array(t.String()),
    nested: nullable(t.Object({ deep: t.Boolean() })),
    price: money(),
    fee: nullable(money()),
    currency: currency(),
  });
  const things = codec(Thing);
  const thing = {
    id: "1",
    title: "true",
    kind: "a",
    count: 3,
    ratio: 0.5,
    done: true,
    seen: null,
    tags: ["x", 'y"'],
    nested: { deep: false },
    price: "12.50",
    fee: null,
    currency: "EUR",
  } as const;

  test("become each other", () => {
    const row = things.encode({ ...thing, tags: [...thing.tags] });
    expect(row).toEqual({
      id: "1",
      title: "true",
      kind: "a",
      count: 3,
      ratio: 0.5,
      done: 1,
      seen: null,
      tags: '["x","y\\""]',
      nested: '{"deep":false}',
      price: 1250,
      fee: null,
      currency: "EUR",
    } as never);
    expect(things.decode(row as never)).toEqual({ ...thing, tags: [...thing.tags] });
  });

  test("of a part need the currency of its amounts", () => {
    expect(things.encode({ fee: "3.00" }, "EUR")).toEqual({ fee: 300 } as never);
    expect(things.encode({ done: false, tags: [] })).toEqual({ done: 0, tags: "[]" } as never);
    expect(() => things.encode({ fee: "3.00" })).toThrow("without its currency");
    expect(things.encode({ fee: null })).toEqual({ fee: null } as never);
  });

  test("leave what they are given as it was, when written", () => {
    const given = { tags: ["a"], done: true };
    things.encode(given);
    expect(given).toEqual({ tags: ["a"], done: true });
  });

  test("have all columns of the schema and no others", () => {
    const row = { ...things.encode({ ...thing, tags: [] }), other: 1 } as unknown as Row<
      typeof thing
    >;
    expect(Object.keys(pick(row, columnsOf(Thing)))).toEqual(Object.keys(Thing.properties));
  });
});

test("ids are unique and in the order in which they were made", () => {
  const ids = Array.from({ length: 2000 }, newId);
  const ulids = Array.from({ length: 2000 }, newUlid);
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ulids[0]).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  for (const list of [ids, ulids]) {
    expect(new Set(list).size).toBe(2000);
    expect(list.toSorted()).toEqual(list);
  }
});
