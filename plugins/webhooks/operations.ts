/**
 * Subscriptions and the catalogue of events.
 *
 * @module
 */

import {
  choice,
  type Context,
  countSubscriptions,
  defineOperation,
  deleteSubscription,
  eventsUnderWay,
  findSubscription,
  insertSubscription,
  invalid,
  listSubscriptions,
  newId,
  newSecret,
  notFound,
  nullable,
  pageInput,
  pageOf,
  ref,
  sample,
  sealSecret,
  type SubscriptionRow,
  subscriptionsMadeBy,
  t,
  updateSubscription,
} from "#core";

import { mustBeOpen, mustBeReachable } from "./checks.ts";
import { verification } from "./events.ts";
import { description, events, NewSubscription, shown, Subscription, url } from "./schema.ts";

/** A subscription that the caller may see: whoever is restricted to listings sees those that it made itself. */
async function find({ access, actor, db }: Context, id: string): Promise<SubscriptionRow> {
  const row = await findSubscription(access, db, id);
  const hidden = access.listing_ids !== "all" && row?.credential_id !== actor.credential_id;
  if (row === undefined || hidden) throw notFound("webhook", id);
  return row;
}

/** Each event looks at every subscription of its account. */
const mostSubscriptions = 100;

async function mustHaveRoom({ access, db }: Context): Promise<void> {
  if ((await countSubscriptions(access, db)) < mostSubscriptions) return;
  throw invalid(
    "url",
    "too_many",
    `The account has ${mostSubscriptions} subscriptions already: end one of them first`,
  );
}

const greeting =
  "This endpoint is subscribed to Innkeep. Route on the event name; verify the signature over the raw body.";

export const create = defineOperation({
  name: "webhooks.create",
  summary: "Subscribe an endpoint to events; the signing secret is shown this once.",
  description: "A `webhook.verification` is delivered at once.",
  route: "POST /webhooks",
  scope: "webhooks:write",
  status: 201,
  input: t.Object({ url, events, description }),
  output: NewSubscription,
  emits: [verification],
  problems: [
    "webhook_url_not_https",
    "webhook_url_forbidden",
    "unknown_event",
    "insufficient_scope",
  ],
  tool: {
    name: "create_webhook",
    title: "Subscribe to events",
    toolset: "admin",
    open_world: true,
  },
  async prepare(input, services) {
    mustBeReachable(input.url, services);
    const id = newId();
    const secret = newSecret();
    return { id, secret, box: sealSecret(services.secrets, id, secret) };
  },
  async handler(input, context, { id, secret, box }) {
    const { db, access, actor, scopes, now, emit } = context;
    mustBeOpen(input.events, context);
    await mustHaveRoom(context);
    const row: SubscriptionRow = {
      id,
      account_id: access.account_id,
      credential_id: actor.credential_id,
      url: input.url,
      description: input.description,
      status: "active",
      paused_reason: null,
      paused_at: null,
      events: JSON.stringify(input.events),
      scopes: JSON.stringify(scopes),
      listing_ids: access.listing_ids === "all" ? null : JSON.stringify(access.listing_ids),
      secret_version: 1,
      version: 1,
      created_at: now,
      updated_at: now,
    };
    await insertSubscription(db, row, box);
    emit(verification, { message: greeting, subscription_id: id, url: input.url });
    return { ...shown(row), secret };
  },
});

export const list = defineOperation({
  name: "webhooks.list",
  summary: "List the account's subscriptions.",
  route: "GET /webhooks",
  scope: "webhooks:read",
  input: t.Object({
    status: t.Optional(choice(["active", "paused"])),
    ...pageInput(["-created_at", "updated_at"]),
  }),
  output: pageOf(Subscription),
  tool: { name: "list_webhooks", title: "List subscriptions", toolset: "admin" },
  async handler(input, { db, access, actor }) {
    const made_by = access.listing_ids === "all" ? undefined : (actor.credential_id ?? undefined);
    const { data, page } = await listSubscriptions(access, db, { ...input, made_by });
    return { data: data.map(shown), page };
  },
});

export const get = defineOperation({
  name: "webhooks.get",
  summary: "Read one subscription, without its secret.",
  route: "GET /webhooks/:id",
  scope: "webhooks:read",
  input: t.Object({ id: ref("webhook") }),
  output: Subscription,
  problems: ["not_found"],
  handler: async ({ id }, context) => shown(await find(context, id)),
});

export const update = defineOperation({
  name: "webhooks.update",
  summary: "Change where a subscription is sent, or what it is told.",
  description: "What is still on its way is sent to the new URL.",
  route: "PATCH /webhooks/:id",
  scope: "webhooks:write",
  input: t.Object({
    id: ref("webhook"),
    url: t.Optional(url),
    events: t.Optional(events),
    description: t.Optional(nullable(t.String({ maxLength: 500 }))),
  }),
  output: Subscription,
  problems: [
    "not_found",
    "webhook_url_not_https",
    "webhook_url_forbidden",
    "unknown_event",
    "insufficient_scope",
    "version_mismatch",
  ],
  async prepare(input, services) {
    if (input.url !== undefined) mustBeReachable(input.url, services);
  },
  async handler({ id, ...input }, context) {
    const { db, access, now, scopes, expect } = context;
    const before = await find(context, id);
    expect(before);
    const change: Partial<SubscriptionRow> = { updated_at: now, version: before.version + 1 };
    if (input.url !== undefined) {
      // What is on its way goes there too, whatever the subscription is to be told from now on.
      const waiting = await eventsUnderWay(access, db, id);
      mustBeOpen(
        waiting.filter((name) => context.events.has(name)),
        context,
      );
      change.url = input.url;
    }
    if (input.description !== undefined) change.description = input.description;
    if (input.url !== undefined || input.events !== undefined) {
      // Whoever directs what is told must be allowed to see it himself.
      const names = input.events ?? (JSON.parse(before.events) as string[]);
      mustBeOpen(names, context);
      change.events = JSON.stringify(names);
      change.scopes = JSON.stringify(scopes);
      if (access.listing_ids !== "all") change.listing_ids = JSON.stringify(access.listing_ids);
    }
    await updateSubscription(access, db, id, change);
    return shown({ ...before, ...change });
  },
});

export const remove = defineOperation({
  name: "webhooks.remove",
  summary: "End a subscription; what was not delivered yet is cancelled.",
  route: "DELETE /webhooks/:id",
  scope: "webhooks:write",
  input: t.Object({ id: ref("webhook") }),
  output: Subscription,
  problems: ["not_found", "version_mismatch"],
  async handler({ id }, context) {
    const { db, access, now, expect } = context;
    const row = await find(context, id);
    expect(row);
    await deleteSubscription(access, db, id, now);
    return shown(row);
  },
});

export const test = defineOperation({
  name: "webhooks.test",
  summary: "Deliver a webhook.verification, to check signing and reachability.",
  description:
    "Without `subscription_id` it goes to the only subscription that this credential has made.",
  route: "POST /webhooks/test",
  scope: "webhooks:write",
  status: 202,
  body: "optional",
  input: t.Object({ subscription_id: t.Optional(ref("webhook")) }),
  output: t.Object({
    subscription_id: t.String(),
    url: t.String(),
    event: t.String({ examples: ["webhook.verification"] }),
  }),
  emits: [verification],
  problems: ["not_found"],
  tool: { name: "test_webhook", title: "Test a subscription", toolset: "admin", open_world: true },
  async handler(input, context) {
    const { id, url } = await chosen(context, input.subscription_id);
    context.emit(verification, {
      message: "This is a test of your Innkeep subscription.",
      subscription_id: id,
      url,
    });
    return { subscription_id: id, url, event: verification.name };
  },
});

async function chosen(context: Context, wanted: string | undefined): Promise<SubscriptionRow> {
  if (wanted !== undefined) return await find(context, wanted);
  const { access, db, actor } = context;
  const { credential_id } = actor;
  const own = credential_id === null ? [] : await subscriptionsMadeBy(access, db, credential_id);
  const [only] = own;
  if (only !== undefined && own.length === 1) return only;
  const has = only === undefined ? "has made no subscription" : "has made several subscriptions";
  throw invalid(
    "subscription_id",
    "required",
    `"subscription_id" is required: this credential ${has}`,
  );
}

export const list_events = defineOperation({
  name: "webhooks.list_events",
  summary: "List the events that can be subscribed to, each with its payload.",
  route: "GET /webhooks/events",
  scope: "webhooks:read",
  input: t.Object({}),
  output: t.Object({
    data: t.Array(
      t.Object({
        name: t.String({ examples: ["reservation.created"] }),
        summary: t.String(),
        scope: nullable(t.String(), { description: "Needed to subscribe to it." }),
        echo_guarded: t.Boolean({
          description: "Is it kept from the subscriptions of the credential that caused it?",
        }),
        schema_version: t.Integer(),
        schema: t.Unknown({ description: "JSON Schema of `data`." }),
        sample: t.Unknown({ description: "A believable `data`." }),
      }),
    ),
  }),
  async handler(_input, { events }) {
    const data = [...events.values()].map((event) => ({
      name: event.name,
      summary: event.summary,
      scope: event.scope,
      echo_guarded: event.echo_guarded === true,
      schema_version: event.schema_version ?? 1,
      schema: event.payload as unknown,
      sample: sample(event.payload),
    }));
    return { data: data.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  },
});
