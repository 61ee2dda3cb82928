/**
 * When a failed delivery is tried again, and whether it is at all.
 *
 * @module
 */

import { sha256 } from "../secrets/mod.ts";

/** How an attempt ended. */
export type Verdict =
  | "ok"
  /** 5xx, 429, or no answer at all: tried again. */
  | "failed"
  /** Any other 4xx or 3xx: never tried again. */
  | "rejected"
  /** We ended it ourselves: it does not count. */
  | "aborted";

/** What an attempt's status, or the lack of one, means (interface §6.3). */
export function verdict(status: number | null): Exclude<Verdict, "aborted"> {
  if (status === null) return "failed";
  if (status >= 200 && status < 300) return "ok";
  return status === 429 || status >= 500 || status < 300 ? "failed" : "rejected";
}

/**
 * Milliseconds to wait after attempt `attempt` has failed; undefined where it was the last. Spread by ±10 %, the same
 * for the same delivery and attempt, so that nothing about it has to be kept.
 */
export function retryDelay(
  delivery_id: string,
  attempt: number,
  retrySeconds: readonly number[],
  retryAfter: number | null,
): number | undefined {
  const seconds = retrySeconds[attempt - 1];
  if (seconds === undefined) return undefined;
  const dice =
    Buffer.from(sha256(`${delivery_id} ${attempt}`), "base64url").readUInt32BE(0) / 2 ** 32;
  const step = seconds * (0.9 + 0.2 * dice);
  // A receiver may ask for patience, by an hour at most; it may never shorten the step.
  return 1000 * Math.max(step, Math.min(retryAfter ?? 0, seconds + 3600));
}

/** `Retry-After` in seconds: a number, or a date (RFC 9110 §10.2.3). */
export function retryAfterSeconds(header: string | undefined, now_ms: number): number | null {
  if (header === undefined) return null;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, (at - now_ms) / 1000);
}
