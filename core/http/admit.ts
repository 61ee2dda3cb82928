/**
 * Admission: an exchange begins, its sender is found out, and one is taken from the sender's bucket.
 *
 * @module
 */

import type { App } from "../app.ts";
import type { Caller } from "../call/mod.ts";
import { newUlid } from "../db/mod.ts";
import { Problem } from "../plugin/problem.ts";
import { clientAddress } from "./address.ts";
import type { Exchange } from "./answer.ts";

const peers = new WeakMap<Request, () => string | undefined>();

/** Remembers how to ask for the other end of a request's connection. */
export function notePeer(request: Request, peer: () => string | undefined): void {
  peers.set(request, peer);
}

/** The address of the other end of the connection: a proxy's, where there is one. */
export const peerOf = (request: Request): string | undefined => peers.get(request)?.();

/** Begins an exchange: from here on it has an id. */
export const begin = (request: Request): Exchange => ({
  request,
  request_id: newUlid(),
  standing: undefined,
});

const anonymous = "anonymous";

function holderOf({ config }: App, { request }: Exchange): string {
  return `address ${clientAddress(request, peerOf(request), config.trustedProxies)}`;
}

/** Counts a call without a credential, by its sender's address. */
export function countAnonymous(app: App, exchange: Exchange): void {
  count(app, exchange, holderOf(app, exchange), anonymous);
}

/** Tells a browser how it stands before it asks: the question itself costs nothing. */
export function standAnonymous(app: App, exchange: Exchange): void {
  exchange.standing = app.limits.look(holderOf(app, exchange), anonymous);
}

/** Does a request bring a credential, good or not? */
export const bringsCredential = ({ headers }: Request): boolean =>
  headers.has("x-api-key") || headers.has("authorization");

/** Finds out who calls and counts the call. Whoever is not let in is counted by address. */
export async function admit(
  app: App,
  exchange: Exchange,
  resource: "/v1" | "/mcp",
): Promise<Caller> {
  let caller: Caller;
  try {
    caller = await app.authenticate(exchange.request, resource);
  } catch (error) {
    countAnonymous(app, exchange);
    throw error;
  }
  count(app, exchange, caller.actor.credential_id ?? caller.access.account_id, caller.tier);
  return caller;
}

/** Takes one from a bucket; throws where it is empty. */
function count({ limits }: App, exchange: Exchange, holder: string, tier: string): void {
  const standing = limits.take(holder, tier);
  exchange.standing = standing;
  if (standing.retry_after === 0) return;
  const { retry_after, limit } = standing;
  throw new Problem(
    "rate_limited",
    `Too many requests: wait ${retry_after} s. The tier "${tier}" allows ${limit} a minute`,
    {
      extra: { retry_after, limit, window_seconds: 60, tier },
    },
  );
}
