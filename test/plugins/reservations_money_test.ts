import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Json } from "../fixture.ts";
import { fault, type Inn, openInn } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

describe("the price of a reservation", () => {
  const priced = (listing: Json, n: number, fields: object = {}) =>
    inn.stay(listing, `2027-05-${10 + 3 * n}`, `2027-05-${13 + 3 * n}`, fields);

  test("is the listing's for each night, and the cleaning, unless amounts are given", async () => {
    const listing = await inn.listing({ base_price: "99.99", cleaning_fee: "40" });
    expect(await priced(listing, 0)).toMatchObject({
      accommodation_total: "299.97",
      cleaning_fee: "40.00",
      total_price: "339.97",
    });
    const amounts = {
      accommodation_total: "300",
      fees_total: "10.5",
      taxes_total: "9",
      discounts_total: "19.5",
    };
    expect(await priced(listing, 1, amounts)).toMatchObject({
      accommodation_total: "300.00",
      cleaning_fee: null,
      total_price: "300.00",
    });
    expect(await priced(listing, 2, { total_price: "1" })).toMatchObject({
      accommodation_total: null,
      total_price: "1.00",
    });
    expect(await priced(listing, 3, { kind: "owner_stay" })).toMatchObject({
      accommodation_total: null,
      total_price: null,
    });
  });

  test("has the digits of the listing's currency", async () => {
    const listing = await inn.listing({ currency: "JPY", base_price: "12000" });
    expect(await priced(listing, 0)).toMatchObject({
      accommodation_total: "36000",
      total_price: "36000",
      currency: "JPY",
    });
    const reply = await inn.book(listing, "2027-06-01", "2027-06-02", { total_price: "100.5" });
    expect(fault(reply)).toEqual([422, "validation_failed", "total_price"]);
    expect((await inn.nights(listing)).map(([date]) => date)).not.toContain("2027-06-01");
  });

  test("is refused where the sum is more than an amount may be", async () => {
    const listing = await inn.listing({ base_price: "999999999999.99" });
    const nights = await inn.book(listing, "2027-06-01", "2027-06-03", {});
    expect(fault(nights)).toEqual([422, "validation_failed", "accommodation_total"]);
    const fees = { accommodation_total: "999999999999.99", fees_total: "1" };
    const sum = await inn.book(listing, "2027-06-01", "2027-06-02", fees);
    expect(fault(sum)).toEqual([422, "validation_failed", "total_price"]);
  });

  test("follows from exact sums, not from floating numbers", async () => {
    const listing = await inn.listing({ base_price: "0.1" });
    const stay = await inn.stay(listing, "2027-05-01", "2027-05-04", {});
    expect(stay.total_price).toBe("0.30");
    const given = await priced(listing, 1, { accommodation_total: "0.1", cleaning_fee: "0.2" });
    expect(given.total_price).toBe("0.30");
  });
});
