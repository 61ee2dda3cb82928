/**
 * Schemas as MCP clients read them: plain JSON Schema, without our own markers and formats.
 *
 * @module
 */

import type { Tool } from "@modelcontextprotocol/server";

import type { TSchema } from "../plugin/schema.ts";

/** A JSON Schema of an object. */
export type ObjectSchema = Tool["inputSchema"];

/** Formats of ours, as patterns: validators warn of a format that they do not know. */
const patterns: Readonly<Record<string, string>> = {
  decimal: String.raw`^-?\d{1,12}(\.\d{1,4})?$`,
  "local-time": String.raw`^([01]\d|2[0-3]):[0-5]\d$`,
  currency: "^[A-Z]{3}$",
};

const known = new Set(["date", "date-time", "email", "uri"]);

// Clients refuse an answer whose addresses are not as strict as their validator: only what is always so is promised.
const promised = new Set(["date", "date-time"]);

/** What a tool takes, and what is asked of every tool that writes. */
export function inputSchema(
  input: TSchema,
  extra: NonNullable<ObjectSchema["properties"]>,
): ObjectSchema {
  const { required = [], ...schema } = plain(input, known);
  const properties = { ...schema.properties, ...extra };
  return required.length === 0 ? { ...schema, properties } : { ...schema, properties, required };
}

/** What a tool answers; nothing where that is no object, for then it cannot be promised. */
export function outputSchema(output: TSchema): ObjectSchema | undefined {
  return output.type === "object" ? plain(output, promised, ["examples", "default"]) : undefined;
}

function plain(
  schema: TSchema,
  formats: ReadonlySet<string>,
  left: readonly string[] = [],
): ObjectSchema {
  const drop = (key: string, value: unknown): boolean =>
    key.startsWith("x-") || (left.includes(key) && !isSchema(value));
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (drop(key, value)) return undefined;
    if (!isSchema(value) || typeof value.format !== "string" || formats.has(value.format))
      return value;
    const { format, ...rest } = value;
    const pattern = patterns[format];
    return pattern === undefined ? rest : { ...rest, pattern };
  });
  return JSON.parse(text) as ObjectSchema;
}

// Of a property that is named like a keyword the value is a schema; of the keyword itself it is not.
const isSchema = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
