/**
 * Facts about the database itself, under a name each. Read and written at start, beside everything else.
 *
 * @module
 */

import { openReader, openWriter } from "./sqlite.ts";

/** What is known under a name. */
export function readMetaOf(file: string, key: string): string | undefined {
  const { database } = openReader(file);
  try {
    const row = database.prepare("select value from core_meta where key = ?").get(key);
    return (row as { value: string } | undefined)?.value;
  } finally {
    database.close();
  }
}

/** Notes something under a name, unless something stands there already. */
export function writeMetaOf(file: string, key: string, value: string): void {
  const { database } = openWriter(file);
  try {
    database.pragma("busy_timeout = 5000");
    database
      .prepare("insert into core_meta values (?, ?) on conflict (key) do nothing")
      .run(key, value);
  } finally {
    database.close();
  }
}
