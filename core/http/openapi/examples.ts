/**
 * Examples of what is sent and answered, made of the schemas.
 *
 * @module
 */

import { sample } from "../../plugin/sample.ts";
import { inner, type TSchema } from "../../plugin/schema.ts";

const uuid = "0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b70";
const ulid = "01KAFW3N5V7Q2X8Z4R6T9Y0B1C";

/** Records whose ids are ULIDs. */
const byTime = new Set(["request_id", "event_id", "delivery_id"]);

/** An example of a schema: with all of its fields, or with those only that must be given. */
export function example(schema: TSchema, fields: "all" | "required" = "all"): unknown {
  return sample(hinted(schema), { optional: fields === "all" });
}

/** The same schema with examples where a name tells more than the type: ids, and the page that is the last. */
function hinted(schema: TSchema, name = ""): TSchema {
  const copy: TSchema = { ...schema };
  if (name === "next_cursor") return { ...copy, examples: [null] };
  if (isPlainText(schema)) {
    if (byTime.has(name)) copy.examples = [ulid];
    else if (/(^|_)ids?$/.test(name)) copy.examples = [uuid];
    else if (name !== "" && schema.title === undefined && schema.anyOf === undefined)
      copy.title = inWords(name);
  }
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties as Record<string, TSchema>);
    copy.properties = Object.fromEntries(fields.map(([key, field]) => [key, hinted(field, key)]));
  }
  if (schema.items !== undefined && !Array.isArray(schema.items))
    copy.items = hinted(schema.items as TSchema, name);
  if (schema.anyOf !== undefined)
    copy.anyOf = (schema.anyOf as TSchema[]).map((one) => hinted(one, name));
  return copy;
}

/** `internal_name` → `Internal name`: what stands for a text that has no example. */
const inWords = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/** A text about which nothing else is said. */
const isPlainText = (schema: TSchema): boolean => {
  const { type, examples, format, pattern, ...rest } = inner(schema);
  return (
    type === "string" &&
    examples === undefined &&
    format === undefined &&
    pattern === undefined &&
    rest.enum === undefined
  );
};
