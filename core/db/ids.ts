/**
 * Identifiers: UUIDv7 for records, ULID for events, deliveries, requests and audit rows. Both sort by time.
 *
 * @module
 */

import { monotonicFactory } from "ulid";

const monotonic = monotonicFactory();

/** The id of a new record (RFC 9562, version 7). */
export const newId = (): string => Bun.randomUUIDv7();

/** A new ULID, larger than every one before it in this process, even where the clock steps back. */
export const newUlid = (): string => monotonic();
