/**
 * What every operation answers and writes when all is well.
 *
 * @module
 */

import { expect, test } from "bun:test";

import { etag } from "../../core/call/mod.ts";
import type { RegisteredOperation } from "../../core/plugin/registry.ts";
import { inner, type TObject, type TSchema } from "../../core/plugin/schema.ts";
import type { EventType } from "../../core/plugin/types.ts";
import type { Json } from "../fixture.ts";
import { eachLeaf, eachPlace, valueAt } from "./draft.ts";
import { misfits } from "./fits.ts";
import { type House, type Party, send, successOf } from "./house.ts";
import { snapshot, unaudited } from "./rows.ts";

/** Tests of success, of one operation. */
export function answers(house: () => House, registered: RegisteredOperation): void {
  const { operation, reads, method, path } = registered;
  const output = operation.output as TSchema;
  const isList = (output as TObject).properties?.data !== undefined;

  for (const fields of ["required", "all"] as const) {
    test(`answers as declared when ${fields === "all" ? "every field is" : "only required fields are"} given`, async () => {
      const party = await house().party();
      const { input } = await house().draft(party, registered, fields);
      if (isList) await fill(house(), party, registered, input);
      const reply = await send(party.client, registered, input);
      expect([reply.status, reply.text]).toEqual([successOf(registered), expect.any(String)]);
      expect(misfits(output, reply.json)).toEqual([]);
      expect(reply.headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
      expect(reply.headers.get("content-type")).toBe("application/json");
      if (reads) return;
      const location = method === "POST" && reply.headers.get("location");
      if (typeof location === "string") {
        const read = await party.client("GET", location);
        expect([read.status, read.json.id]).toEqual([200, reply.json.id]);
      }
    });
  }

  if (reads) {
    test("shows only the fields that are asked for", async () => {
      const party = await house().party();
      const { input } = await house().draft(party, registered, "required");
      const properties = isList ? itemOf(output).properties : (output as TObject).properties;
      const [first = ""] = Object.keys(properties);
      const reply = await send(party.client, registered, input, { query: `fields=${first}` });
      expect(reply.status).toBe(200);
      const shown: Json[] = isList ? reply.json.data : [reply.json];
      for (const one of shown) expect(Object.keys(one)).toEqual([first]);
      const unknown = await send(party.client, registered, input, {
        query: `fields=${first},bogus`,
      });
      expect([unknown.status, unknown.json.error.details[0].field]).toEqual([422, "fields"]);
    });
    return;
  }

  test("writes one entry into the audit log, without secrets and personal data", async () => {
    const party = await house().party();
    const { input } = await house().draft(party, registered);
    const before = (await house().server.rows("audit_entries")).length;
    const reply = await send(party.client, registered, input);
    const entries = (await house().server.rows("audit_entries")).slice(before);
    expect(entries).toHaveLength(1);
    const { operation: name, outcome, surface, request_id, credential_id, account_id } = entries[0];
    expect({ name, outcome, surface, request_id, credential_id, account_id }).toEqual({
      name: operation.name,
      outcome: "ok",
      surface: "rest",
      request_id: reply.headers.get("x-request-id"),
      credential_id: party.key_id,
      account_id: party.account_id,
    });
    for (const text of marked(operation.input as TSchema, input, ["x-secret", "x-personal"])) {
      expect(entries[0].input).not.toContain(text);
    }
  });

  test("emits what it declares and nothing else, each payload exactly as in the catalogue, without secrets", async () => {
    const party = await house().party();
    const { input } = await house().draft(party, registered);
    const before = (await house().server.events()).length;
    const reply = await send(party.client, registered, input);
    const names = (await house().server.events()).slice(before);
    const declared = (operation.emits ?? []) as EventType[];
    expect(declared.map(({ name }) => name)).toEqual(expect.arrayContaining([...new Set(names)]));
    const secrets = [
      ...marked(operation.input as TSchema, input, ["x-secret"]),
      ...marked(output, reply.json, ["x-secret"]),
    ];
    for (const name of new Set(names)) {
      const event = declared.find((one) => one.name === name) as EventType;
      const payload = (await house().server.payloads(name)).at(-1);
      expect(misfits(event.payload, payload)).toEqual([]);
      for (const secret of secrets) expect(JSON.stringify(payload)).not.toContain(secret);
    }
  });

  if (method === "PATCH") {
    test("leaves what is not given as it is", async () => {
      const party = await house().party();
      const defaults = Object.entries((operation.input as TObject).properties).filter(
        ([, field]) => field.default !== undefined,
      );
      expect(defaults.map(([name]) => name)).toEqual([]);
      const { input } = await house().draft(party, registered);
      const full = await send(party.client, registered, input);
      const same = await send(party.client, registered, { id: input.id });
      const lasting = ({ version: _version, updated_at: _updated, ...rest }: Json): Json => rest;
      expect(lasting(same.json)).toEqual(lasting(full.json));
    });
  }

  test("changes nothing in a dry run, and answers as if it had", async () => {
    const party = await house().party();
    const { input } = await house().draft(party, registered);
    const before = await snapshot(house().server);
    const reply = await send(party.client, registered, input, {
      query: "dry_run=true",
      headers: { "idempotency-key": crypto.randomUUID() },
    });
    expect([reply.status, reply.text]).toEqual([successOf(registered), expect.any(String)]);
    expect(reply.headers.get("dry-run")).toBe("true");
    expect(misfits(output, reply.json)).toEqual([]);
    expect(await snapshot(house().server)).toEqual(before);
    const refused = await send(
      party.client,
      registered,
      { ...input, bogus: 1 },
      { query: "dry_run=true" },
    );
    expect(refused.status).toBe(422);
    expect(await snapshot(house().server)).toEqual(before);
  });

  if (!/\/:id(\/|$)/.test(path) || (output as TObject).properties?.version === undefined) return;

  test("is refused with a stale If-Match and succeeds with the present one", async () => {
    const party = await house().party();
    const { input } = await house().draft(party, registered);
    const before = await unaudited(house().server);
    for (const stale of ['"0"', '"99"', '"0", "99"']) {
      const reply = await send(party.client, registered, input, { headers: { "if-match": stale } });
      expect([reply.status, reply.json.error.code]).toEqual([412, "version_mismatch"]);
      expect(reply.json.error.current_version).toBeNumber();
    }
    expect(await unaudited(house().server)).toEqual(before);
    const reply = await send(party.client, registered, input, { headers: { "if-match": etag(1) } });
    expect(reply.status).toBe(successOf(registered));
    expect(reply.headers.get("etag")).toBe(etag(reply.json.version));
  });
}

/** Tests of reading a record that has a version. */
export function conditionalReads(house: () => House, registered: RegisteredOperation): void {
  const { operation, reads, path } = registered;
  const versioned = (operation.output as TObject).properties?.version !== undefined;
  if (!reads || !versioned || !path.includes("/:id")) return;

  test("answers 304 to an If-None-Match that still holds", async () => {
    const party = await house().party();
    const { input } = await house().draft(party, registered);
    const first = await send(party.client, registered, input);
    const tag = first.headers.get("etag") ?? "";
    expect(tag).toBe(etag(first.json.version));
    for (const header of [tag, `W/${tag}`, `"99", ${tag}`, "*"]) {
      const again = await send(party.client, registered, input, {
        headers: { "if-none-match": header },
      });
      expect([again.status, again.text]).toEqual([304, ""]);
      expect(again.headers.get("etag")).toBe(tag);
      expect(again.headers.get("x-service-tier")).toBe("enterprise");
    }
    const changed = await send(party.client, registered, input, {
      headers: { "if-none-match": '"99"' },
    });
    expect([changed.status, changed.json]).toEqual([200, first.json]);
  });
}

const itemOf = (output: TSchema): TObject => (output as TObject).properties.data?.items as TObject;

/** Makes a record for a list that one can add to, in the place that the list is of. */
async function fill(
  house: House,
  party: Party,
  { path }: RegisteredOperation,
  input: Record<string, unknown>,
): Promise<void> {
  const adding = house.registry.operations
    .values()
    .find((one) => one.method === "POST" && one.path === path);
  if (adding === undefined) return;
  const draft = await house.draft(party, adding, "required");
  const inPath = Object.entries(input).filter(([name]) => adding.origins[name] === "path");
  const made = await send(party.client, adding, { ...draft.input, ...Object.fromEntries(inPath) });
  expect([made.status, made.text]).toEqual([successOf(adding), expect.any(String)]);
  const { registry } = house;
  const listing = registry.operations.values().find((one) => one.reads && one.path === path);
  const reply = await send(
    party.client,
    listing as RegisteredOperation,
    Object.fromEntries(inPath),
  );
  expect(reply.json.data).not.toHaveLength(0);
}

/** The texts of a value that stand where the schema has one of the marks. */
function marked(schema: TSchema, value: unknown, marks: readonly string[]): string[] {
  const found: string[] = [];
  eachPlace(schema, value, (path, field) => {
    if (!marks.some((mark) => inner(field)[mark] === true)) return;
    eachLeaf(valueAt(value, path), (_, leaf) => {
      if (typeof leaf === "string" && leaf !== "") found.push(leaf);
    });
  });
  return found;
}
