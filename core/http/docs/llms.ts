/**
 * `llms.txt`: what the server is and can do, for readers that are programs with a taste for prose.
 *
 * @module
 */

import type { Registry } from "../../plugin/registry.ts";
import { version } from "../../version.ts";
import { templateOf } from "../openapi/operations.ts";

/** Writes the text, in Markdown. */
export function llmsText(
  { plugins, operations, routes, events }: Registry,
  baseUrl: string,
): string {
  const ofPlugin = (name: string): string[] => [
    ...[...operations.values()]
      .filter(({ plugin }) => plugin === name)
      .map(({ operation, method, path }) =>
        line(method, `/v1${templateOf(path)}`, operation.summary, operation.scope),
      ),
    ...routes
      .filter((route) => route.name.startsWith(`${name}.`))
      .map(({ route, summary, scope }) => {
        const [method = "GET", path = "/"] = route.split(" ");
        return line(method, templateOf(path), summary, scope);
      }),
  ];
  const sections = plugins.flatMap(({ name, summary }) => {
    const lines = ofPlugin(name);
    return lines.length === 0 ? [] : [`### ${name}\n\n${summary}\n\n${lines.join("\n")}`];
  });
  const told = [...events.values()].map(
    ({ name, summary, scope }) => `- \`${name}\`: ${summary}${needs(scope)}`,
  );
  return `# Innkeep

> A self-hosted property-management server for short-term rentals, version ${version}: listings, calendars, reservations
> and guests, by REST, MCP and signed webhooks.

- REST: ${baseUrl}/v1
- MCP (streamable HTTP): ${baseUrl}/mcp
- [OpenAPI 3.1](${baseUrl}/v1/openapi.json): every field, error and example
- [Reference](${baseUrl}/docs): the same, for people

## Signing in

Send an API key as \`X-API-Key: KEY\` or as \`Authorization: Bearer KEY\`. Whoever runs the server makes one on its command line:
\`innkeep keys create --label NAME --scopes "listings:read"\`. \`GET /v1/me\` tells what a key may do.

## Conventions

- JSON both ways, snake_case. Fields and query parameters that are not known are refused.
- Lists: \`limit\` (50, at most 200) and \`cursor\`; the answer is \`{"data": […], "page": {"next_cursor", "has_more", "limit"}}\`.
- Errors: \`{"error": {"code", "message", "status", "request_id", "details"}}\`. After 429 wait for \`Retry-After\` seconds.
- Writes take \`Idempotency-Key\` (safe to repeat) and \`?dry_run=true\` (nothing is kept).
- Instants are UTC; dates of stays are local to the listing; amounts are decimal strings beside a currency.

## Operations

${sections.join("\n\n")}

## Events

Subscribe with \`POST /v1/webhooks\`. Each event is a POST signed with HMAC-SHA256 (\`x-webhook-signature\`).

${told.join("\n")}
`;
}

const line = (method: string, path: string, summary: string, scope: string | null): string =>
  `- \`${method} ${path}\`: ${summary}${needs(scope)}`;

const needs = (scope: string | null): string =>
  scope === null || scope === "public" ? "" : ` (\`${scope}\`)`;
