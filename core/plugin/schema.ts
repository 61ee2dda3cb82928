/**
 * Schemas: the nouns of every surface. The only file that imports TypeBox.
 *
 * A schema is plain JSON Schema, so that what is checked, what is documented and what a model reads are one thing.
 *
 * @module
 */

import {
  FormatRegistry,
  Kind,
  type SchemaOptions,
  type Static,
  type TObject,
  type TSchema,
  type TUnsafe,
  Type as t,
  TypeRegistry,
} from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";

import { isDate, isInstant, isTime, isTimezone } from "../db/time.ts";
import type { Detail } from "./problem.ts";

export { type Static, t, type TObject, type TSchema };

const currencies = new Set(Intl.supportedValuesOf("currency"));

// A day's margin at either end: a local time of the last day of 9999 is an instant of a year that has five digits.
FormatRegistry.Set("date", (text) => isDate(text) && text > "0001" && text < "9999");
FormatRegistry.Set("date-time", isInstant);
FormatRegistry.Set("local-time", isTime);
FormatRegistry.Set("timezone", isTimezone);
FormatRegistry.Set("currency", (text) => currencies.has(text));
FormatRegistry.Set("decimal", (text) => /^\d{1,12}(\.\d{1,4})?$/.test(text));
// Looked at before its length was found too large as well: on a long text the pattern would take minutes.
FormatRegistry.Set(
  "email",
  (text) => text.length <= 320 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
);
FormatRegistry.Set("uri", (text) => URL.canParse(text));

TypeRegistry.Set<TSchema & { enum: readonly unknown[] }>("Choice", (schema, value) =>
  schema.enum.includes(value),
);

/** One of some words. */
export function choice<const Words extends readonly string[]>(
  words: Words,
  options: SchemaOptions = {},
): TUnsafe<Words[number]> {
  return t.Unsafe<Words[number]>({ ...options, [Kind]: "Choice", type: "string", enum: words });
}

/** The same or null; present with null when empty. */
export function nullable<S extends TSchema>(schema: S, options: SchemaOptions = {}) {
  return t.Union([schema, t.Null()], options);
}

/** The id of a record, as tests know it: they try it with a stranger's. */
export function ref(record: string, options: SchemaOptions = {}) {
  const description = `The id of a ${record.replaceAll("_", " ")}.`;
  return t.String({ description, ...options, minLength: 1, maxLength: 64, "x-record": record });
}

/** A text with its bounds. */
export function text(maxLength: number, options: SchemaOptions & { minLength?: number } = {}) {
  return t.String({ ...options, maxLength });
}

/** `YYYY-MM-DD`, local to a listing's zone. */
export function date(options: SchemaOptions = {}) {
  return t.String({ examples: ["2027-05-14"], ...options, format: "date" });
}

/** `YYYY-MM-DDTHH:MM:SSZ`. */
export function instant(options: SchemaOptions = {}) {
  return t.String({ examples: ["2027-05-14T13:00:00Z"], ...options, format: "date-time" });
}

/** `HH:MM`, local to a listing's zone. */
export function localTime(options: SchemaOptions = {}) {
  return t.String({ examples: ["15:00"], ...options, format: "local-time" });
}

/** An amount of zero or more as a decimal string, such as `"120.50"`; beside it stands `currency`. Stored in minor units. */
export function money(options: SchemaOptions = {}) {
  return t.String({ examples: ["120.00"], ...options, format: "decimal" });
}

/** An IANA time zone. */
export function timezone(options: SchemaOptions = {}) {
  return t.String({ examples: ["Europe/Rome"], ...options, format: "timezone" });
}

/** An ISO-4217 code. */
export function currency(options: SchemaOptions = {}) {
  return t.String({ examples: ["EUR"], ...options, format: "currency" });
}

const longestKey = 40;
// JSON Schema has no other bound on names that every reader of it knows; `[^]` for "anything" is JavaScript's alone.
const anyKey = `^[\\s\\S]{1,${longestKey}}$`;

/** Texts of the caller's own, by names of his own. */
export function metadata() {
  return t.Record(t.String({ pattern: anyKey }), text(500), {
    additionalProperties: false,
    maxProperties: 50,
    default: {},
    description: `The caller's own texts, by names of 1 to ${longestKey} characters.`,
  });
}

/** A secret: shown in this answer only, kept out of the audit log, encrypted wherever an answer is kept. */
export function secret(options: SchemaOptions & { minLength?: number; maxLength?: number } = {}) {
  return t.String({ maxLength: 512, ...options, "x-secret": true });
}

/** An amount of this field is money. */
export const isMoney = (schema: TSchema): boolean => inner(schema).format === "decimal";

/** The schema without its null. */
export function inner(schema: TSchema): TSchema {
  const variants = schema.anyOf as TSchema[] | undefined;
  return variants?.length === 2 && variants[1]?.type === "null" ? (variants[0] as TSchema) : schema;
}

/** Calls `visit` for each field at any depth, with its path: `guest.full_name`, `items[].label`. */
export function eachField(
  schema: TSchema,
  visit: (path: string, field: TSchema) => void,
  path = "",
): void {
  const bare = inner(schema);
  if (path !== "") visit(path, bare);
  for (const [name, field] of Object.entries((bare.properties ?? {}) as Record<string, TSchema>)) {
    eachField(field, visit, path === "" ? name : `${path}.${name}`);
  }
  if (bare.items !== undefined) eachField(bare.items as TSchema, visit, `${path}[]`);
}

/** Does any field of it hold a secret? */
export function holdsSecret(schema: TSchema): boolean {
  let found = false;
  eachField(schema, (_, field) => {
    found ||= field["x-secret"] === true;
  });
  return found;
}

/**
 * Closes a schema at every depth: a property that it does not name is an error, not a silent loss.
 * A property with a default is no longer required of the caller, and is always there for the handler.
 */
export function close<S extends TSchema>(schema: S): S {
  const copy: Record<PropertyKey, unknown> = {};
  Object.assign(copy, schema);
  if (schema.properties !== undefined) {
    const properties = schema.properties as Record<string, TSchema>;
    const closed = Object.entries(properties).map(([name, field]) => [name, close(field)]);
    copy.properties = Object.fromEntries(closed);
    copy.additionalProperties = false;
    const required = (schema.required as string[] | undefined) ?? [];
    copy.required = required.filter((name) => properties[name]?.default === undefined);
  }
  if (schema.items !== undefined) copy.items = close(schema.items as TSchema);
  if (schema.anyOf !== undefined) copy.anyOf = (schema.anyOf as TSchema[]).map((one) => close(one));
  return copy as S;
}

/** A compiled schema: fills defaults and says what is wrong. */
export interface Checker<T> {
  /** Fills in defaults, in place; then all that is wrong, or nothing. */
  faults(value: unknown): readonly Detail[];
  /** Is it of this shape? */
  fits(value: unknown): value is T;
}

/** Compiles a schema at its first use: at start nobody waits for hundreds of them. */
export function checker<S extends TSchema>(schema: S): Checker<Static<S>> {
  let compiled: TypeCheck<S> | undefined;
  let fill: Fill | undefined;
  const get = (): TypeCheck<S> => {
    if (compiled === undefined) {
      compiled = TypeCompiler.Compile(schema);
      fill = filler(schema);
    }
    return compiled;
  };
  return {
    faults(value) {
      const check = get();
      fill?.(value);
      return check.Check(value) ? [] : describe(check.Errors(value));
    },
    fits: (value): value is Static<S> => get().Check(value),
  };
}

/** Fills defaults into a value, in place. */
type Fill = (value: unknown) => void;

/**
 * What fills the defaults of a schema; undefined where it has none. Not TypeBox's own: that one merges a default into
 * what was given, so that `[]` for an object became right.
 */
function filler(schema: TSchema): Fill | undefined {
  const bare = inner(schema);
  if (bare.items !== undefined) {
    const each = filler(bare.items as TSchema);
    return (
      each && ((value) => (Array.isArray(value) ? value.forEach((item) => each(item)) : undefined))
    );
  }
  const steps: ((record: Record<string, unknown>) => void)[] = [];
  for (const [name, field] of Object.entries((bare.properties ?? {}) as Record<string, TSchema>)) {
    const deeper = filler(field);
    const fallback: unknown = field.default;
    const text = JSON.stringify(fallback);
    const plain = typeof fallback !== "object" || fallback === null;
    // Each record gets a list or an object of its own; they are mostly empty, and short as a text.
    const fresh = plain ? () => fallback : (): unknown => JSON.parse(text);
    if (fallback === undefined && deeper === undefined) continue;
    steps.push((record) => {
      if (record[name] !== undefined) deeper?.(record[name]);
      else if (fallback !== undefined) record[name] = fresh();
    });
  }
  if (steps.length === 0) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const step of steps) step(value as Record<string, unknown>);
  };
}

/** So many faults are told at once. */
export const mostFaults = 20;

function describe(errors: Iterable<ValueError>): Detail[] {
  const found = new Map<string, Detail>();
  for (const error of errors) {
    for (const detail of explain(error))
      if (!found.has(detail.field)) found.set(detail.field, detail);
    if (found.size >= mostFaults || isMonstrous(error)) break;
  }
  return [...found.values()];
}

/**
 * Is it a list that is far too long, or one with an entry that is none? TypeBox would go on to compare the entries, by
 * a digest that takes its time on many or large ones and does not end on deep ones.
 */
const isMonstrous = ({ type, path, value }: ValueError): boolean =>
  type === ValueErrorType.ArrayMaxItems ||
  (/\/\d+$/.test(path) &&
    (typeof value === "object" || (typeof value === "string" && value.length > 1000)));

/** `/guest/emails/0` → `guest.emails[0]`. */
const fieldOf = (path: string): string =>
  path
    .slice(1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~")
    .replaceAll(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".");

const mostName = 100;

/** The name of a field as a message repeats it: callers choose unknown ones, and their length. */
const shortened = (name: string): string =>
  name.length <= mostName ? name : `${name.slice(0, mostName - 1).toWellFormed()}…`;

function explain(error: ValueError): Detail[] {
  const schema = inner(error.schema);
  if (error.type === ValueErrorType.Union) {
    // Of a nullable field the null is not what was meant.
    const first = error.errors[0];
    const inside = first === undefined ? [] : describe(first);
    if (inside.length > 0) return inside;
  }
  const field = shortened(fieldOf(error.path));
  const [code, message] = sentence(error, schema, field === "" ? "The body" : `"${field}"`);
  return [{ field: field === "" ? "(body)" : field, code, message }];
}

const formats: Record<string, string> = {
  date: "a date of the calendar, YYYY-MM-DD",
  "date-time": "an instant in UTC, YYYY-MM-DDTHH:MM:SSZ",
  "local-time": "a time of day, HH:MM",
  timezone: 'an IANA time zone such as "Europe/Rome"',
  currency: 'an ISO 4217 currency such as "EUR"',
  decimal: 'an amount of zero or more as a decimal string, such as "120.50"',
  email: "an e-mail address",
  uri: "an absolute URL",
};

function sentence(error: ValueError, schema: TSchema, name: string): [string, string] {
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return ["required", `${name} is required`];
    case ValueErrorType.ObjectAdditionalProperties:
      // A name of the caller's own choice: see `metadata`.
      if (schema.patternProperties !== undefined)
        return ["invalid_name", `${name}: its name must have 1 to ${longestKey} characters`];
      return ["unknown_field", `${name} is not a field here: remove it or correct its name`];
    case ValueErrorType.StringMinLength:
      return ["too_short", `${name} must have at least ${schema.minLength} characters`];
    case ValueErrorType.StringMaxLength:
      return ["too_long", `${name} must have at most ${schema.maxLength} characters`];
    case ValueErrorType.ArrayMinItems:
      return ["too_short", `${name} must have at least ${schema.minItems} entries`];
    case ValueErrorType.ArrayMaxItems:
      return ["too_long", `${name} must have at most ${schema.maxItems} entries`];
    case ValueErrorType.ArrayUniqueItems:
      return ["duplicate", `${name} must not name anything twice`];
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.IntegerMinimum:
      return ["too_small", `${name} must be at least ${schema.minimum}`];
    case ValueErrorType.NumberMaximum:
    case ValueErrorType.IntegerMaximum:
      return ["too_large", `${name} must be at most ${schema.maximum}`];
    case ValueErrorType.ObjectMaxProperties:
      return ["too_long", `${name} must have at most ${schema.maxProperties} entries`];
    case ValueErrorType.StringFormat:
      return [
        "invalid_format",
        `${name} must be ${formats[String(schema.format)] ?? schema.format}`,
      ];
    case ValueErrorType.StringPattern:
      return ["invalid_format", `${name} must match ${schema.pattern}`];
    case ValueErrorType.Kind:
      if (Array.isArray(schema.enum)) {
        return ["not_allowed", `${name} must be one of: ${schema.enum.join(", ")}`];
      }
      break;
  }
  const type = String(schema.type ?? "value");
  return ["wrong_type", `${name} must be ${/^[aio]/.test(type) ? "an" : "a"} ${type}`];
}
