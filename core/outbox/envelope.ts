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
  readonly data: unknown;
}

/** The canonical bytes of an envelope. */
export function envelopeBytes({ id, event, created_at, data }: Envelope): Uint8Array {
  const text = canonicalize({ created_at, data, event: event.name, id, schema_version: event.schema_version ?? 1 });
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > mostBytes) {
    throw new Error(`The event "${event.name}" has ${bytes.length} bytes: at most ${mostBytes} are allowed`);
  }
  return bytes;
}

/** The same value with every text well-formed: half of a surrogate pair has no UTF-8. */
export function wellFormed<T>(value: T): T {
  if (typeof value === "string") return value.toWellFormed() as T;
  if (Array.isArray(value)) return value.map((each) => wellFormed<unknown>(each)) as T;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed<unknown>(each)]);
    return Object.fromEntries(entries) as T;
  }
  return value;
}
