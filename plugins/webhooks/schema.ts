/**
 * A subscription, as its owner sees it.
 *
 * @module
 */

import {
  choice,
  instant,
  nullable,
  secret,
  type Static,
  type SubscriptionRow,
  t,
  text,
} from "#core";

/** Event names, or `*` for all, later ones too. */
export const events = t.Array(t.String({ minLength: 1, maxLength: 100 }), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  examples: [["reservation.created"]],
  description: 'Names from `GET /v1/webhooks/events`, or `["*"]` for all, later ones too.',
});

export const url = t.String({
  minLength: 1,
  maxLength: 2000,
  examples: ["https://example.com/hooks/innkeep"],
  description:
    "Where deliveries are sent: https only. The name may resolve to a public address only, unless the operator allows others.",
});

export const description = nullable(text(500), { default: null });

export const Subscription = t.Object(
  {
    id: t.String({ examples: ["0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b73"] }),
    url,
    description,
    events,
    status: choice(["active", "paused"], {
      description: "A paused subscription keeps its events for later.",
    }),
    paused_reason: nullable(t.String()),
    paused_at: nullable(instant()),
    listing_ids: nullable(t.Array(t.String()), {
      description: "Events of these listings only; null for all.",
    }),
    created_at: instant(),
    updated_at: instant(),
    version: t.Integer(),
  },
  { title: "WebhookSubscription" },
);

export type Subscription = Static<typeof Subscription>;

/** The subscription with its secret, this once. */
export const NewSubscription = t.Object(
  {
    ...Subscription.properties,
    secret: secret({
      examples: ["whsec_…"],
      description:
        "The key of the signature: the UTF-8 bytes of this whole text. It is shown this once.",
    }),
  },
  { title: "NewWebhookSubscription" },
);

/** A stored subscription as it is shown. */
export function shown(row: SubscriptionRow): Subscription {
  const {
    id,
    url,
    description,
    status,
    paused_reason,
    paused_at,
    created_at,
    updated_at,
    version,
  } = row;
  return {
    id,
    url,
    description,
    events: JSON.parse(row.events) as string[],
    status,
    paused_reason,
    paused_at,
    listing_ids: row.listing_ids === null ? null : (JSON.parse(row.listing_ids) as string[]),
    created_at,
    updated_at,
    version,
  };
}
