/**
 * Limits: one bucket per credential, or per address where there is none. A bucket starts full, holds a minute's worth,
 * and fills up again evenly; each request takes one.
 *
 * @module
 */

import { LRUCache } from "lru-cache";

import type { Clock } from "../db/mod.ts";

/** How a caller stands after a request. */
export interface Standing {
  readonly tier: string;
  readonly limit: number;
  readonly remaining: number;
  /** When the bucket is full again, in Unix seconds. */
  readonly reset: number;
  /** Seconds until one more request is allowed; 0 where this one was. */
  readonly retry_after: number;
}

/** Counts requests. */
export interface Limits {
  take(holder: string, tier: string): Standing;
  /** How a caller stands, without counting anything. */
  look(holder: string, tier: string): Standing;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** So many buckets are kept; a bucket that was dropped is full, as it soon would have been. */
const mostBuckets = 100_000;

/** Makes the buckets. A tier that is no longer configured has the smallest limit. */
export function createLimits(clock: Clock, tiers: Readonly<Record<string, number>>): Limits {
  const buckets = new LRUCache<string, Bucket>({ max: mostBuckets });
  const smallest = Math.min(...Object.values(tiers));

  const stand = (holder: string, tier: string, cost: 0 | 1): Standing => {
    const limit = tiers[tier] ?? smallest;
    const now = clock.ms();
    const perMs = limit / 60_000;
    let bucket = buckets.get(holder);
    if (bucket === undefined) {
      bucket = { tokens: limit, at: now };
      buckets.set(holder, bucket);
    }
    bucket.tokens = Math.min(limit, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
    const allowed = bucket.tokens >= cost;
    if (allowed) bucket.tokens -= cost;
    return {
      tier,
      limit,
      remaining: Math.floor(bucket.tokens),
      reset: Math.ceil((now + (limit - bucket.tokens) / perMs) / 1000),
      retry_after: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)),
    };
  };

  return {
    take: (holder, tier) => stand(holder, tier, 1),
    look: (holder, tier) => stand(holder, tier, 0),
  };
}
