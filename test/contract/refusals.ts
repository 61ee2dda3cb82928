/**
 * What every operation refuses, and how.
 *
 * @module
 */

import { expect, test } from "bun:test";

import type { RegisteredOperation } from "../../core/plugin/registry.ts";
import { inner, type TSchema } from "../../core/plugin/schema.ts";
import type { Reply } from "../fixture.ts";
import { eachPlace, type Path, placeName, valueAt, withValue } from "./draft.ts";
import { type House, type Party, send } from "./house.ts";
import { unaudited } from "./rows.ts";

/** Tests of refusal, of one operation. */
export function refusals(house: () => House, registered: RegisteredOperation): void {
  const { operation, reads, origins } = registered;
  const schema = operation.input as TSchema;
  const dry = reads ? {} : { query: "dry_run=true" };
  const named = ({ json }: Reply): string[] =>
    (json.error.details as { field: string }[] | undefined)?.map(({ field }) => field) ?? [];

  /** A right input, and whoever may send it. */
  const ready = async (): Promise<{ party: Party; input: Record<string, unknown> }> => {
    const party = await house().party();
    return { party, input: (await house().draft(party, registered)).input };
  };

  test("asks for a credential", async () => {
    const { input } = await ready();
    const none = await send(house().server.client(), registered, input);
    expect([none.status, none.json.error.code]).toEqual([401, "missing_credential"]);
    expect(none.headers.get("www-authenticate")).toStartWith("Bearer resource_metadata=");
    expect(none.headers.get("x-service-tier")).toBe("anonymous");
    const wrong = await send(
      house().server.client({ authorization: "Bearer nonsense" }),
      registered,
      input,
    );
    expect([wrong.status, wrong.json.error.code]).toEqual([401, "invalid_token"]);
    expect(wrong.headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  const { scope } = operation;
  if (scope !== null) {
    test("asks for its scope, which no other scope includes", async () => {
      const { input } = await ready();
      const before = await unaudited(house().server);
      const others = house().registry.scopes.filter((each) => each !== scope);
      const { client } = await house().server.key({ scopes: others });
      const reply = await send(client, registered, input);
      expect([reply.status, reply.json.error.code]).toEqual([403, "insufficient_scope"]);
      expect(reply.json.error.required_scopes).toEqual([scope]);
      expect(reply.json.error.granted_scopes).toEqual(others);
      const [key] = (await house().server.rows("identity_api_keys")).slice(-1);
      const after = await unaudited(house().server);
      expect({ ...after, identity_api_keys: [] }).toEqual({ ...before, identity_api_keys: [] });
      expect(JSON.parse(key.scopes)).toEqual(others);
    });
  }

  test("refuses an unknown query parameter by name", async () => {
    const { party, input } = await ready();
    const reply = await send(party.client, registered, input, { query: "bogus=1" });
    expect([reply.status, reply.json.error.code]).toEqual([400, "unknown_parameter"]);
    expect(named(reply)).toEqual(["bogus"]);
  });

  test("names each required field that is missing", async () => {
    const { party, input } = await ready();
    for (const path of requiredPlaces(schema, input)) {
      if (origins[path[0] as string] === "path") continue;
      const reply = await send(party.client, registered, withValue(input, path, undefined), dry);
      expect([placeName(path), reply.status, reply.json.error.code]).toEqual([
        placeName(path),
        422,
        "validation_failed",
      ]);
      expect(named(reply)).toContain(placeName(path));
    }
  });

  test("refuses wrong types in every field and never fails", async () => {
    const { party, input } = await ready();
    const faults: string[] = [];
    for (const [path, field] of places(schema, input)) {
      const origin = origins[path[0] as string];
      for (const wrong of origin === "body" ? bodyValues : texts) {
        const fitting = origin === "body" ? fitsType(field, wrong) : mayStand(field, String(wrong));
        const value = origin === "body" || path.length === 1 ? wrong : [wrong];
        const reply = await send(party.client, registered, withValue(input, path, value), dry);
        const refused = reply.status >= 400 && reply.status < 500;
        if (refused || (fitting && reply.status < 400)) continue;
        faults.push(
          `${placeName(path)}=${JSON.stringify(wrong)?.slice(0, 40)}: ${reply.status} ${reply.text}`,
        );
      }
    }
    expect(faults).toEqual([]);
  });

  if (reads) return;

  test("refuses unknown fields of the body by name, at any depth", async () => {
    const { party, input } = await ready();
    for (const path of [[], ...objects(schema, input, origins)]) {
      for (const name of ["bogus", "__proto__"]) {
        const faulty = withOwn(input, path, name);
        const reply = await send(party.client, registered, faulty, dry);
        const full = placeName([...path, name]);
        expect([full, reply.status, reply.json.error?.code]).toEqual([
          full,
          422,
          "validation_failed",
        ]);
        expect(named(reply)).toContain(full);
      }
    }
  });

  test("refuses a body that is no JSON, no object or of another type", async () => {
    const { party, input } = await ready();
    const path = `/v1${registered.path.replaceAll(/:(\w+)/g, (_, name: string) => String(input[name]))}`;
    const call = async (body: string, type = "application/json") =>
      await party.client(registered.method, path, body, { "content-type": type });
    for (const broken of ["{", '{"a":1,}', "nonsense", "\u0000", '{"a":"\n"}']) {
      const reply = await call(broken);
      expect([broken, reply.status, reply.json.error.code]).toEqual([broken, 400, "invalid_json"]);
    }
    for (const other of ["[]", "null", "7", '"text"']) {
      const reply = await call(other);
      expect([other, reply.status, reply.json.error.code]).toEqual([
        other,
        422,
        "validation_failed",
      ]);
    }
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/xml"]) {
      const reply = await call("{}", type);
      expect([type, reply.status, reply.json.error.code]).toEqual([
        type,
        415,
        "unsupported_media_type",
      ]);
    }
  });
}

const bodyValues: readonly unknown[] = [
  null,
  true,
  7,
  -1,
  0.5,
  1e300,
  "",
  "nonsense",
  "2027-02-30",
  "\ud800",
  "x".repeat(30_000),
  [],
  [null],
  ["x"],
  {},
  { x: 1 },
];

const texts = [
  "",
  "nonsense",
  "-1",
  "1e999",
  "2027-02-30",
  "\u0000",
  "9".repeat(30),
  "%",
  "'--",
  "x".repeat(3000),
];

/** Is the value of a type that the schema takes? Its bounds are another matter. */
function fitsType(schema: TSchema, value: unknown): boolean {
  if (schema.anyOf !== undefined)
    return (schema.anyOf as TSchema[]).some((one) => fitsType(one, value));
  switch (schema.type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "null":
      return value === null;
    case undefined:
      return true;
    default:
      return typeof value === schema.type;
  }
}

/** May a text of the query be meant for this field? */
function mayStand(schema: TSchema, text: string): boolean {
  const bare = inner(schema);
  if (bare.type === "array") return true;
  if (bare.type === "integer" || bare.type === "number")
    return text !== "" && !Number.isNaN(Number(text));
  if (bare.type === "boolean") return text === "true" || text === "false";
  return bare.format === undefined && bare.enum === undefined;
}

function places(schema: TSchema, input: unknown): [Path, TSchema][] {
  const found: [Path, TSchema][] = [];
  eachPlace(schema, input, (path, field) => void found.push([path, field]));
  return found;
}

/** The places of required fields, those inside of objects that are given too. */
function requiredPlaces(schema: TSchema, input: unknown): Path[] {
  const found: Path[] = [];
  const look = (path: Path, field: TSchema): void => {
    const given = valueAt(input, path);
    for (const name of (inner(field).required as string[] | undefined) ?? []) {
      if (typeof given === "object" && given !== null && name in given) found.push([...path, name]);
    }
  };
  look([], schema);
  eachPlace(schema, input, look);
  return found;
}

/** The places of the body's objects, but of those that take any key. */
function objects(schema: TSchema, input: unknown, origins: RegisteredOperation["origins"]): Path[] {
  return places(schema, input)
    .filter(
      ([path, field]) =>
        origins[path[0] as string] === "body" && inner(field).properties !== undefined,
    )
    .filter(([path]) => typeof valueAt(input, path) === "object" && valueAt(input, path) !== null)
    .map(([path]) => path);
}

/** A copy with one more field in an object; `__proto__` as a field of its own, as JSON has it. */
function withOwn(
  input: Record<string, unknown>,
  path: Path,
  name: string,
): Record<string, unknown> {
  const copy = structuredClone(input);
  const extra = { value: 1, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(valueAt(copy, path), name, extra);
  return copy;
}
