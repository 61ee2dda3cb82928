/**
 * The envelope: the five fields of every delivery, as canonical JSON (RFC 8785). The bytes are made once, stored, and
 * are what is sent and signed.
 *
 * @module
 */

import canonicalize from "canonicalize";

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
  const text =
    `{"created_at":"${created_at}","data":${canonicalData(event, data)},"event":"${event.name}","id":"${id}",` +
    `"schema_version":${event.schema_version ?? 1}}`;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > mostBytes) {
    throw new Error(`The event "${event.name}" has ${bytes.length} bytes: at most ${mostBytes} are allowed`);
  }
  return bytes;
}

const sorted = new WeakMap<EventType, readonly (readonly [name: string, opening: string])[]>();

/**
 * The canonical JSON of a payload. The names that its schema has are sorted once for all; what lies deeper, or is not
 * of the schema, is left to the library.
 */
function canonicalData(event: EventType, data: Readonly<Record<string, unknown>>): string {
  let names = sorted.get(event);
  if (names === undefined) {
    // UTF-16 code units, as RFC 8785 §3.2.3 asks: the order of `sort` itself.
    names = Object.keys(event.payload.properties).sort().map((name) => [name, `${JSON.stringify(name)}:`] as const);
    sorted.set(event, names);
  }
  let left = Object.keys(data).length;
  let text = "";
  for (const [name, opening] of names) {
    const value = data[name];
    if (value === undefined) continue;
    left--;
    // Only what JSON itself can say: the library throws where it cannot.
    const plain = typeof value === "string" ? value.isWellFormed() : value === null || typeof value === "boolean";
    text += `${text === "" ? "" : ","}${opening}${plain ? JSON.stringify(value) : canonicalize(value)}`;
  }
  return left === 0 ? `{${text}}` : (canonicalize(data) as string);
}

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
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toWellFormed(), mend(each)]));
}
