/**
 * Does a value fit a schema exactly: every declared field there, and none beside them?
 *
 * @module
 */

import { checker, type TSchema } from "../../core/plugin/schema.ts";

const known = new WeakMap<TSchema, ReturnType<typeof checker>>();

/** All that is wrong with a value, in sentences. */
export function misfits(schema: TSchema, value: unknown): string[] {
  let check = known.get(schema);
  if (check === undefined) {
    check = checker(exact(schema));
    known.set(schema, check);
  }
  return check.faults(structuredClone(value)).map(({ field, message }) => `${field}: ${message}`);
}

/** The same schema, closed, with all fields required and no defaults to fill them in. */
function exact(schema: TSchema): TSchema {
  const copy: Record<PropertyKey, unknown> = {};
  // With its symbols: TypeBox knows its kinds by one.
  Object.assign(copy, schema);
  delete copy.default;
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties as Record<string, TSchema>);
    copy.properties = Object.fromEntries(fields.map(([name, field]) => [name, exact(field)]));
    copy.required = fields.map(([name]) => name);
    copy.additionalProperties = false;
  }
  if (schema.items !== undefined) copy.items = exact(schema.items as TSchema);
  if (schema.anyOf !== undefined) copy.anyOf = (schema.anyOf as TSchema[]).map(exact);
  return copy as unknown as TSchema;
}
