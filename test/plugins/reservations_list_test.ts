import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Json } from "../fixture.ts";
import { fault, type Inn, openInn } from "./inn.ts";

describe("reservations are narrowed by", () => {
  let inn: Inn;
  const listings: Json[] = [];
  const stays = new Map<string, Json>();

  beforeAll(async () => {
    inn = await openInn();
    for (const title of ["Lake", "Sea"]) listings.push(await inn.listing({ title }));
    const add = async (
      name: string,
      n: number,
      from: string,
      to: string,
      fields: object = {},
    ): Promise<void> => {
      const guest = { full_name: name, email: `${name.toLowerCase()}@example.com` };
      stays.set(name, await inn.stay(listings[n], from, to, { guest, ...fields }));
      inn.clock.advance(60_000);
    };
    await add("Ada", 0, "2027-05-01", "2027-05-04");
    await add("Bea", 0, "2027-05-04", "2027-05-05", {
      channel: "airbnb",
      channel_reservation_id: "HM-1",
      source: "hostaway",
    });
    await add("Cyd", 1, "2027-05-02", "2027-05-10", { status: "pending", channel: "vrbo" });
    await add("Dot", 1, "2027-06-01", "2027-06-02", { external_id: "ext 7" });
    await inn.client("POST", `/v1/reservations/${stays.get("Dot")?.id}/cancel`);
  });
  afterAll(() => inn[Symbol.asyncDispose]());

  const names = async (query: string): Promise<string[]> => {
    const { status, json, text } = await inn.client(
      "GET",
      `/v1/reservations?sort=created_at&${query}`,
    );
    if (status !== 200) throw new Error(text);
    return json.data.map(({ guest }: Json) => guest.full_name);
  };
  const refused = async (query: string): Promise<unknown[]> =>
    fault(await inn.client("GET", `/v1/reservations?${query}`));

  test("nothing, unless asked: no window of dates, and cancelled ones too", async () => {
    expect(await names("")).toEqual(["Ada", "Bea", "Cyd", "Dot"]);
  });

  test("one status or several", async () => {
    expect(await names("status=pending")).toEqual(["Cyd"]);
    expect(await names("status=pending,cancelled")).toEqual(["Cyd", "Dot"]);
    expect(await refused("status=gone")).toEqual([422, "validation_failed", "status[0]"]);
  });

  test("one listing or several, which must be there", async () => {
    const [lake, sea] = listings;
    expect(await names(`listing_id=${lake.id}`)).toEqual(["Ada", "Bea"]);
    expect(await names(`listing_id=${lake.id},${sea.id}`)).toEqual(["Ada", "Bea", "Cyd", "Dot"]);
    expect(await refused("listing_id=nowhere")).toEqual([404, "not_found"]);
  });

  test("the guest", async () => {
    expect(await names(`guest_id=${stays.get("Bea")?.guest_id}`)).toEqual(["Bea"]);
    expect(await refused("guest_id=nobody")).toEqual([404, "not_found"]);
  });

  test("the guest, of whom a key that is restricted to listings learns from its own stays only", async () => {
    const { client } = await inn.server.key({ listing_ids: [listings[0].id] });
    const asked = async (guest_id: string) => {
      const { status, json } = await client("GET", `/v1/reservations?guest_id=${guest_id}`);
      return [status, json.data?.map(({ id }: Json) => id)];
    };
    const [own, elsewhere] = [stays.get("Bea"), stays.get("Cyd")];
    expect(await asked(own.guest_id)).toEqual([200, [own.id]]);
    expect(await asked(elsewhere.guest_id)).toEqual([200, []]);
    expect(await asked("nobody")).toEqual([200, []]);
  });

  test("one channel or several, the source, and the ids that others gave", async () => {
    expect(await names("channel=airbnb")).toEqual(["Bea"]);
    expect(await names("channel=airbnb,vrbo")).toEqual(["Bea", "Cyd"]);
    expect(await names("source=hostaway")).toEqual(["Bea"]);
    expect(await names("channel_reservation_id=HM-1")).toEqual(["Bea"]);
    expect(await names("external_id=ext%207")).toEqual(["Dot"]);
    expect(await refused("channel=expedya")).toEqual([422, "validation_failed", "channel[0]"]);
  });

  test("the days of arrival and of departure, both ends included", async () => {
    expect(await names("check_in_from=2027-05-02")).toEqual(["Bea", "Cyd", "Dot"]);
    expect(await names("check_in_to=2027-05-02")).toEqual(["Ada", "Cyd"]);
    expect(await names("check_in_from=2027-05-02&check_in_to=2027-05-04")).toEqual(["Bea", "Cyd"]);
    expect(await names("check_out_from=2027-05-05")).toEqual(["Bea", "Cyd", "Dot"]);
    expect(await names("check_out_to=2027-05-05")).toEqual(["Ada", "Bea"]);
    expect(await refused("check_in_from=2027-02-30")).toEqual([
      422,
      "validation_failed",
      "check_in_from",
    ]);
  });

  test("nights within some days: neither the day of departure nor the one before arrival counts", async () => {
    expect(await names("stay_overlaps=2027-05-04..2027-05-04")).toEqual(["Bea", "Cyd"]);
    expect(await names("stay_overlaps=2027-05-03..2027-05-04")).toEqual(["Ada", "Bea", "Cyd"]);
    expect(await names("stay_overlaps=2027-05-10..2027-05-31")).toEqual([]);
    expect(await names("stay_overlaps=2027-04-01..2027-04-30")).toEqual([]);
    for (const wrong of [
      "2027-05-01",
      "2027-05-04..2027-05-01",
      "2027-02-30..2027-03-01",
      "2027-05-01..2027-13-01",
      "..",
    ]) {
      expect([wrong, ...(await refused(`stay_overlaps=${wrong}`))]).toEqual([
        wrong,
        422,
        "validation_failed",
        "stay_overlaps",
      ]);
    }
  });

  test("the instants of making and of changing, included", async () => {
    expect(await names(`created_since=${stays.get("Cyd")?.created_at}`)).toEqual(["Cyd", "Dot"]);
    expect(await names("updated_since=2027-01-10T12:04:00Z")).toEqual(["Dot"]);
    expect(await refused("updated_since=yesterday")).toEqual([
      422,
      "validation_failed",
      "updated_since",
    ]);
  });

  test("q: a code, a channel's code, or a part of the guest's name or address", async () => {
    expect(await names(`q=${stays.get("Ada")?.confirmation_code.toLowerCase()}`)).toEqual(["Ada"]);
    expect(await names("q=HM-1")).toEqual(["Bea"]);
    expect(await names("q=BE")).toEqual(["Bea"]);
    expect(await names("q=cyd%40example")).toEqual(["Cyd"]);
    expect(await names("q=%25")).toEqual([]);
  });

  test("several things at once, all of which must hold", async () => {
    expect(await names("status=confirmed&check_in_from=2027-05-02&q=example.com")).toEqual(["Bea"]);
  });

  test("fields: what is shown of each", async () => {
    const { json } = await inn.client(
      "GET",
      "/v1/reservations?fields=id,status&sort=created_at&limit=1",
    );
    expect(json.data).toEqual([{ id: stays.get("Ada")?.id, status: "confirmed" }]);
    expect(await refused("fields=id,bogus")).toEqual([422, "validation_failed", "fields"]);
  });

  test("and by nothing that is misspelt", async () => {
    expect(await refused("stauts=pending")).toEqual([400, "unknown_parameter", "stauts"]);
  });
});

describe("a list of reservations that goes on", () => {
  let inn: Inn;
  let listing: Json;
  let others = 0;

  beforeAll(async () => {
    inn = await openInn();
    listing = await inn.listing();
    // All of one moment: only their ids tell them apart.
    for (let n = 0; n < 120; n++) await add(n);
  });
  afterAll(() => inn[Symbol.asyncDispose]());

  const date = (n: number): string => new Date(Date.UTC(2027, 5, 1 + n)).toISOString().slice(0, 10);
  /** In no order: 49 and 121 have no common divisor. */
  const add = (n: number): Promise<Json> =>
    inn.stay(listing, date((n * 49) % 121), date(((n * 49) % 121) + 1), { status: "inquiry" });

  for (const sort of [
    "-created_at",
    "created_at",
    "check_in_date",
    "-check_in_date",
    "check_out_date",
    "updated_at",
  ]) {
    test(`by ${sort} skips and repeats none of 120 while others come in`, async () => {
      const before = (await inn.server.rows("reservations")).map(({ id }) => id);
      const seen: Json[] = [];
      let next: string | null = `/v1/reservations?limit=25&sort=${sort}`;
      while (next !== null) {
        const reply = await inn.client("GET", next);
        expect(reply.status).toBe(200);
        const { data, page } = reply.json;
        seen.push(...data);
        expect([page.limit, page.has_more]).toEqual([25, page.next_cursor !== null]);
        const link: string | null = reply.headers.get("link");
        expect(link === null).toBe(page.next_cursor === null);
        next = link === null ? null : (/^<(.+)>; rel="next"$/.exec(link)?.[1] ?? "");
        for (let n = 0; n < 3; n++) await add(120 + ++others);
      }
      const ids = seen.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(expect.arrayContaining(before));
      const column = sort.replace("-", "");
      const values = seen.map((one): string => one[column]);
      expect(values).toEqual(
        sort.startsWith("-") ? values.toSorted().reverse() : values.toSorted(),
      );
    });
  }

  test("holds 50 unless told otherwise, and 200 at most", async () => {
    const { json } = await inn.client("GET", "/v1/reservations");
    expect([json.data.length, json.page.limit, json.page.has_more]).toEqual([50, 50, true]);
    expect((await inn.client("GET", "/v1/reservations?limit=200")).json.page).toMatchObject({
      limit: 200,
    });
    for (const limit of ["0", "201", "-1", "1.5", "many", ""]) {
      expect(fault(await inn.client("GET", `/v1/reservations?limit=${limit}`))).toEqual([
        422,
        "validation_failed",
        "limit",
      ]);
    }
  });

  test("refuses a cursor that it has not given, or not for this order", async () => {
    const { json } = await inn.client("GET", "/v1/reservations?limit=1");
    const forged = (value: unknown): string =>
      Buffer.from(JSON.stringify(value)).toString("base64url");
    const cursors = [
      "nonsense",
      "%01",
      forged({}),
      forged([]),
      forged(["-created_at", {}, "x"]),
      forged(["-created_at", null, "x"]),
    ];
    for (const cursor of ["", ...cursors]) {
      const reply = await inn.client("GET", `/v1/reservations?cursor=${cursor}`);
      expect([cursor, ...fault(reply)]).toEqual([cursor, 400, "invalid_cursor"]);
    }
    const other = await inn.client(
      "GET",
      `/v1/reservations?sort=check_in_date&cursor=${json.page.next_cursor}`,
    );
    expect(fault(other)).toEqual([400, "invalid_cursor"]);
    expect(fault(await inn.client("GET", "/v1/reservations?sort=nights"))).toEqual([
      422,
      "validation_failed",
      "sort",
    ]);
  });

  test("ends with a page that has no next one", async () => {
    const { json, headers } = await inn.client("GET", "/v1/reservations?check_in_from=2099-01-01");
    expect([json, headers.get("link")]).toEqual([
      { data: [], page: { next_cursor: null, has_more: false, limit: 50 } },
      null,
    ]);
  });
});
