import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Json } from "../fixture.ts";
import { type Inn, openInn } from "./inn.ts";

let inn: Inn;
beforeAll(async () => {
  inn = await openInn();
});
afterAll(() => inn[Symbol.asyncDispose]());

const small = { title: "Lake house", timezone: "Europe/Rome", currency: "EUR" };
const patch = ({ id }: Json, fields: object) => inn.client("PATCH", `/v1/listings/${id}`, fields);

describe("what only the trusted may know", () => {
  const secrets = {
    wifi_password: "hunter2-geheim",
    access_instructions: "Key under the third stone",
  };

  test("is shown with listings:read_sensitive only", async () => {
    const reader = await inn.server.key({ scopes: ["listings:read", "listings:write"] });
    const trusted = await inn.server.key({ scopes: ["listings:read", "listings:read_sensitive"] });
    const made = await reader.client("POST", "/v1/listings", { ...small, ...secrets });
    const path = `/v1/listings/${made.json.id}`;
    const blind = [
      made,
      await reader.client("GET", path),
      await reader.client("GET", "/v1/listings"),
      await reader.client("PATCH", path, { title: "Other" }),
      await reader.client("PATCH", path, {}),
      await reader.client("POST", `${path}/archive?dry_run=true`, {}),
    ];
    for (const { status, text } of blind) {
      expect(status).toBeLessThan(300);
      for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
    }
    expect((await trusted.client("GET", path)).json).toMatchObject(secrets);
    expect((await trusted.client("GET", "/v1/listings")).text).toContain(secrets.wifi_password);
  });

  test("is never in an event nor in the audit log", async () => {
    const listing = await inn.listing(secrets);
    const told = await inn.told(() =>
      patch(listing, { wifi_password: "second-geheim", access_instructions: null }),
    );
    expect(told.map(([name, { changed_fields }]) => [name, changed_fields])).toEqual([
      ["listing.updated", ["wifi_password", "access_instructions"]],
    ]);
    const events = JSON.stringify(await inn.server.payloads("listing.updated"));
    const log = JSON.stringify(await inn.server.rows("audit_entries"));
    for (const secret of [...Object.values(secrets), "second-geheim"]) {
      expect(events).not.toContain(secret);
      expect(log).not.toContain(secret);
    }
  });
});
