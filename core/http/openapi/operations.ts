/**
 * Operations and raw routes as entries of the document.
 *
 * @module
 */

import type { RegisteredOperation, Registry } from "../../plugin/registry.ts";
import { inner, type TObject, type TSchema } from "../../plugin/schema.ts";
import type { Route } from "../../plugin/types.ts";
import { parameter, securityOf } from "./common.ts";
import { example } from "./examples.ts";
import { headerReferences, problemsOf, problemsOfRoute, type ProblemWriter } from "./problems.ts";
import type { Json, SchemaWriter } from "./schemas.ts";

/** What entries are written with. */
export interface Writers {
  readonly schemas: SchemaWriter;
  readonly problems: ProblemWriter;
}

/** `/listings/:id` → `/listings/{id}`. */
export const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}");

/** A sentence as a heading: without its period. */
export const heading = (sentence: string): string => sentence.replace(/\.$/, "");

/** The entry of an operation. */
export function operationEntry(
  registered: RegisteredOperation,
  registry: Registry,
  writers: Writers,
): Json {
  const { operation, plugin, reads } = registered;
  const versioned = isVersioned(registered);
  const requestBody = bodyOf(registered, writers.schemas);
  return {
    operationId: operation.name,
    tags: [plugin],
    summary: heading(operation.summary),
    description: describe(registered),
    security: securityOf(operation.scope),
    parameters: [
      ...ownParameters(registered, writers.schemas),
      parameter(reads ? "Fields" : "DryRun"),
      ...(reads ? [] : [parameter("IdempotencyKey")]),
      ...(versioned ? [parameter(reads ? "IfNoneMatch" : "IfMatch")] : []),
    ],
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...successOf(registered, registry, writers.schemas),
      ...(versioned && reads
        ? {
            "304": {
              description: "The version is still the same.",
              headers: headerReferences(["ETag"]),
            },
          }
        : {}),
      ...writers.problems.write(problemsOf(registered, versioned)),
    },
  };
}

/** Has the record that is read or changed a version? One that is only made has none to compare with. */
function isVersioned({ operation, path, reads }: RegisteredOperation): boolean {
  const changes = path.includes(":") && operation.status !== 201;
  return (
    (reads || changes) && (operation.output as TObject).properties?.version?.type === "integer"
  );
}

function describe({ operation }: RegisteredOperation): string {
  const facts = [
    operation.scope === null ? "Any valid credential will do." : `Scope: \`${operation.scope}\`.`,
    operation.plan === undefined ? "" : `Plan: \`${operation.plan}\` or above.`,
    operation.emits === undefined || operation.emits.length === 0
      ? ""
      : `Emits: ${operation.emits.map(({ name }: { name: string }) => `\`${name}\``).join(", ")}.`,
    operation.tool === undefined ? "" : `MCP tool: \`${operation.tool.name}\`.`,
  ];
  return [operation.description, facts.filter(Boolean).join(" ")].filter(Boolean).join("\n\n");
}

function ownParameters({ operation, origins }: RegisteredOperation, schemas: SchemaWriter): Json[] {
  const { properties, required = [] } = operation.input as TObject;
  return Object.entries(origins)
    .filter(([, origin]) => origin !== "body")
    .map(([name, origin]) => {
      const field = properties[name] as TSchema;
      const { description, examples, ...schema } = schemas.write(inner(field), "input");
      const list = schema.type === "array";
      return {
        name,
        in: origin,
        ...(origin === "path" || required.includes(name) ? { required: true } : {}),
        ...described(field.description ?? description),
        ...(list ? { style: "form", explode: false } : {}),
        schema,
        ...(origin === "path" || examples !== undefined ? { example: example(field) } : {}),
      };
    });
}

const described = (description: unknown): Json =>
  description === undefined ? {} : { description };

/** The schema of what stands in the body: the input without what comes from elsewhere. */
function bodySchema({ operation, origins }: RegisteredOperation): TObject | undefined {
  const { title: _title, ...input } = operation.input as TObject;
  const fields = Object.entries(input.properties).filter(([name]) => origins[name] === "body");
  if (fields.length === 0) return undefined;
  const required = (input.required ?? []).filter((name) => origins[name] === "body");
  return { ...input, properties: Object.fromEntries(fields), required };
}

function bodyOf(registered: RegisteredOperation, schemas: SchemaWriter): Json | undefined {
  const body = bodySchema(registered);
  if (body === undefined) return undefined;
  const { required = [], ...schema } = schemas.write(body, "input") as { required?: string[] };
  const least = example(body, "required");
  const all = example(body);
  const examples =
    required.length === 0 || JSON.stringify(least) === JSON.stringify(all)
      ? { all: { summary: "Every field", value: all } }
      : {
          least: { summary: "What must be given", value: least },
          all: { summary: "Every field", value: all },
        };
  return {
    required: required.length > 0 && registered.operation.body !== "optional",
    content: {
      "application/json": {
        schema: required.length > 0 ? { ...schema, required } : schema,
        examples,
      },
    },
  };
}

function successOf(
  registered: RegisteredOperation,
  registry: Registry,
  schemas: SchemaWriter,
): Json {
  const { operation, method, path, reads } = registered;
  const { properties } = operation.output as TObject;
  const made = method === "POST" && properties?.id !== undefined;
  const readable = registry.operations
    .values()
    .some((other) => other.method === "GET" && other.path === `${path}/:id`);
  const headers = [
    ...(properties?.version?.type === "integer" ? ["ETag"] : []),
    ...(properties?.page === undefined ? [] : ["Link"]),
    ...(made && readable ? ["Location"] : []),
    ...(reads ? [] : ["Idempotent-Replayed", "Dry-Run"]),
  ];
  const status = operation.status ?? 200;
  return {
    [status]: {
      description: { 200: "Done.", 201: "Made.", 202: "Taken on; it is done later." }[status],
      headers: headerReferences(headers),
      content: {
        "application/json": {
          schema: schemas.write(operation.output, "output"),
          example: example(operation.output),
        },
      },
    },
  };
}

/** The entry of a raw route. What it takes and answers, its own words must say. */
export function routeEntry({ name, summary, route, scope }: Route, { problems }: Writers): Json {
  const path = route.slice(route.indexOf(" ") + 1);
  const errors = problemsOfRoute(scope);
  return {
    operationId: name,
    tags: [name.split(".")[0]],
    summary: heading(summary),
    description: scope === "public" ? "No credential is needed." : `Scope: \`${scope}\`.`,
    security: securityOf(scope),
    parameters: [...path.matchAll(/:(\w+)/g)].map(([, field]) => ({
      name: field,
      in: "path",
      required: true,
      schema: { type: "string" },
    })),
    responses: {
      "2XX": { description: "Done.", headers: headerReferences([]) },
      ...problems.write(errors),
    },
  };
}
