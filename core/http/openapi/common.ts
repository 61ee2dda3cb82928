/**
 * What many entries of the document refer to: headers, parameters and the ways to sign in.
 *
 * @module
 */

import type { Json } from "./schemas.ts";

const text = (description: string, example: string): Json => ({
  description,
  schema: { type: "string" },
  example,
});
const whole = (description: string, example: number): Json => ({
  description,
  schema: { type: "integer" },
  example,
});

/** Headers of answers. */
export const headers: Json = {
  "Dry-Run": text("`true` where nothing was kept, because `dry_run` was given.", "true"),
  ETag: text("The version of the record: give it as `If-Match` or `If-None-Match`.", '"3"'),
  "Idempotent-Replayed": text(
    "`true` where this is the answer of an earlier request with the same key.",
    "true",
  ),
  Link: text(
    'The next page, where there is one: `<…>; rel="next"`.',
    '</v1/listings?cursor=WyIt>; rel="next"',
  ),
  Location: text(
    "Where the new record can be read.",
    "/v1/listings/0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b70",
  ),
  "Retry-After": whole("Wait so many seconds before trying again.", 3),
  "WWW-Authenticate": text(
    "Where OAuth clients find how to sign in (RFC 9728).",
    'Bearer resource_metadata="…"',
  ),
  "X-RateLimit-Limit": whole("How many requests a minute the tier allows.", 1200),
  "X-RateLimit-Remaining": whole("How many are left at once.", 1199),
  "X-RateLimit-Reset": whole("When the allowance is whole again, in Unix seconds.", 1_810_000_000),
  "X-Request-Id": text(
    "The id of this request, for logs and reports.",
    "01KAFW3N5V7Q2X8Z4R6T9Y0B1C",
  ),
  "X-Service-Tier": text("The tier of the credential; `anonymous` without one.", "enterprise"),
};

const header = (name: string, description: string, rest: Json = {}): Json => ({
  name,
  in: "header",
  description,
  schema: { type: "string" },
  ...rest,
});

/** Parameters that core reads itself. */
export const parameters: Json = {
  DryRun: {
    name: "dry_run",
    in: "query",
    description:
      "Do everything, answer as if it were done, and take it back: no event, no audit entry, no kept answer.",
    schema: { type: "boolean" },
  },
  Fields: {
    name: "fields",
    in: "query",
    description: "Answer these fields only, such as `id,title`; of a list, of each record.",
    style: "form",
    explode: false,
    schema: { type: "array", items: { type: "string" } },
  },
  IdempotencyKey: header(
    "Idempotency-Key",
    "A text of your own, new for each new request. Repeated within 24 hours it gives the first answer again.",
    { schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" } },
  ),
  IfMatch: header(
    "If-Match",
    "The `ETag` of the record as you know it: refused with 412 where its version is another one.",
  ),
  IfNoneMatch: header(
    "If-None-Match",
    "The `ETag` of the record as you know it: answered with 304 where its version is the same.",
  ),
  WebhookAttempt: header("x-webhook-attempt", "1 at first, 2 at the first retry.", {
    required: true,
    schema: { type: "integer", minimum: 1 },
    example: 1,
  }),
  WebhookDelivery: header(
    "x-webhook-delivery",
    "A ULID, the same in each retry of one delivery: keep it to know repeats by.",
    {
      required: true,
      example: "01KAFW3N5V7Q2X8Z4R6T9Y0B1D",
    },
  ),
  WebhookSignature: header(
    "x-webhook-signature",
    "`sha256=` and the lowercase hex HMAC-SHA256 of the raw body, keyed with the signing secret. Check it over the bytes " +
      "as they came, in constant time, before parsing them.",
    {
      required: true,
      schema: { type: "string", pattern: "^sha256=[0-9a-f]{64}$" },
      example: `sha256=${"0a1b2c3d".repeat(8)}`,
    },
  ),
  WebhookUserAgent: header("user-agent", "Who sends.", {
    required: true,
    schema: { type: "string", const: "Service-Webhook/1.0" },
  }),
};

/** The two ways to send a credential. */
export const securitySchemes: Json = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "An API key. It is shown once, when it is made.",
  },
  bearer: { type: "http", scheme: "bearer", description: "An API key or an access token." },
};

/** What an operation asks of a credential; for `public` nothing. The scope stands where roles stand in OpenAPI 3.1. */
export function securityOf(scope: string | null): Json[] {
  if (scope === "public") return [];
  const scopes = scope === null ? [] : [scope];
  return [{ apiKey: scopes }, { bearer: scopes }];
}

/** A reference to a parameter above. */
export const parameter = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });
