/**
 * What holds for all operations alike, as the opening text of the reference.
 *
 * @module
 */

import type { Registry } from "../../plugin/registry.ts";

/** The text, in Markdown. */
export function conventions({ scopes, events }: Registry, baseUrl: string): string {
  return `Innkeep is a property-management server for short-term rentals: this REST API under \`/v1\`, an MCP server at
\`${baseUrl}/mcp\`, and signed webhooks for everything that happens.

## Signing in

Send an API key as \`X-API-Key: …\` or as \`Authorization: Bearer …\`. Keys have scopes, \`resource:action\`; each operation
names the one that it needs. Writing does not include reading, and \`*\` stands for all. Without a valid credential the answer
is 401, beyond its scopes 403. \`GET /v1/me\` tells what a credential may do.

## Requests

- Bodies are JSON objects of 1 MB at most. A field that is not known is refused with 422, a query parameter that is not known
  with 400: nothing is ignored in silence.
- Lists in the query are separated by commas: \`?status=active,draft\`.
- **Idempotency-Key** on any write: repeated within 24 hours, the same request gets its first answer again, with
  \`Idempotent-Replayed: true\`, and nothing is done twice. The same key with another request is refused with 422.
- **dry_run=true** on any write does everything, answers as if it were done, and takes it back.
- **If-Match** with the \`ETag\` of a record changes it only where nobody else has meanwhile; else 412.
- **If-None-Match** on a read answers 304 where nothing has changed.
- **fields=a,b** on any read leaves the other fields out.

## Answers

- Every declared field is there; an empty one is null. New fields may be added at any time.
- Instants are UTC, \`2027-05-14T13:00:00Z\`. Dates of stays are local to the listing's time zone.
- Amounts are decimal strings, \`"120.00"\`, beside their ISO 4217 currency.
- Ids are opaque texts.

## Pages

Lists answer \`{"data": […], "page": {"next_cursor", "has_more", "limit"}}\`: 50 records, or as many as \`limit\` says, 200 at most.
Give \`page.next_cursor\` as \`cursor\`, with the same \`sort\`, for the next page; it stands in the \`Link\` header too. No record
is skipped or shown twice while the data changes.

## Limits

Each credential has a tier with so many requests a minute, all of which may come at once. \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\`, \`X-RateLimit-Reset\` (Unix seconds) and \`X-Service-Tier\` are on every answer. Beyond the limit the
answer is 429: wait as many seconds as \`Retry-After\` says.

## Errors

\`{"error": {"code", "message", "status", "request_id", "details"}}\`: \`code\` is for programs and from a closed list, \`message\`
is for people, \`details\` names each faulty field. Each operation lists the codes that it may answer with. Keep
\`X-Request-Id\`: the audit log knows the request by it.

## Events

There are ${events.size} kinds of events, under *Webhooks* below. Each is delivered as a signed POST, is retried for about 31 hours,
and can be read afterwards. Subscribe with \`POST /v1/webhooks\`.

## Scopes

${scopes.map((scope) => `\`${scope}\``).join(" · ")}
`;
}
