/**
 * Subscriptions and their secrets.
 *
 * @module
 */

import { randomBytes } from "node:crypto";

import { type Access, type Database, type Page, type PageInput, paginate } from "../db/mod.ts";
import type { Secrets } from "../secrets/mod.ts";
import { outboxTables, type SubscriptionRow } from "./tables.ts";

/** What a subscription's secret is bound to at rest. */
export const secretContext = (subscription_id: string): string =>
  `webhook secret ${subscription_id}`;

/** Encrypts the secret of a subscription. */
export const sealSecret = (secrets: Secrets, subscription_id: string, secret: string): string =>
  secrets.encrypt(secret, secretContext(subscription_id));

/** A new signing secret: 32 random bytes. The key of the HMAC is its whole text, prefix included. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString("base64url")}`;

/** Stores a subscription with its first secret, which is encrypted already (`sealSecret`). */
export async function insertSubscription(
  db: Database,
  row: SubscriptionRow,
  box: string,
): Promise<void> {
  const { id, account_id, secret_version, created_at } = row;
  await outboxTables(db).insertInto("outbox_subscriptions").values(row).execute();
  await outboxTables(db)
    .insertInto("outbox_secrets")
    .values({
      subscription_id: id,
      account_id,
      version: secret_version,
      box,
      created_at,
    })
    .execute();
}

/** A subscription of the account, or nothing. */
export async function findSubscription(
  access: Access,
  db: Database,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return await outboxTables(db)
    .selectFrom("outbox_subscriptions")
    .selectAll()
    .where("account_id", "=", access.account_id)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** A page of the account's subscriptions. */
export async function listSubscriptions(
  access: Access,
  db: Database,
  input: PageInput & {
    readonly status?: SubscriptionRow["status"];
    readonly made_by: string | undefined;
  },
): Promise<Page<SubscriptionRow>> {
  let query = outboxTables(db)
    .selectFrom("outbox_subscriptions")
    .selectAll()
    .where("account_id", "=", access.account_id);
  if (input.status !== undefined) query = query.where("status", "=", input.status);
  if (input.made_by !== undefined) query = query.where("credential_id", "=", input.made_by);
  return await paginate(query, input);
}

/** How many subscriptions an account has. */
export async function countSubscriptions({ account_id }: Access, db: Database): Promise<number> {
  const { count } = await outboxTables(db)
    .selectFrom("outbox_subscriptions")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", account_id)
    .executeTakeFirstOrThrow();
  return count;
}

/** The subscriptions that a credential has made. */
export async function subscriptionsMadeBy(
  access: Access,
  db: Database,
  credential_id: string,
): Promise<SubscriptionRow[]> {
  return await outboxTables(db)
    .selectFrom("outbox_subscriptions")
    .selectAll()
    .where("account_id", "=", access.account_id)
    .where("credential_id", "=", credential_id)
    .limit(2)
    .execute();
}

/** The names of the events that are still on their way to a subscription. */
export async function eventsUnderWay(
  { account_id }: Access,
  db: Database,
  id: string,
): Promise<string[]> {
  const rows = await outboxTables(db)
    .selectFrom("outbox_deliveries as d")
    .innerJoin("outbox_events as e", (join) =>
      join.onRef("e.account_id", "=", "d.account_id").onRef("e.id", "=", "d.event_id"),
    )
    .select("e.name")
    .distinct()
    .where("d.account_id", "=", account_id)
    .where("d.subscription_id", "=", id)
    .where("d.state", "in", ["pending", "inflight"])
    .execute();
  return rows.map(({ name }) => name);
}

/** Changes a subscription. */
export async function updateSubscription(
  access: Access,
  db: Database,
  id: string,
  change: Partial<SubscriptionRow>,
): Promise<void> {
  await outboxTables(db)
    .updateTable("outbox_subscriptions")
    .set(change)
    .where("account_id", "=", access.account_id)
    .where("id", "=", id)
    .execute();
}

/** Removes a subscription; what was still on its way to it is cancelled, what was delivered stays in the log. */
export async function deleteSubscription(
  access: Access,
  db: Database,
  id: string,
  now: string,
): Promise<void> {
  const { account_id } = access;
  await outboxTables(db)
    .updateTable("outbox_deliveries")
    .set({ state: "cancelled", lease_token: null, finished_at: now })
    .where("account_id", "=", account_id)
    .where("subscription_id", "=", id)
    .where("state", "in", ["pending", "inflight"])
    .execute();
  await outboxTables(db)
    .deleteFrom("outbox_secrets")
    .where("account_id", "=", account_id)
    .where("subscription_id", "=", id)
    .execute();
  await outboxTables(db)
    .deleteFrom("outbox_subscriptions")
    .where("account_id", "=", account_id)
    .where("id", "=", id)
    .execute();
}
