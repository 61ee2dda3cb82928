/**
 * The limit's guests: a body checked by hand, and the row that the product would store.
 *
 * @module
 */

/** A guest, as the database has it and as it is answered, but for the tags, which are stored as JSON. */
export interface Guest {
  readonly id: string;
  readonly account_id: string;
  readonly full_name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly locale: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

/** The columns of a guest, in the order of their table. */
export const guestColumns = [
  "id",
  "account_id",
  "full_name",
  "email",
  "phone",
  "locale",
  "notes",
  "tags",
  "created_at",
  "updated_at",
  "version",
] as const;

const isText = (value: unknown, most: number): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= most;

const optional = (value: unknown, fits: (value: unknown) => boolean): boolean =>
  value === undefined || value === null || fits(value);

const like = (pattern: RegExp) => (value: unknown) =>
  typeof value === "string" && pattern.test(value);

/** The guest of a body; undefined where a field is wrong. */
export function guestOf(input: Partial<Guest>, account_id: string): Guest | undefined {
  const { full_name, email, phone, locale, notes, tags } = input;
  const fine =
    isText(full_name, 200) &&
    optional(email, like(/^[^\s@]+@[^\s@]+\.[^\s@]+$/)) &&
    optional(phone, like(/^\+[1-9]\d{5,14}$/)) &&
    optional(locale, like(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)) &&
    optional(notes, (value) => isText(value, 5000)) &&
    optional(tags, (value) => Array.isArray(value) && value.every((tag) => isText(tag, 40)));
  if (!fine) return undefined;
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  return {
    id: Bun.randomUUIDv7(),
    account_id,
    full_name: full_name ?? "",
    email: email?.toLowerCase() ?? null,
    phone: phone ?? null,
    locale: locale ?? null,
    notes: notes ?? null,
    tags: tags ?? [],
    created_at: now,
    updated_at: now,
    version: 1,
  };
}
