/**
 * What may be subscribed to, and where it may be sent.
 *
 * @module
 */

import { type Context, covers, invalid, Problem, type Services } from "#core";

/** Throws where nothing may be sent to this URL. */
export function mustBeReachable(url: string, { egress }: Services): void {
  const fault = egress.judge(url);
  const details = (code: string, message: string) => ({
    details: [{ field: "url", code, message }],
  });
  if (fault === "not_https") {
    const message = `"url" must start with https://: deliveries are never sent in the clear`;
    throw new Problem("webhook_url_not_https", message, details("not_https", message));
  }
  if (fault === "forbidden") {
    const message = `"url" points to an address that is not public: the operator can allow it with INNKEEP_EGRESS_ALLOW`;
    throw new Problem("webhook_url_forbidden", message, details("forbidden", message));
  }
  if (fault === "invalid")
    throw invalid("url", "invalid_format", '"url" must be a URL without user name and password');
}

/** Throws where an event does not exist, or where the caller may not see it. */
export function mustBeOpen(names: readonly string[], { events, scopes }: Context): void {
  if (names.includes("*") && names.length > 1) {
    throw invalid("events", "not_allowed", '"events" must be ["*"] alone, or a list of names');
  }
  const unknown = names.filter((name) => name !== "*" && !events.has(name));
  if (unknown.length > 0) {
    const message = `Unknown events: ${unknown.join(", ")}. GET /v1/webhooks/events lists those that there are`;
    throw new Problem("unknown_event", message, {
      details: [{ field: "events", code: "unknown_event", message }],
    });
  }
  const lacking = new Set<string>();
  for (const name of names) {
    const scope = events.get(name)?.scope ?? null;
    if (scope !== null && !covers(scopes, scope)) lacking.add(scope);
  }
  if (lacking.size === 0) return;
  throw new Problem(
    "insufficient_scope",
    `These events need further scopes: ${[...lacking].join(", ")}`,
    {
      extra: { required_scopes: [...lacking], granted_scopes: [...scopes] },
    },
  );
}
