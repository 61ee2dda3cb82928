/**
 * What each problem means, in the words of the documentation, and which fields of its own it brings.
 *
 * @module
 */

import type { Detail, ProblemCode } from "../../plugin/problem.ts";

/** Fields of an error beside the common ones. */
export interface ExtraFields {
  readonly details?: readonly Detail[];
  readonly [field: string]: unknown;
}

/** What is said of one code. */
export interface Meaning {
  /** One sentence, without its period. */
  readonly means: string;
  readonly extra?: ExtraFields;
}

/** A field that is wrong, as an example. */
const wrong = (field: string, code: string, message: string): ExtraFields => ({
  details: [{ field, code, message }],
});

/** All of them. */
export const meanings: Readonly<Record<ProblemCode, Meaning>> = {
  invalid_json: { means: "The body is not valid JSON" },
  unknown_parameter: {
    means: "The query names a parameter that is not offered here",
    extra: wrong("colour", "unknown_parameter", '"colour" is not a query parameter here'),
  },
  invalid_cursor: {
    means: "The cursor cannot be read, or belongs to another order: begin anew without it",
  },
  missing_credential: { means: "No credential was sent" },
  invalid_api_key: { means: "The API key is unknown or has expired" },
  invalid_token: { means: "The bearer token is unknown or has expired" },
  revoked: { means: "The credential was revoked" },
  plan_upgrade_required: {
    means: "The account's plan is below the one that this needs",
    extra: {
      current_tier: "free",
      required_tier: "pro",
      feature: "listings.create",
      billing_url: "https://innkeep.example/settings/plan",
    },
  },
  insufficient_scope: {
    means: "The credential is valid, but its scopes do not cover this",
    extra: { required_scopes: ["listings:write"], granted_scopes: ["listings:read"] },
  },
  listing_not_permitted: {
    means: "The credential is restricted to listings, and this one is not among them",
  },
  origin_not_allowed: { means: "The request came from a page of another origin" },
  not_found: {
    means: "The record is not there, or belongs to somebody else: the answer is the same",
    extra: { resource: "listing", id: "0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b70" },
  },
  method_not_allowed: { means: "The path knows other methods only: see `Allow`" },
  dates_unavailable: {
    means: "Some of the nights are taken",
    extra: {
      conflicts: [{ date: "2027-05-14", reservation_id: "0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b71" }],
    },
  },
  duplicate: { means: "There is such a record already" },
  idempotency_key_in_use: {
    means: "A request with this Idempotency-Key is under way: try again shortly",
  },
  invalid_transition: {
    means: "The record is in a state that does not allow this",
    extra: { current_status: "archived", allowed: [] },
  },
  version_mismatch: {
    means: "The record has changed since it was read: read it again and repeat",
    extra: { current_version: 4 },
  },
  payload_too_large: {
    means: "The body is larger than is taken",
    extra: { limit_bytes: 1_048_576 },
  },
  unsupported_media_type: { means: "The body is of another type than is taken here" },
  validation_failed: {
    means: "Some field is missing, unknown or wrong: `details` names each",
    extra: wrong("title", "required", '"title" is required'),
  },
  webhook_url_not_https: { means: "The address of a webhook must begin with https://" },
  webhook_url_forbidden: { means: "The address of a webhook may not lie in a private network" },
  unknown_event: { means: "There is no event of this name: see `GET /v1/webhooks/events`" },
  idempotency_key_reused: {
    means: "This Idempotency-Key was used for another request: take a new key",
  },
  precondition_required: { means: "This needs an `If-Match` header" },
  rate_limited: {
    means: "Too many requests: wait as many seconds as `Retry-After` says",
    extra: { retry_after: 3, limit: 60, window_seconds: 60, tier: "free" },
  },
  internal: {
    means: "Something went wrong on the server: quote the request id when you report it",
  },
  maintenance: {
    means: "The database cannot be used right now, and nothing was changed: try again shortly",
  },
};
