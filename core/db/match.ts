/**
 * Matching texts: the predicates that stores understand in different ways, in one place.
 *
 * @module
 */

import { type RawBuilder, sql } from "kysely";

/** Does a column hold a text, whatever its case? `%` and `_` are letters like others. */
export function holdsText(column: string, text: string): RawBuilder<boolean> {
  const like = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql`lower(${sql.ref(column)}) like lower(${like}) escape '\\'`;
}

/** Does a list of texts, which is stored as JSON, have this one? */
export function hasEntry(column: string, text: string): RawBuilder<boolean> {
  const entry = JSON.stringify(text);
  return sql`replace(${sql.ref(column)}, ${entry}, '') <> ${sql.ref(column)}`;
}

/** Is a column one of some texts, given as a JSON list? One parameter, however many they are: it can be prepared. */
export function isAmong(column: string, json: string): RawBuilder<boolean> {
  return sql`${sql.ref(column)} in (select value from ${eachText(json)})`;
}

/** The texts of a JSON list as rows with one column, `value`. */
export function eachText(json: string): RawBuilder<{ value: string }> {
  return sql`json_each(${json})`;
}
