/**
 * Events as the webhooks of the document: what a receiver is sent, and how its answer is taken.
 *
 * @module
 */

import type { EventType } from "../../plugin/types.ts";
import { parameter } from "./common.ts";
import { example } from "./examples.ts";
import { heading } from "./operations.ts";
import type { Json, SchemaWriter } from "./schemas.ts";

const responses: Json = {
  "2XX": { description: "Taken, if it comes within 10 seconds." },
  "429": { description: "Tried again, no sooner than `Retry-After` says." },
  "4XX": { description: "Refused for good: this delivery is not tried again." },
  "5XX": {
    description:
      "Tried again: 7 retries in about 31 hours, with the same body, signature and delivery id.",
  },
};

/** The entry of an event. */
export function webhookEntry(event: EventType, plugin: string, schemas: SchemaWriter): Json {
  const { name, summary, scope } = event;
  return {
    post: {
      operationId: `webhook.${name}`,
      tags: [plugin],
      summary: heading(summary),
      description: describe(event),
      "x-scope": scope,
      parameters: [
        {
          name: "x-webhook-event",
          in: "header",
          required: true,
          description: "The name of the event, as in the body.",
          schema: { type: "string", const: name },
        },
        ...["WebhookSignature", "WebhookDelivery", "WebhookAttempt", "WebhookUserAgent"].map(
          parameter,
        ),
      ],
      requestBody: {
        required: true,
        description:
          "Canonical JSON (RFC 8785): UTF-8 with sorted keys. The signature is over these very bytes.",
        content: {
          "application/json": { schema: envelope(event, schemas), example: exampleEnvelope(event) },
        },
      },
      responses,
    },
  };
}

function describe({ scope, listing, only, echo_guarded }: EventType): string {
  const facts = [
    scope === null ? "" : `Scope to subscribe to it and to read it: \`${scope}\`.`,
    listing === null ? "" : "Credentials that are restricted to listings get it for these only.",
    only === undefined ? "" : `It is sent to the one subscription that \`${only}\` names.`,
    echo_guarded === true
      ? "It is not sent to subscriptions of the credential that caused it."
      : "",
  ];
  return facts.filter(Boolean).join(" ");
}

const version = ({ schema_version = 1 }: EventType): number => schema_version;

function envelope(event: EventType, schemas: SchemaWriter): Json {
  return {
    type: "object",
    required: ["created_at", "data", "event", "id", "schema_version"],
    properties: {
      created_at: { type: "string", format: "date-time", description: "When it happened." },
      data: schemas.write(event.payload, "output"),
      event: { type: "string", const: event.name },
      id: {
        type: "string",
        description:
          "The id of the event: the same in all deliveries and retries, never used again.",
      },
      schema_version: {
        type: "integer",
        const: version(event),
        description: "Counted up when `data` breaks its readers.",
      },
    },
    additionalProperties: false,
  };
}

const exampleEnvelope = (event: EventType): Json => ({
  created_at: "2027-05-14T13:00:00Z",
  data: example(event.payload),
  event: event.name,
  id: "01KAFW3N5V7Q2X8Z4R6T9Y0B1E",
  schema_version: version(event),
});
