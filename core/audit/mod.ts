/**
 * The audit log: every write by whichever surface, in the unit of the write itself; refusals too. A job seals the
 * entries of each account into a hash chain, so that a later change of any of them shows.
 *
 * @module
 */

import { type Database, newUlid, pick, prepared } from "../db/mod.ts";
import { inner, type TSchema } from "../plugin/schema.ts";
import type { Actor } from "../plugin/types.ts";
import { sha256 } from "../secrets/mod.ts";
import { type AuditRow, auditTables } from "./tables.ts";

export { auditPlugin } from "./plugin.ts";
export { verifyChain } from "./chain.ts";

/** By which door a call came in. */
export type Surface = "rest" | "mcp" | "cli" | "dashboard" | "system";

/** What an entry tells. */
export interface AuditEntry {
  readonly account_id: string;
  readonly at: string;
  readonly actor: Actor;
  readonly surface: Surface;
  readonly operation: string;
  readonly request_id: string;
  /** Redacted already. */
  readonly input: string;
  /** `ok`, or the code of the problem. */
  readonly outcome: string;
}

const columns = [
  "id",
  "account_id",
  "at",
  "actor_kind",
  "credential_id",
  "user_id",
  "actor_label",
  "surface",
  "operation",
  "request_id",
  "input",
  "input_digest",
  "outcome",
] as const;

const insert = prepared<Pick<AuditRow, (typeof columns)[number]>>()((db, row) =>
  auditTables(db).insertInto("audit_entries").values(pick(row, columns)),
);

/** Writes an entry into the unit at hand. */
export async function audit(db: Database, { actor, ...entry }: AuditEntry): Promise<void> {
  await insert(db, {
    ...entry,
    id: newUlid(),
    actor_kind: actor.kind,
    credential_id: actor.credential_id,
    user_id: actor.user_id,
    actor_label: actor.label,
    input_digest: sha256(entry.input),
  });
}

const mostInput = 8 * 1024;

/** An input as the log may keep it: without secrets and personal data, and not without bound. */
export function redact(input: unknown, schema: TSchema): string {
  let blank = blanks.get(schema);
  if (blank === undefined) {
    blank = blanker(schema) ?? same;
    blanks.set(schema, blank);
  }
  const text = JSON.stringify(blank(input)) ?? "null";
  return text.length <= mostInput ? text : JSON.stringify({ omitted: `${text.length} characters` });
}

type Blank = (value: unknown) => unknown;

const blanks = new WeakMap<TSchema, Blank>();
const same: Blank = (value) => value;

/** What blanks the marked fields of a schema, in a copy; undefined where none is marked. */
function blanker(schema: TSchema): Blank | undefined {
  const bare = inner(schema);
  if (bare["x-secret"] === true) return (value) => (value === null ? null : "[secret]");
  if (bare["x-personal"] === true) return (value) => (value === null ? null : "[personal]");
  if (bare.items !== undefined) {
    const each = blanker(bare.items as TSchema);
    return each && ((value) => (Array.isArray(value) ? value.map((item) => each(item)) : value));
  }
  const marked: [string, Blank][] = [];
  for (const [name, field] of Object.entries((bare.properties ?? {}) as Record<string, TSchema>)) {
    const blank = blanker(field);
    if (blank !== undefined) marked.push([name, blank]);
  }
  if (marked.length === 0) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    const copy: Record<string, unknown> = { ...value };
    for (const [name, blank] of marked)
      if (copy[name] !== undefined) copy[name] = blank(copy[name]);
    return copy;
  };
}
