/**
 * Authentication: from the headers of a request to who is calling. `X-API-Key`, or `Authorization: Bearer` with a key
 * or a token.
 *
 * @module
 */

import { LRUCache } from "lru-cache";

import type { Caller } from "../call/mod.ts";
import type { Clock, Store } from "../db/mod.ts";
import { Problem, type ProblemCode } from "../plugin/problem.ts";
import { createKeyFinder, type FoundKey, keyPrefix, type LastUsed } from "./keys.ts";

/** What it needs. */
export interface AuthenticatorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly lastUsed: LastUsed;
}

/** Finds out who calls. Throws a 401 where nobody known does. */
export type Authenticate = (request: Request, resource: "/v1" | "/mcp") => Promise<Caller>;

/** Makes the authenticator. */
export function createAuthenticator({
  store,
  clock,
  baseUrl,
  lastUsed,
}: AuthenticatorOptions): Authenticate {
  const findKey = createKeyFinder(store);
  return async ({ headers }, resource) => {
    const refuse = (code: ProblemCode, message: string, error?: string): Problem =>
      new Problem(code, message, {
        headers: { "www-authenticate": challenge(baseUrl, resource, error) },
      });

    const apiKey = headers.get("x-api-key");
    const authorization = headers.get("authorization");
    const [scheme = "", token = ""] = (authorization ?? "").trim().split(/ +/);
    const bearer = scheme.toLowerCase() === "bearer";
    if (apiKey === null && !bearer) {
      throw refuse(
        "missing_credential",
        "No credential: send an API key in X-API-Key, or Authorization: Bearer",
      );
    }
    const byKey = apiKey !== null;
    const given = apiKey ?? token;
    // Only for a bearer token may the challenge speak of one (RFC 6750 §3.1).
    const error = byKey ? undefined : "invalid_token";
    const code = byKey ? "invalid_api_key" : "invalid_token";
    const found = given.startsWith(keyPrefix) ? await findKey(given) : undefined;
    if (found === undefined) {
      throw refuse(
        code,
        byKey
          ? "Unknown API key: check it, or make a new one"
          : "Unknown or expired token: sign in again",
        error,
      );
    }
    if (found.revoked_at !== null)
      throw refuse("revoked", "This API key was revoked: make a new one", error);
    if (found.expires_at !== null && found.expires_at <= clock.now()) {
      throw refuse(code, `This API key expired at ${found.expires_at}: make a new one`, error);
    }
    lastUsed.note(found.id);
    return callerOf(found);
  };
}

/** The challenge of a 401 (RFC 6750 §3, RFC 9728 §5.1). */
export function challenge(baseUrl: string, resource: "/v1" | "/mcp", error?: string): string {
  const metadata = `resource_metadata="${baseUrl}/.well-known/oauth-protected-resource${resource}"`;
  return error === undefined ? `Bearer ${metadata}` : `Bearer error="${error}", ${metadata}`;
}

// Keys share few lists of scopes: parsing them anew for each request would be a waste.
const parsed = new LRUCache<string, readonly string[]>({ max: 1000 });

function list(json: string): readonly string[] {
  let found = parsed.get(json);
  if (found === undefined) {
    found = Object.freeze(JSON.parse(json) as string[]);
    parsed.set(json, found);
  }
  return found;
}

function callerOf(key: FoundKey): Caller {
  return {
    actor: { kind: "api_key", credential_id: key.id, user_id: null, label: key.label },
    access: {
      account_id: key.account_id,
      listing_ids: key.listing_ids === null ? "all" : list(key.listing_ids),
      user_id: null,
      assigned_only: false,
    },
    scopes: list(key.scopes),
    tier: key.tier,
    plan: key.plan,
  };
}
