/**
 * The envelope: the five fields of every delivery, as canonical JSON (RFC 8785). The bytes are made once, stored, and
 * are what is sent and signed.
 *
 * @module
 */

import canonicalize from "canonicalize";

import { Problem } from "../plugin/problem.ts";
import type { EventType } from "../plugin/types.ts";

/** An event is refused, loudly, beyond this size: a receiver must be able to rely on what it gets. */
const mostBytes = 256 * 1024;

/** What stands around a payload. */
export interface Envelope {
  readonly id: string;
  readonly event: EventType;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The canonical bytes of an envelope. */
export function envelopeBytes({ id, event, created_at, data }: Envelope): Uint8Array {
  const bytes = Buffer.from(
    canonicalJson({
      created_at,
      data,
      event: event.name,
      id,
      schema_version: event.schema_version ?? 1,
    }),
  );
  if (bytes.length > mostBytes) {
    throw new Problem(
      "payload_too_large",
      `This makes the event "${event.name}" ${bytes.length} bytes large, and at most ${mostBytes} can be delivered: shorten the texts`,
      { extra: { limit_bytes: mostBytes } },
    );
  }
  return bytes;
}

/**
 * Canonical JSON (RFC 8785). Its numbers and escapes are those of ECMAScript, so that sorting the names is all there is
 * to do; an object keeps them in the order they were given, unless one looks like an index: then the library does it.
 */
function canonicalJson(value: Readonly<Record<string, unknown>>): string {
  const ordered = inOrder(value);
  return ordered === unordered ? (canonicalize(value) as string) : JSON.stringify(ordered);
}

const unordered = Symbol("an object that cannot be put in order");

function inOrder(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new Error(`${value} has no form in JSON`);
  if (typeof value === "string" && !value.isWellFormed())
    throw new Error("A text with half of a surrogate pair has no form in UTF-8");
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(inOrder);
    return items.includes(unordered) ? unordered : items;
  }
  const copy: Record<string, unknown> = {};
  for (const name of namesOf(value)) {
    const item = inOrder((value as Record<string, unknown>)[name]);
    if (item === unordered || isIndex(name)) return unordered;
    copy[name] = item;
  }
  return copy;
}

const isIndex = (name: string): boolean => name === "__proto__" || /^\d+$/.test(name);

// UTF-16 code units, as RFC 8785 §3.2.3 asks: the order of `sort` itself.
const namesOf = (value: object): string[] => Object.keys(value).sort();

/** The same value with every text well-formed: half of a surrogate pair has no UTF-8. */
export function wellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (mend(value) as T);
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  for (const key in value) {
    if (!key.isWellFormed() || !isWellFormed((value as Record<string, unknown>)[key])) return false;
  }
  return true;
}

function mend(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mend);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.toWellFormed(), mend(each)]),
  );
}
