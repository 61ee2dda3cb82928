/**
 * Pages by key: no row is skipped or shown twice while the data changes, and the last page costs as much as the first.
 *
 * @module
 */

import { type SelectQueryBuilder, sql } from "kysely";

import { Problem } from "../plugin/problem.ts";
import { choice, nullable, t, type TSchema } from "../plugin/schema.ts";

/** What every list takes. */
export interface PageInput {
  readonly limit: number;
  readonly cursor?: string;
  readonly sort: string;
}

/** One page of records. */
export interface Page<T> {
  data: T[];
  page: { next_cursor: string | null; has_more: boolean; limit: number };
}

/** The input fields of a list that sorts by the named columns; the first of them is the default. None may be null. */
export function pageInput<const Columns extends readonly [string, ...string[]]>(columns: Columns) {
  const words = columns.flatMap((column) => {
    const bare = column.replace("-", "");
    return [bare, `-${bare}`];
  });
  return {
    limit: t.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: "How many records a page holds.",
    }),
    cursor: t.Optional(t.String({ description: "`page.next_cursor` of the page before." })),
    sort: choice(words, {
      default: columns[0],
      description: "A field to sort by; `-` turns the order round.",
    }),
  };
}

/** The schema of a page of `item`. */
export function pageOf<S extends TSchema>(item: S) {
  return t.Object({
    data: t.Array(item),
    page: t.Object({
      next_cursor: nullable(t.String(), { description: "Give it as `cursor` for the next page." }),
      has_more: t.Boolean(),
      limit: t.Integer(),
    }),
  });
}

/** Runs a query for one page; `id` breaks ties. The cursor of another order is refused. */
export async function paginate<DB, Table extends keyof DB, O extends { id: string }>(
  query: SelectQueryBuilder<DB, Table, O>,
  { limit, cursor, sort }: PageInput,
): Promise<Page<O>> {
  const descending = sort.startsWith("-");
  const wanted = descending ? sort.slice(1) : sort;
  // Ids are made in the order of creation, to the millisecond, and their index is there anyway.
  const column = wanted === "created_at" ? "id" : wanted;
  const direction = descending ? "desc" : "asc";
  let page = query.orderBy(sql.ref(column), direction).limit(limit + 1);
  if (column !== "id") page = page.orderBy(sql.ref("id"), direction);
  if (cursor !== undefined) {
    const [value, id] = readCursor(cursor, sort);
    const beyond = descending ? sql`<` : sql`>`;
    page = page.where(
      column === "id"
        ? sql<boolean>`${sql.ref("id")} ${beyond} ${id}`
        : sql<boolean>`(${sql.ref(column)}, ${sql.ref("id")}) ${beyond} (${value}, ${id})`,
    );
  }
  const data = await page.execute();
  const more = data.length > limit;
  if (more) data.pop();
  const last = data.at(-1) as (O & Record<string, unknown>) | undefined;
  const next = more && last !== undefined ? writeCursor(sort, last[column], last.id) : null;
  return { data, page: { next_cursor: next, has_more: more, limit } };
}

const writeCursor = (sort: string, value: unknown, id: string): string =>
  Buffer.from(JSON.stringify([sort, value, id])).toString("base64url");

function readCursor(cursor: string, sort: string): [string | number, string] {
  try {
    const [order, value, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    const plain = typeof value === "string" || typeof value === "number";
    if (order === sort && plain && typeof id === "string") return [value, id];
  } catch {
    // Not one of ours: said below.
  }
  throw new Problem(
    "invalid_cursor",
    "Cannot read the cursor: take `page.next_cursor` of the page before, with the same `sort`",
  );
}
