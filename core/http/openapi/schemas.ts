/**
 * Schemas as they stand in the document: JSON Schema 2020-12, without what only this server reads. An object with a
 * title is written once, among the components, and referred to from everywhere else.
 *
 * @module
 */

import type { TSchema } from "../../plugin/schema.ts";

/** A JSON object. */
export type Json = { [key: string]: unknown };

/** Which way a value goes: of what is sent in, defaults matter; of what is sent out, all declared fields are there. */
export type Side = "input" | "output";

/** Writes schemas, and collects those that have a title. */
export interface SchemaWriter {
  write(schema: TSchema, side: Side): Json;
  /** What was collected, by name. */
  readonly components: ReadonlyMap<string, Json>;
}

const name = /^[A-Z][A-Za-z0-9]*$/;

/** Written in another way below. */
const rewritten = new Set([
  "properties",
  "items",
  "anyOf",
  "allOf",
  "patternProperties",
  "additionalItems",
]);

/** What TypeBox makes of a record with any text as its key. */
const anyKey = "^(.*)$";

/** Makes a writer. */
export function createSchemaWriter(): SchemaWriter {
  const components = new Map<string, Json>();

  const write = (schema: TSchema, side: Side): Json => {
    if (schema.properties === undefined || !name.test(schema.title ?? ""))
      return writeInPlace(schema, side);
    const title = side === "input" ? `${schema.title}Input` : String(schema.title);
    const written = { ...writeInPlace(schema, side), title };
    const known = components.get(title);
    if (known === undefined) components.set(title, written);
    // What was derived from a schema with a title has kept it, but is another one.
    else if (JSON.stringify(known) !== JSON.stringify(written)) return written;
    return { $ref: `#/components/schemas/${title}` };
  };

  const writeInPlace = (schema: TSchema, side: Side): Json => {
    const json: Json = {};
    for (const [key, value] of Object.entries(schema)) {
      // `x-record` and the like are for this server only.
      if (rewritten.has(key) || key.startsWith("x-") || (key === "default" && side === "output"))
        continue;
      json[key] = value;
    }
    if (schema["x-secret"] === true)
      Object.assign(json, { format: "password" }, side === "input" ? { writeOnly: true } : {});
    const each = (list: unknown): Json[] => (list as TSchema[]).map((one) => write(one, side));
    const byName = (fields: unknown): Json =>
      Object.fromEntries(
        Object.entries(fields as Record<string, TSchema>).map(([key, one]) => [
          key,
          write(one, side),
        ]),
      );
    if (schema.properties !== undefined) json.properties = byName(schema.properties);
    if (schema.patternProperties !== undefined) {
      const { [anyKey]: any, ...rest } = byName(schema.patternProperties);
      const [[pattern, value] = [], ...more] = Object.entries(rest);
      if (any !== undefined) json.additionalProperties = any;
      // The same, said so that generators of clients see a map: they know nothing of patterns.
      if (any === undefined && more.length === 0 && json.additionalProperties === false)
        Object.assign(json, { additionalProperties: value, propertyNames: { pattern } });
      else if (pattern !== undefined) json.patternProperties = rest;
    }
    if (Array.isArray(schema.items))
      Object.assign(json, { prefixItems: each(schema.items), items: false });
    else if (schema.items !== undefined) json.items = write(schema.items as TSchema, side);
    if (schema.allOf !== undefined) json.allOf = each(schema.allOf);
    return schema.anyOf === undefined ? json : union(json, each(schema.anyOf));
  };

  return { write, components };
}

/** One of several: a list of types or of words where that says it all. */
function union(around: Json, variants: readonly Json[]): Json {
  const others = variants.filter((one) => one.type !== "null");
  const orNull = others.length < variants.length;
  if (others.length > 0 && others.every((one) => "const" in one)) {
    const types = [...new Set(others.map((one) => one.type)), ...(orNull ? ["null"] : [])];
    const words = [...others.map((one) => one.const), ...(orNull ? [null] : [])];
    return { type: types.length === 1 ? types[0] : types, enum: words, ...around };
  }
  const [only] = others;
  if (orNull && others.length === 1 && only !== undefined && typeof only.type === "string") {
    const json: Json = { ...only, ...around, type: [only.type, "null"] };
    if (Array.isArray(json.enum)) json.enum = [...json.enum, null];
    return json;
  }
  return { ...around, anyOf: orNull ? [...others, { type: "null" }] : others };
}
