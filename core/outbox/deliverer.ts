/**
 * The deliverer: claims what is due whenever a slot is free, sends it signed, and settles it. It holds nothing in
 * memory that is not in the database: ended at any moment, it goes on where it was.
 *
 * @module
 */

import PQueue from "p-queue";

import type { Clock, Database, Store } from "../db/mod.ts";
import { instantOf } from "../db/mod.ts";
import type { Egress, EgressAnswer } from "../egress/mod.ts";
import type { Log } from "../log.ts";
import { createLoop } from "../loop.ts";
import { hmacSha256, type Secrets } from "../secrets/mod.ts";
import {
  claim,
  type Claimed,
  dueLanes,
  nextDue,
  reclaimAll,
  release,
  settle,
  type Settlement,
} from "./queue.ts";
import { retryAfterSeconds, retryDelay, verdict } from "./schedule.ts";
import { secretContext } from "./subscriptions.ts";

/** What it needs. */
export interface DelivererOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly egress: Egress;
  readonly log: Log;
  readonly retrySeconds: readonly number[];
}

/** Sends what is due. */
export interface Deliverer {
  start(): Promise<void>;
  /** Something may be due: a hint that saves the wait for the next look. */
  wake(): void;
  /** Claims nothing more, gives the attempts at hand a moment, and gives the rest back. */
  stop(): Promise<void>;
  /** Waits until nothing is due and nothing under way. For tests. */
  settled(): Promise<void>;
}

/** Sent at once, over all receivers, */
const slots = 128;
/** for one account, */
const slotsPerAccount = 64;
/** and to one receiver. */
const slotsPerLane = 4;
/** A receiver has so long to answer (interface §6.3). */
const deadline = 10_000;
/** Other processes may queue something too: so often it is looked at anyway. */
const poll = 1000;
const grace = 12_000;
/** Longest wait before a result that could not be written is tried again. */
const mostPatience = 5000;

/** Counts what is under way, by name. */
function createCounter() {
  const counts = new Map<string, number>();
  const count = (name: string): number => counts.get(name) ?? 0;
  return {
    count,
    add(name: string, change: 1 | -1): void {
      const now = count(name) + change;
      if (now === 0) counts.delete(name);
      else counts.set(name, now);
    },
  };
}

/** Makes the deliverer. */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, clock, egress, log } = options;
  const pool = new PQueue({ concurrency: slots });
  const lanes = createCounter();
  const accounts = createCounter();
  const shutdown = new AbortController();
  let stopping = false;

  const look = async (): Promise<number> => {
    let left = slots - pool.pending - pool.size;
    const due = left > 0 ? await store.read((db) => dueLanes(db, clock.ms())) : [];
    // Those that have least under way come first: who never answers must not keep the others waiting.
    due.sort((a, b) => lanes.count(a.subscription_id) - lanes.count(b.subscription_id));
    for (const { subscription_id, account_id } of due) {
      const ofLane = slotsPerLane - lanes.count(subscription_id);
      const room = Math.min(left, ofLane, slotsPerAccount - accounts.count(account_id));
      if (room <= 0) continue;
      const claimed = await store.write((db) => claim(db, subscription_id, room, clock.ms()));
      left -= claimed.length;
      for (const one of claimed) send(one);
    }
    const next = await store.read(nextDue);
    if (next === undefined) return poll;
    // What is due but has no slot is looked at when one falls free, so there is no hurry.
    const wait = next - clock.ms();
    return wait > 0 ? Math.min(poll, wait) : poll;
  };
  const loop = createLoop(look, (error) =>
    log.error({ err: error }, "The outbox could not be worked off"),
  );

  const send = (claimed: Claimed): void => {
    const { subscription_id, account_id } = claimed;
    lanes.add(subscription_id, 1);
    accounts.add(account_id, 1);
    void pool.add(async () => {
      try {
        await attempt(claimed);
      } catch (error) {
        log.error({ err: error, delivery: claimed.id }, "A delivery could not be settled");
      } finally {
        lanes.add(subscription_id, -1);
        accounts.add(account_id, -1);
        loop.wake();
      }
    });
  };

  /** What came of an attempt is not lost to a full disk: it is held here until it can be written. */
  const surely = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    for (let wait = 100; ; wait = Math.min(2 * wait, mostPatience)) {
      try {
        return await store.write(work);
      } catch (error) {
        if (stopping) throw error;
        log.error({ err: error }, "What came of a delivery cannot be written: trying again");
        await Bun.sleep(wait);
      }
    }
  };

  const attempt = async (claimed: Claimed): Promise<void> => {
    const started = clock.ms();
    const answer = await post(claimed);
    if (answer.kind === "failure" && answer.reason === "aborted") {
      await surely((db) => release(db, claimed));
      return;
    }
    const settlement = judge(claimed, answer, started);
    const held = await surely((db) => settle(db, claimed, settlement));
    if (!held)
      log.warn(
        { delivery: claimed.id },
        "A delivery was settled by somebody else: this result is dropped",
      );
  };

  const post = async (claimed: Claimed): Promise<EgressAnswer> => {
    let secret: string;
    try {
      secret = options.secrets.decrypt(claimed.secret_box, secretContext(claimed.subscription_id));
    } catch (error) {
      log.error(
        { err: error, subscription: claimed.subscription_id },
        "A signing secret cannot be read",
      );
      const message =
        "Cannot sign the delivery: the server's secret key is not the one that the signing secret was encrypted with";
      return { kind: "failure", reason: "connection", message, address: null, duration_ms: 0 };
    }
    return await egress.request({
      method: "POST",
      url: claimed.url,
      body: claimed.body,
      deadline_ms: deadline,
      signal: shutdown.signal,
      headers: {
        "content-type": "application/json",
        "user-agent": "Service-Webhook/1.0",
        "x-webhook-event": claimed.event,
        "x-webhook-delivery": claimed.id,
        "x-webhook-attempt": String(claimed.attempt),
        "x-webhook-signature": `sha256=${hmacSha256(secret, claimed.body)}`,
      },
    });
  };

  const judge = (claimed: Claimed, answer: EgressAnswer, started: number): Settlement => {
    const now_ms = clock.ms();
    const status = answer.kind === "answer" ? answer.status : null;
    const outcome = verdict(status);
    const retryAfter =
      answer.kind === "answer" ? retryAfterSeconds(answer.headers["retry-after"], now_ms) : null;
    const delay =
      outcome === "failed"
        ? retryDelay(claimed.id, claimed.attempt, options.retrySeconds, retryAfter)
        : undefined;
    const final =
      outcome === "ok" ? "delivered" : outcome === "rejected" ? "rejected" : "exhausted";
    return {
      state: delay === undefined ? final : "pending",
      due_ms: now_ms + Math.round(delay ?? 0),
      now_ms,
      attempt: {
        started_at: instantOf(started),
        duration_ms: Math.round(answer.duration_ms),
        outcome,
        status,
        error: answer.kind === "failure" ? answer.message : null,
        address: answer.address,
        response: answer.kind === "answer" ? new TextDecoder().decode(answer.body) : null,
      },
    };
  };

  return {
    wake: loop.wake,
    async start() {
      await store.write(reclaimAll);
      loop.start();
    },
    async stop() {
      stopping = true;
      await loop.stop();
      const late = setTimeout(() => shutdown.abort(), grace);
      await pool.onIdle();
      clearTimeout(late);
    },
    async settled() {
      for (;;) {
        await loop.idle();
        await pool.onIdle();
        const due = await store.read((db) => dueLanes(db, clock.ms()));
        if (due.length === 0 && pool.pending === 0) return;
        loop.wake();
      }
    },
  };
}
