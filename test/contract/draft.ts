/**
 * Drafts: inputs that are right as far as the declarations say, made from the schemas alone. Every reference in them
 * is to a record of its own, so that no two of them clash.
 *
 * @module
 */

import { sample } from "../../core/plugin/sample.ts";
import { inner, type TObject, type TSchema } from "../../core/plugin/schema.ts";

/** A place in an input: `["guest", "id"]`, `["listing_ids", 0]`. */
export type Path = readonly (string | number)[];

/** A place that names a record. */
export interface Reference {
  readonly path: Path;
  readonly record: string;
}

/** A sampled input, with marks where ids are to stand. */
export interface Sketch {
  readonly input: Record<string, unknown>;
  readonly references: readonly Reference[];
}

const mark = "\u0001";

/** Samples an input: with all that may be given, or with what must be given only. */
export function sketch(schema: TObject, fields: "all" | "required"): Sketch {
  const full = fields === "all";
  const id = (record: string): string => mark + record;
  const input = sample(hinted(schema, full), { optional: full, id }) as Record<string, unknown>;
  const references: Reference[] = [];
  eachLeaf(input, (path, value) => {
    if (typeof value === "string" && value.startsWith(mark)) {
      references.push({ path, record: value.slice(mark.length) });
    }
  });
  return { input, references };
}

/** How many references a schema declares: a sketch with all fields must show each of them. */
export const declaredReferences = (schema: TSchema): number =>
  JSON.stringify(schema).split('"x-record"').length - 1;

let made = 0;

/** The same schema with examples where `sample` would say the same each time, and none that hides a reference. */
function hinted(schema: TSchema, full: boolean): TSchema {
  const { default: fallback, examples, ...copy } = schema;
  const hides = full && declaredReferences(schema) > 0;
  if (fallback !== undefined && !hides) copy.default = fallback as unknown;
  if (examples !== undefined && !hides) copy.examples = examples as unknown;
  if (isPlainText(schema)) {
    const text = `Text ${++made}`.padEnd(Number(schema.minLength ?? 0), ".");
    copy.examples = [text.slice(-Number(schema.maxLength ?? 200))];
  }
  if (schema.format === "email" && examples === undefined) {
    copy.examples = [`ada.${++made}@example.com`];
  }
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties as Record<string, TSchema>);
    // A cursor is not made but given back.
    const kept = fields.filter(([name]) => name !== "cursor");
    copy.properties = Object.fromEntries(kept.map(([name, field]) => [name, hinted(field, full)]));
  }
  if (schema.items !== undefined) copy.items = hinted(schema.items as TSchema, full);
  if (schema.anyOf !== undefined) {
    copy.anyOf = (schema.anyOf as TSchema[]).map((one) => hinted(one, full));
  }
  return copy;
}

const telling = ["examples", "default", "format", "pattern", "enum", "const", "x-record"];

const isPlainText = (schema: TSchema): boolean =>
  schema.type === "string" && telling.every((word) => schema[word] === undefined);

/** Calls `visit` for each value that is neither object nor list. */
export function eachLeaf(
  value: unknown,
  visit: (path: Path, leaf: unknown) => void,
  path: Path = [],
): void {
  if (typeof value !== "object" || value === null) return visit(path, value);
  for (const [key, child] of Object.entries(value)) {
    eachLeaf(child, visit, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** Calls `visit` for each place of an input that the schema declares, objects and list items included. */
export function eachPlace(
  schema: TSchema,
  value: unknown,
  visit: (path: Path, schema: TSchema) => void,
  path: Path = [],
): void {
  if (path.length > 0) visit(path, schema);
  const bare = inner(schema);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (value.length > 0) eachPlace(bare.items as TSchema, value[0], visit, [...path, 0]);
    return;
  }
  for (const [name, field] of Object.entries((bare.properties ?? {}) as Record<string, TSchema>)) {
    if (name in value) {
      eachPlace(field, (value as Record<string, unknown>)[name], visit, [...path, name]);
    }
  }
}

/** A copy with another value at a place; without it where `value` is undefined. */
export function withValue<T>(input: T, path: Path, value: unknown): T {
  const copy = structuredClone(input) as Record<string | number, unknown>;
  let at = copy;
  for (const step of path.slice(0, -1)) at = at[step] as typeof at;
  const last = path.at(-1) as string | number;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy as T;
}

/** The value at a place. */
export const valueAt = (input: unknown, path: Path): unknown =>
  path.reduce((at, step) => (at as Record<string | number, unknown>)[step], input);

/** As errors name a place: `guest.id`, `listing_ids[0]`. */
export const placeName = (path: Path): string =>
  path
    .map((step, n) => (typeof step === "number" ? `[${step}]` : n > 0 ? `.${step}` : step))
    .join("");
