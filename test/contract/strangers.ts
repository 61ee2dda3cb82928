/**
 * Whose records an operation touches: those of its caller's account, and of its caller's listings, only.
 *
 * @module
 */

import { expect, test } from "bun:test";

import type { RegisteredOperation } from "../../core/plugin/registry.ts";
import type { TObject, TSchema } from "../../core/plugin/schema.ts";
import { declaredReferences, eachPlace, placeName, sketch, withValue } from "./draft.ts";
import { type House, send, successOf } from "./house.ts";
import { unaudited } from "./rows.ts";

const never = "0198f3a0-0000-7000-8000-000000000000";

/** Ids that other systems, or core, give out: they name no record of an account's tables. */
const outside = /^(external|credential|request|(source|channel)_\w+)_ids?$/;

/** Tests of isolation, of one operation. */
export function strangers(house: () => House, registered: RegisteredOperation): void {
  const { operation, reads } = registered;
  const { references, input: example } = sketch(operation.input as TObject, "all");

  test("marks every id that it takes as a reference, each where a sample shows it", () => {
    expect(references).toHaveLength(declaredReferences(operation.input as TSchema));
    eachPlace(operation.input as TSchema, example, (path) => {
      const name = String(path.findLast((step) => typeof step === "string"));
      if (!/(^|_)ids?$/.test(name) || outside.test(name)) return;
      const marked = references.some((one) => placeName(one.path).startsWith(placeName(path)));
      expect([placeName(path), marked]).toEqual([placeName(path), true]);
    });
  });

  if (references.length === 0) return;

  for (const { path, record } of references) {
    const name = placeName(path);

    test(`answers 404 and changes nothing when "${name}" is a stranger's, or nobody's`, async () => {
      const party = await house().party();
      const { input } = await house().draft(party, registered);
      const strange = (await house().make(await house().stranger(), record)).id;
      const right = await send(
        party.client,
        registered,
        input,
        reads ? {} : { query: "dry_run=true" },
      );
      expect([right.status, right.text]).toEqual([successOf(registered), expect.any(String)]);
      const before = await unaudited(house().server);
      const messages = new Set<string>();
      for (const id of [strange, never]) {
        const reply = await send(party.client, registered, withValue(input, path, id));
        expect([reply.status, reply.json.error?.code]).toEqual([404, "not_found"]);
        const { request_id, ...error } = reply.json.error;
        expect(request_id).toBeString();
        messages.add(JSON.stringify(error).replaceAll(id, "ID"));
      }
      // What differed would tell that somebody has such a record.
      expect(messages.size).toBe(1);
      expect(await unaudited(house().server)).toEqual(before);
    });

    test(`keeps a key to its listings when "${name}" belongs to another`, async () => {
      if (!belongsToListing(house(), record)) return;
      const party = await house().party();
      const { input, listings } = await house().draft(party, registered);
      const other = await house().make(party, record);
      const { client } = await house().server.key({ listing_ids: listings });
      const right = await send(client, registered, input, reads ? {} : { query: "dry_run=true" });
      // Who is restricted to listings makes none.
      if (right.status !== successOf(registered))
        expect(right.json.error.code).toBe("listing_not_permitted");
      const before = await unaudited(house().server);
      const reply = await send(client, registered, withValue(input, path, other.id));
      expect(["listing_not_permitted", "not_found"]).toContain(reply.json.error?.code);
      expect(await unaudited(house().server)).toEqual(before);
    });
  }
}

/** Tests that a list shows nothing of strangers, nor of listings that a key is not meant for. */
export function lists(house: () => House, registered: RegisteredOperation): void {
  const { operation, reads, path } = registered;
  const isPage = (operation.output as TObject).properties?.data !== undefined;
  if (!reads || !isPage || path.includes(":")) return;

  test("shows nothing of another account, nor of listings beyond those of the key", async () => {
    const party = await house().party();
    const stranger = await house().stranger();
    const { records } = house().registry;
    const own = { ids: [] as string[], listings: [] as string[] };
    const beyond: string[] = [];
    const strange: string[] = [];
    for (const record of records.keys()) {
      strange.push((await house().make(stranger, record)).id);
      if (!belongsToListing(house(), record)) continue;
      const mine = await house().make(party, record);
      own.ids.push(mine.id);
      own.listings.push(...mine.listings);
      const other = await house().make(party, record);
      beyond.push(other.id, ...other.listings);
    }
    const restricted = await house().server.key({ listing_ids: own.listings });
    const { input } = await house().draft(party, registered, "required");
    const wide = await send(party.client, registered, {
      ...input,
      ...limitOf(operation.input as TObject),
    });
    const narrow = await send(restricted.client, registered, {
      ...input,
      ...limitOf(operation.input as TObject),
    });
    expect([wide.status, narrow.status]).toEqual([
      200,
      operation.whole_account === true ? 403 : 200,
    ]);
    const seen = (text: string, ids: readonly string[]): string[] =>
      ids.filter((id) => text.includes(id));
    expect(seen(wide.text, strange)).toEqual([]);
    expect(seen(narrow.text, [...strange, ...beyond])).toEqual([]);
    // Where there is something to see, the own part of it is seen.
    if (narrow.status === 200 && ofListings(wide.json.data, own.ids))
      expect(seen(narrow.text, own.ids)).not.toEqual([]);
  });
}

const limitOf = (input: TObject): { limit?: number } =>
  input.properties.limit === undefined ? {} : { limit: 200 };

const ofListings = (data: readonly { id?: string }[], ids: readonly string[]): boolean =>
  data.some(({ id }) => id !== undefined && ids.includes(id));

/** Is a record a listing, or must one be named to make it? */
function belongsToListing(house: House, record: string): boolean {
  if (record === "listing") return true;
  const { operation } =
    house.registry.operations.get(house.registry.records.get(record)?.name ?? "") ?? {};
  const { references } = sketch(operation?.input as TObject, "required");
  return references.some((one) => belongsToListing(house, one.record));
}
