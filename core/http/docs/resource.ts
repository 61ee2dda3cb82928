/**
 * Protected resource metadata (RFC 9728): where clients of the API and of MCP learn who signs them in.
 *
 * @module
 */

import type { App } from "../../app.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";

const wellKnown = "/.well-known/oauth-protected-resource";

/** The metadata of both resources. A client that looks at the root finds those of MCP. */
export function createResourceMetadata(app: App): Endpoint[] {
  const { config, registry } = app;
  const at = (path: string, resource: string): Endpoint =>
    endpoint(app, {
      path,
      answer: () =>
        Response.json(
          {
            resource: `${config.baseUrl}${resource}`,
            authorization_servers: [config.baseUrl],
            scopes_supported: registry.scopes,
            bearer_methods_supported: ["header"],
            resource_name: "Innkeep",
            resource_documentation: `${config.baseUrl}/docs`,
          },
          { headers: { "cache-control": "public, max-age=300" } },
        ),
    });
  return [at(wellKnown, "/mcp"), at(`${wellKnown}/mcp`, "/mcp"), at(`${wellKnown}/v1`, "/v1")];
}
