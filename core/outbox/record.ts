/**
 * Recording: events and the deliveries that they cause, written in the unit of the write that made them true. A
 * rollback takes both; a commit has both.
 *
 * @module
 */

import { type Database, newUlid, pick, prepared } from "../db/mod.ts";
import { covers } from "../identity/scopes.ts";
import type { Registry } from "../plugin/registry.ts";
import type { EventType } from "../plugin/types.ts";
import { envelopeBytes } from "./envelope.ts";
import { type EventRow, outboxTables, type SubscriptionRow } from "./tables.ts";

/** An event that was emitted in a unit. */
export interface Emitted {
  readonly event: EventType;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Who caused the events, where and when. */
export interface Cause {
  readonly account_id: string;
  readonly credential_id: string | null;
  readonly now: string;
  readonly now_ms: number;
}

const subscriptionsOf = prepared<{ account_id: string }>()((db, { account_id }) =>
  outboxTables(db)
    .selectFrom("outbox_subscriptions")
    .selectAll()
    .where("account_id", "=", account_id),
);

const eventColumns = [
  "id",
  "account_id",
  "name",
  "listing_id",
  "credential_id",
  "created_at",
  "body",
] as const;

const insertEvent = prepared<Pick<EventRow, (typeof eventColumns)[number]>>()((db, row) =>
  outboxTables(db).insertInto("outbox_events").values(pick(row, eventColumns)),
);

/** Writes the events of a unit, their deliveries and their reactions. Answers how many wait to be worked off. */
export async function record(
  db: Database,
  registry: Registry,
  emitted: readonly Emitted[],
  cause: Cause,
): Promise<number> {
  if (emitted.length === 0) return 0;
  let waiting = 0;
  const subscriptions = await subscriptionsOf(db, { account_id: cause.account_id });
  for (const one of emitted) {
    const { event, payload } = one;
    const id = newUlid();
    const listing_id =
      event.listing === null ? null : ((payload[event.listing] ?? null) as string | null);
    const { account_id, credential_id, now } = cause;
    const body = envelopeBytes({ id, event, created_at: now, data: payload });
    await insertEvent(db, {
      id,
      account_id,
      name: event.name,
      listing_id,
      credential_id,
      created_at: now,
      body,
    });
    for (const subscription of subscriptions) {
      if (!wants(subscription, one, listing_id, credential_id)) continue;
      await deliver(db, id, subscription, cause);
      waiting++;
    }
    for (const reaction of registry.reactions.get(event.name) ?? []) {
      await outboxTables(db)
        .insertInto("outbox_reactions")
        .values({
          event_id: id,
          reaction: reaction.name,
          account_id,
          state: "pending",
          failures: 0,
          due_ms: cause.now_ms,
          last_error: null,
        })
        .execute();
      waiting++;
    }
  }
  return waiting;
}

/** Queues one event for one subscription: attempt 1, with today's secret. */
async function deliver(
  db: Database,
  event_id: string,
  subscription: Pick<SubscriptionRow, "id" | "account_id" | "secret_version">,
  { now, now_ms }: Pick<Cause, "now" | "now_ms">,
): Promise<string> {
  const id = newUlid();
  await outboxTables(db)
    .insertInto("outbox_deliveries")
    .values({
      id,
      account_id: subscription.account_id,
      event_id,
      subscription_id: subscription.id,
      state: "pending",
      attempt: 1,
      due_ms: now_ms,
      lease_token: null,
      secret_version: subscription.secret_version,
      last_status: null,
      last_error: null,
      created_at: now,
      finished_at: null,
    })
    .execute();
  return id;
}

function wants(
  subscription: SubscriptionRow,
  { event, payload }: Emitted,
  listing_id: string | null,
  credential_id: string | null,
): boolean {
  if (event.only !== undefined) return subscription.id === payload[event.only];
  const events = list(subscription.events);
  if (!events.includes("*") && !events.includes(event.name)) return false;
  if (event.scope !== null && !covers(list(subscription.scopes), event.scope)) return false;
  const echo =
    event.echo_guarded === true &&
    credential_id !== null &&
    credential_id === subscription.credential_id;
  if (echo) return false;
  if (subscription.listing_ids === null) return true;
  // Whoever is restricted to listings hears nothing of what belongs to none.
  return listing_id !== null && list(subscription.listing_ids).includes(listing_id);
}

const list = (json: string): string[] => JSON.parse(json) as string[];
