/**
 * OpenAPI 3.1, written from the registry alone: what is checked, what is answered and what is documented are one thing.
 *
 * @module
 */

import type { RegisteredOperation, Registry } from "../plugin/registry.ts";
import { version } from "../version.ts";
import { headers, parameters, securitySchemes } from "./openapi/common.ts";
import { conventions } from "./openapi/conventions.ts";
import { operationEntry, routeEntry, templateOf, type Writers } from "./openapi/operations.ts";
import { createProblemWriter, errorSchema } from "./openapi/problems.ts";
import { createSchemaWriter, type Json } from "./openapi/schemas.ts";
import { webhookEntry } from "./openapi/webhooks.ts";

/** The document. The order of its keys follows from the plugins alone, so that two of them can be compared as text. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly tags: readonly Json[];
  readonly paths: Readonly<Record<string, Json>>;
  readonly webhooks: Readonly<Record<string, Json>>;
  readonly components: Json;
}

/** Writes the document. */
export function openapi(registry: Registry, baseUrl: string): OpenApiDocument {
  const writers: Writers = { schemas: createSchemaWriter(), problems: createProblemWriter() };
  const paths = pathsOf(registry, writers);
  const webhooks = webhooksOf(registry, writers);
  return {
    openapi: "3.1.0",
    info: {
      title: "Innkeep",
      version,
      summary: "Property management for short-term rentals.",
      description: conventions(registry, baseUrl),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This server" }],
    tags: tagsOf(registry),
    paths,
    webhooks,
    components: {
      schemas: { Error: errorSchema, ...sorted(writers.schemas.components) },
      responses: sorted(writers.problems.components),
      parameters,
      headers,
      securitySchemes,
    },
  };
}

const methods = ["GET", "PUT", "POST", "PATCH", "DELETE"] as const;

function pathsOf(registry: Registry, writers: Writers): Record<string, Json> {
  const byPath = Map.groupBy(registry.operations.values(), ({ path }) => path);
  const paths: Record<string, Json> = {};
  for (const [path, list] of byPath) {
    const inOrder = methods.flatMap((method) => list.filter((one) => one.method === method));
    paths[`/v1${templateOf(path)}`] = Object.fromEntries(
      inOrder.map((one: RegisteredOperation) => [
        one.method.toLowerCase(),
        operationEntry(one, registry, writers),
      ]),
    );
  }
  for (const route of registry.routes) {
    const [method = "GET", path = "/"] = route.route.split(" ");
    const template = templateOf(path);
    paths[template] = { ...paths[template], [method.toLowerCase()]: routeEntry(route, writers) };
  }
  return paths;
}

function webhooksOf({ plugins }: Registry, { schemas }: Writers): Record<string, Json> {
  const entries = plugins.flatMap((plugin) =>
    Object.values(plugin.events ?? {}).map((event): [string, Json] => [
      event.name,
      webhookEntry(event, plugin.name, schemas),
    ]),
  );
  return Object.fromEntries(entries);
}

function tagsOf({ plugins }: Registry): Json[] {
  return plugins
    .filter(({ operations = {}, routes = {}, events = {} }) =>
      [operations, routes, events].some((each) => Object.keys(each).length > 0),
    )
    .map(({ name, summary }) => ({
      name,
      description: summary,
      "x-displayName": displayName(name),
    }));
}

/** `api_keys` → `API keys`. */
function displayName(name: string): string {
  const words = name
    .replaceAll("_", " ")
    .replaceAll(/\b(api|crm)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const sorted = (map: ReadonlyMap<string, Json>): Json =>
  Object.fromEntries([...map].sort(([one], [other]) => (one < other ? -1 : 1)));
