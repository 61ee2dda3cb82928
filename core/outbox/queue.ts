/**
 * The queue: deliveries that are due, claimed in one unit and settled in one, each settling fenced by the token of its
 * claim. A crash between the two sends the same bytes again, under the same number.
 *
 * @module
 */

import { acrossAccounts, type Database, instantOf, newUlid } from "../db/mod.ts";
import { type AttemptRow, type DeliveryRow, outboxTables } from "./tables.ts";

/** A delivery with all that sending it needs. */
export interface Claimed {
  readonly id: string;
  readonly account_id: string;
  readonly subscription_id: string;
  readonly attempt: number;
  readonly lease_token: string;
  readonly event: string;
  readonly body: Uint8Array;
  readonly url: string;
  /** The encrypted signing secret of the version that the delivery was made with. */
  readonly secret_box: string;
}

const deliveries = (db: Database) => outboxTables(acrossAccounts(db));

/** Subscriptions that have something due, the longest waiting first. Those that are paused keep what they have. */
export async function dueLanes(
  db: Database,
  now_ms: number,
): Promise<{ subscription_id: string; account_id: string }[]> {
  return await deliveries(db)
    .selectFrom("outbox_deliveries as d")
    .innerJoin("outbox_subscriptions as s", "s.id", "d.subscription_id")
    .select(["d.subscription_id", "d.account_id"])
    .where("d.state", "=", "pending")
    .where("d.due_ms", "<=", now_ms)
    .where("s.status", "=", "active")
    .groupBy(["d.subscription_id", "d.account_id"])
    .orderBy(({ fn }) => fn.min("d.due_ms"))
    .execute();
}

/** When the next delivery falls due; undefined where none is waiting. */
export async function nextDue(db: Database): Promise<number | undefined> {
  const row = await deliveries(db)
    .selectFrom("outbox_deliveries as d")
    .innerJoin("outbox_subscriptions as s", "s.id", "d.subscription_id")
    .select(({ fn }) => fn.min("d.due_ms").as("due_ms"))
    .where("d.state", "=", "pending")
    .where("s.status", "=", "active")
    .executeTakeFirst();
  return row?.due_ms ?? undefined;
}

/** Claims up to `limit` deliveries of one subscription, the oldest first. */
export async function claim(
  db: Database,
  subscription_id: string,
  limit: number,
  now_ms: number,
): Promise<Claimed[]> {
  const lease_token = newUlid();
  const rows = await deliveries(db)
    .selectFrom("outbox_deliveries as d")
    .innerJoin("outbox_events as e", (join) =>
      join.onRef("e.account_id", "=", "d.account_id").onRef("e.id", "=", "d.event_id"),
    )
    .innerJoin("outbox_subscriptions as s", "s.id", "d.subscription_id")
    .innerJoin("outbox_secrets as k", (join) =>
      join
        .onRef("k.subscription_id", "=", "d.subscription_id")
        .onRef("k.version", "=", "d.secret_version"),
    )
    .select([
      "d.id",
      "d.account_id",
      "d.subscription_id",
      "d.attempt",
      "e.name as event",
      "e.body",
      "s.url",
      "k.box as secret_box",
    ])
    .where("d.subscription_id", "=", subscription_id)
    .where("d.state", "=", "pending")
    .where("d.due_ms", "<=", now_ms)
    .where("s.status", "=", "active")
    .orderBy("d.due_ms")
    .orderBy("d.id")
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  await deliveries(db)
    .updateTable("outbox_deliveries")
    .set({ state: "inflight", lease_token })
    .where(
      "id",
      "in",
      rows.map(({ id }) => id),
    )
    .execute();
  return rows.map((row) => ({ ...row, lease_token }));
}

/** What came of an attempt. */
export interface Settlement {
  readonly attempt: Omit<AttemptRow, "delivery_id" | "account_id" | "attempt">;
  readonly state: "delivered" | "rejected" | "exhausted" | "pending";
  /** For `pending`: when the next attempt is due. */
  readonly due_ms: number;
  readonly now_ms: number;
}

/** Writes down what came of an attempt. False where somebody else holds the delivery by now: then nothing is written. */
export async function settle(
  db: Database,
  claimed: Claimed,
  { attempt, state, due_ms, now_ms }: Settlement,
): Promise<boolean> {
  const again = state === "pending";
  const change: Partial<DeliveryRow> = {
    state,
    due_ms,
    lease_token: null,
    attempt: again ? claimed.attempt + 1 : claimed.attempt,
    last_status: attempt.status,
    last_error: attempt.error,
    finished_at: again ? null : instantOf(now_ms),
  };
  const { numUpdatedRows } = await deliveries(db)
    .updateTable("outbox_deliveries")
    .set(change)
    .where("id", "=", claimed.id)
    .where("state", "=", "inflight")
    .where("lease_token", "=", claimed.lease_token)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const { id, account_id } = claimed;
  await deliveries(db)
    .insertInto("outbox_attempts")
    .values({ delivery_id: id, account_id, attempt: claimed.attempt, ...attempt })
    .execute();
  return true;
}

/** Gives a claimed delivery back, as if it had not been tried. */
export async function release(db: Database, { id, lease_token }: Claimed): Promise<void> {
  await deliveries(db)
    .updateTable("outbox_deliveries")
    .set({ state: "pending", lease_token: null })
    .where("id", "=", id)
    .where("lease_token", "=", lease_token)
    .execute();
}

/** At start: what the last process had in hand when it ended goes back to the queue, under the same number. */
export async function reclaimAll(db: Database): Promise<void> {
  await deliveries(db)
    .updateTable("outbox_deliveries")
    .set({ state: "pending", lease_token: null })
    .where("state", "=", "inflight")
    .execute();
}
