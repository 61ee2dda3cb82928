/**
 * What an answer means, and when a failed delivery is tried again.
 */

import { expect, test } from "bun:test";

import fc from "fast-check";

import { retryAfterSeconds, retryDelay, verdict } from "../../core/outbox/schedule.ts";

const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 50_400];

test("every status has its verdict", () => {
  const expected = (status: number): string => {
    if (status < 200) return "failed";
    if (status < 300) return "ok";
    if (status === 429) return "failed";
    return status < 500 ? "rejected" : "failed";
  };
  for (let status = 100; status <= 620; status++) {
    expect([status, verdict(status)]).toEqual([status, expected(status)] as never);
  }
  // The corners, spelled out.
  const corners = {
    199: "failed",
    200: "ok",
    299: "ok",
    300: "rejected",
    399: "rejected",
    400: "rejected",
  };
  const more = {
    408: "rejected",
    425: "rejected",
    428: "rejected",
    429: "failed",
    430: "rejected",
    499: "rejected",
  };
  for (const [status, outcome] of Object.entries({
    ...corners,
    ...more,
    500: "failed",
    599: "failed",
  })) {
    expect([status, verdict(Number(status))]).toEqual([status, outcome] as never);
  }
  expect(verdict(null)).toBe("failed");
});

test("a retry comes within ten per cent of its step, and after the seventh there is none", () => {
  const seen: number[] = [];
  for (let attempt = 1; attempt <= 7; attempt++) {
    const step = schedule[attempt - 1] as number;
    for (let i = 0; i < 300; i++) {
      const seconds = (retryDelay(`delivery-${i}`, attempt, schedule, null) ?? 0) / 1000;
      expect(seconds).toBeGreaterThanOrEqual(step * 0.9);
      expect(seconds).toBeLessThanOrEqual(step * 1.1);
      seen.push(seconds / step);
    }
  }
  // Spread over the whole band, not bunched.
  expect(Math.min(...seen)).toBeLessThan(0.91);
  expect(Math.max(...seen)).toBeGreaterThan(1.09);
  expect(seen.reduce((sum, each) => sum + each) / seen.length).toBeCloseTo(1, 1);
  expect(retryDelay("delivery", 8, schedule, null)).toBeUndefined();
  expect(retryDelay("delivery", 8, schedule, 10)).toBeUndefined();
  expect(retryDelay("delivery", 1, [], null)).toBeUndefined();
  const total = schedule.reduce((sum, each) => sum + each);
  expect(total / 3600).toBeCloseTo(31.6, 1);
});

test("the same delivery waits equally long whenever it is asked, another one does not", () => {
  const delays = new Set<number | undefined>();
  for (let i = 0; i < 50; i++) {
    const id = `01J0000000000000000000000${i}`;
    expect(retryDelay(id, 3, schedule, null)).toBe(retryDelay(id, 3, schedule, null));
    delays.add(retryDelay(id, 3, schedule, null));
  }
  expect(delays.size).toBe(50);
});

test("a receiver's patience may lengthen a step by an hour at most, and never shorten it", () => {
  const attempts = fc.integer({ min: 1, max: 7 });
  const seconds = fc.oneof(fc.nat(100_000), fc.double({ min: 0, max: 1e12, noNaN: true }));
  fc.assert(
    fc.property(fc.string(), attempts, seconds, (id, attempt, retryAfter) => {
      const plain = retryDelay(id, attempt, schedule, null) ?? 0;
      const patient = retryDelay(id, attempt, schedule, retryAfter) ?? 0;
      const step = (schedule[attempt - 1] as number) * 1000;
      expect(patient).toBeGreaterThanOrEqual(plain);
      expect(patient).toBeLessThanOrEqual(Math.max(plain, step + 3_600_000));
      if (retryAfter * 1000 <= step + 3_600_000)
        expect(patient).toBeGreaterThanOrEqual(retryAfter * 1000);
    }),
  );
  expect(retryDelay("d", 1, schedule, 60)).toBe(60_000);
  expect(retryDelay("d", 1, schedule, 1_000_000)).toBe(3_605_000);
});

test("Retry-After is a number of seconds or a date, and anything else is as if it were not there", () => {
  const now = Date.parse("2027-01-15T08:00:00Z");
  const table: [string | undefined, number | null][] = [
    [undefined, null],
    ["120", 120],
    [" 7 ", 7],
    ["0", 0],
    ["Fri, 15 Jan 2027 08:02:00 GMT", 120],
    ["Fri, 15 Jan 2027 07:00:00 GMT", 0],
    ["soon", null],
    ["", null],
  ];
  for (const [header, seconds] of table) {
    expect([header, retryAfterSeconds(header, now)]).toEqual([header, seconds] as never);
  }
  // Nothing that a receiver says makes a wait that is none.
  for (const odd of ["-5", "1.5", "1e9", "9".repeat(400), "NaN"]) {
    const delay = retryDelay("d", 1, schedule, retryAfterSeconds(odd, now)) ?? 0;
    expect(delay).toBeGreaterThanOrEqual(4500);
    expect(delay).toBeLessThanOrEqual(3_605_000);
  }
});
