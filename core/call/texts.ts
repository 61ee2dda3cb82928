/**
 * The texts of an input, whatever surface they came by.
 *
 * @module
 */

import { wellFormed } from "../outbox/mod.ts";
import { invalid } from "../plugin/problem.ts";

/**
 * The input with texts that every store and every receiver can hold. Half of a surrogate pair, which has no UTF-8,
 * becomes the replacement character; a NUL, which PostgreSQL cannot store, is refused.
 */
export function storableTexts(input: Record<string, unknown>): Record<string, unknown> {
  const field = withNul(input, "");
  if (field === undefined) return wellFormed(input);
  throw invalid(
    field,
    "invalid_character",
    `"${field}" holds a NUL character (\\u0000), which cannot be stored: remove it`,
  );
}

/** Where the first text with a NUL is. */
function withNul(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return value.includes("\0") ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const key in value) {
    const below = path === "" ? key : `${path}.${key}`;
    const found = key.includes("\0")
      ? path || "(body)"
      : withNul((value as Record<string, unknown>)[key], below);
    if (found !== undefined) return found;
  }
  return undefined;
}
