/**
 * Samples: a believable value of any schema, for the documentation's examples, test events and the contract tests.
 *
 * @module
 */

import { inner, type TSchema } from "./schema.ts";

/** How to make one. */
export interface SampleOptions {
  /** With the fields that may be left out? */
  readonly optional?: boolean;
  /** The id to use for a reference to a record. */
  readonly id?: (record: string) => string;
}

const someId = "0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b70";

/** A value that fits the schema: its first example, its default, its first word, or the smallest that will do. */
export function sample(schema: TSchema, options: SampleOptions = {}): unknown {
  const bare = inner(schema);
  const record = bare["x-record"] as string | undefined;
  if (record !== undefined) return (options.id ?? (() => someId))(record);
  const examples = (schema.examples ?? bare.examples) as unknown[] | undefined;
  if (examples !== undefined && examples.length > 0) return structuredClone(examples[0]);
  if (bare.default !== undefined) return structuredClone(bare.default);
  if (Array.isArray(bare.enum)) return bare.enum[0];
  if (bare.const !== undefined) return bare.const;
  if (bare.properties !== undefined) return sampleObject(bare, options);
  if (bare.anyOf !== undefined) return sample((bare.anyOf as TSchema[])[0] as TSchema, options);
  switch (bare.type) {
    case "array":
      return options.optional === false && !bare.minItems
        ? []
        : [sample(bare.items as TSchema, options)];
    case "integer":
    case "number":
      return Number(bare.minimum ?? 1);
    case "boolean":
      return false;
    case "object":
      return {};
    case "string":
      return sampleText(bare);
    default:
      return null;
  }
}

function sampleObject(schema: TSchema, options: SampleOptions): Record<string, unknown> {
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const all = Object.entries(schema.properties as Record<string, TSchema>);
  // A field that goes with no other, such as the id of a known guest, stands for the whole.
  const alone =
    options.optional === false ? [] : all.filter(([, field]) => field["x-alone"] === true);
  const fields =
    alone.length > 0
      ? alone
      : all.filter(([name]) => options.optional !== false || required.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, sample(field, options)]));
}

const formats: Record<string, string> = {
  email: "ada@example.com",
  uri: "https://example.com/hooks/innkeep",
};

function sampleText(schema: TSchema): string {
  const given = formats[String(schema.format)];
  if (given !== undefined) return given;
  const words = String(schema.title ?? "text");
  const least = Number(schema.minLength ?? 0);
  return words.padEnd(least, "x").slice(0, Number(schema.maxLength ?? 200));
}
