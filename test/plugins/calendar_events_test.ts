import { expect, test } from "bun:test";

import type { Json } from "../fixture.ts";
import { type Inn, openInn } from "./inn.ts";

/** An inn whose jobs run when the test says so, and then only. */
async function withJobs(): Promise<Inn> {
  const inn = await openInn();
  // Learns what is to be run; its own loop then rests.
  await inn.server.app.scheduler.start();
  await inn.server.app.scheduler.stop();
  return inn;
}

const wait = async (inn: Inn, seconds: number): Promise<void> => {
  inn.clock.advance(seconds * 1000);
  await inn.server.app.scheduler.runDue();
};
const told = async ({ server }: Inn): Promise<Json[]> => await server.payloads("calendar.updated");
const block = async (
  { client }: Inn,
  { id }: Json,
  start_date: string,
  end_date: string,
): Promise<Json> =>
  (await client("POST", `/v1/listings/${id}/calendar-blocks`, { start_date, end_date })).json;

test("changes of a calendar within five seconds are told of once, with the range of all of them", async () => {
  await using inn = await withJobs();
  const listing = await inn.listing({ base_price: "80", min_nights: 2 });
  await inn.stay(listing, "2027-05-10", "2027-05-12");
  await wait(inn, 3);
  const { id } = await block(inn, listing, "2027-05-08", "2027-05-09");
  await wait(inn, 1);
  expect(await told(inn)).toEqual([]);
  await inn.client("DELETE", `/v1/calendar-blocks/${id}`);
  await wait(inn, 1);
  const day = (date: string, available: boolean): Json => ({
    date,
    available,
    price: "80.00",
    min_nights: 2,
  });
  expect(await told(inn)).toEqual([
    {
      listing_id: listing.id,
      listing_title: "Lake house",
      start_date: "2027-05-08",
      end_date: "2027-05-12",
      reasons: ["manual", "reservation"],
      days: [
        day("2027-05-08", true),
        day("2027-05-09", true),
        day("2027-05-10", false),
        day("2027-05-11", false),
      ],
      truncated: false,
    },
  ]);
  await wait(inn, 60);
  expect(await told(inn)).toHaveLength(1);
});

test("what changes after that is told of anew, and each listing on its own", async () => {
  await using inn = await withJobs();
  const [one, other] = [await inn.listing(), await inn.listing()];
  await block(inn, one, "2027-05-01", "2027-05-02");
  await block(inn, other, "2027-06-01", "2027-06-02");
  await wait(inn, 5);
  await block(inn, one, "2027-05-03", "2027-05-04");
  await wait(inn, 5);
  expect(
    (await told(inn)).map(({ listing_id, start_date, end_date }) => [
      listing_id,
      start_date,
      end_date,
    ]),
  ).toEqual([
    [one.id, "2027-05-01", "2027-05-02"],
    [other.id, "2027-06-01", "2027-06-02"],
    [one.id, "2027-05-03", "2027-05-04"],
  ]);
});

test("every way in which nights are taken or given back is told of", async () => {
  await using inn = await withJobs();
  const listing = await inn.listing();
  const after = async (work: () => Promise<unknown>): Promise<unknown[]> => {
    const before = (await told(inn)).length;
    await work();
    await wait(inn, 5);
    return (await told(inn))
      .slice(before)
      .map(({ start_date, end_date, reasons, days }) => [
        start_date,
        end_date,
        reasons,
        days.filter(({ available }: Json) => !available).length,
      ]);
  };
  const post = (path: string, body: object = {}) =>
    inn.client("POST", `/v1/reservations/${path}`, body);
  const { id } = await inn.stay(listing, "2027-05-01", "2027-05-03", { status: "inquiry" });
  expect(
    await after(() => inn.client("PATCH", `/v1/reservations/${id}`, { status: "confirmed" })),
  ).toEqual([["2027-05-01", "2027-05-03", ["reservation"], 2]]);
  const moved = { check_in_date: "2027-05-05", check_out_date: "2027-05-06" };
  expect(await after(() => post(`${id}/reschedule`, moved))).toEqual([
    ["2027-05-01", "2027-05-06", ["reservation"], 1],
  ]);
  expect(await after(() => post(`${id}/cancel`))).toEqual([
    ["2027-05-05", "2027-05-06", ["reservation"], 0],
  ]);
});

test("what takes no night, fails or is only tried is not told of", async () => {
  await using inn = await withJobs();
  const listing = await inn.listing();
  const stay = await inn.stay(listing, "2027-05-01", "2027-05-03");
  await wait(inn, 5);
  expect(await told(inn)).toHaveLength(1);
  await inn.stay(listing, "2027-05-01", "2027-05-03", { status: "inquiry" });
  await inn.book(listing, "2027-05-02", "2027-05-04");
  await inn.client("POST", `/v1/listings/${listing.id}/calendar-blocks?dry_run=true`, {
    start_date: "2027-06-01",
    end_date: "2027-06-02",
  });
  await inn.client("PATCH", `/v1/reservations/${stay.id}`, { adults: 2 });
  await wait(inn, 60);
  expect(await told(inn)).toHaveLength(1);
});

test("a long range is told of with its first 62 days, and says so", async () => {
  await using inn = await withJobs();
  const listing = await inn.listing();
  await block(inn, listing, "2027-05-01", "2027-07-02");
  await wait(inn, 5);
  await block(inn, listing, "2027-08-01", "2028-08-01");
  await wait(inn, 5);
  const [short, long] = await told(inn);
  expect([short.days.length, short.truncated, short.end_date]).toEqual([62, false, "2027-07-02"]);
  expect([long.days.length, long.truncated, long.end_date]).toEqual([62, true, "2028-08-01"]);
});

test("the news of a calendar survives a restart before it was told", async () => {
  const first = await withJobs();
  const listing = await first.listing();
  await block(first, listing, "2027-05-01", "2027-05-02");
  await first.server.stop();
  await using second = await openInn({ dir: first.server.dir });
  await second.server.app.scheduler.start();
  await second.server.app.scheduler.stop();
  await wait(second, 5);
  expect((await told(second)).map(({ listing_id }) => listing_id)).toEqual([listing.id]);
});
