/**
 * What the server says about itself: the OpenAPI document, the reference, `llms.txt`, where to sign in, and how it fares.
 *
 * @module
 */

import type { App } from "../app.ts";
import { createMetricsEndpoint } from "../metrics/endpoints.ts";
import { createDocument } from "./docs/document.ts";
import { createHealth } from "./docs/health.ts";
import { llmsText } from "./docs/llms.ts";
import { createReference } from "./docs/reference.ts";
import { createResourceMetadata } from "./docs/resource.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { openapi } from "./openapi.ts";

/** Makes their endpoints. */
export function createDocs(app: App): Endpoint[] {
  const { registry, config } = app;
  const document = createDocument(() => JSON.stringify(openapi(registry, config.baseUrl)), {
    "content-type": "application/json",
  });
  const llms = createDocument(() => llmsText(registry, config.baseUrl), {
    "content-type": "text/plain; charset=utf-8",
  });
  return [
    endpoint(app, {
      path: "/v1/openapi.json",
      counted: true,
      answer: ({ request }) => document(request),
    }),
    endpoint(app, { path: "/llms.txt", answer: ({ request }) => llms(request) }),
    ...createReference(app),
    ...createResourceMetadata(app),
    ...createHealth(app),
    createMetricsEndpoint(app),
  ];
}
