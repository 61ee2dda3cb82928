/**
 * The OpenAPI document, as it is written from declarations.
 *
 * @module
 */

import { describe, expect, test } from "bun:test";

import { declared } from "../../core/app.ts";
import { openapi } from "../../core/http/openapi.ts";
import { problemStatus } from "../../core/plugin/problem.ts";
import { checker } from "../../core/plugin/schema.ts";
import type { Json } from "../fixture.ts";
import { shelvesPlugin } from "./docs_plugin.ts";

const registry = declared([shelvesPlugin]);
const document: Json = JSON.parse(JSON.stringify(openapi(registry, "http://localhost:3000")));
const shelf: Json = document.paths["/v1/shelves/{id}"];
const shelves: Json = document.paths["/v1/shelves"];

/** All nodes of the document, with where they stand. */
function* nodes(value: Json, path = "#"): Generator<[string, Json]> {
  if (typeof value !== "object" || value === null) return;
  yield [path, value];
  for (const [key, child] of Object.entries(value)) yield* nodes(child, `${path}/${key}`);
}

const resolve = (reference: string): Json =>
  reference
    .slice(2)
    .split("/")
    .reduce((at: Json, key) => at?.[key], document);

const codesOf = (operation: Json, status: number): string[] =>
  Object.keys(resolve(operation.responses[status].$ref).content["application/json"].examples);

describe("openapi()", () => {
  test("has an entry for each operation and each raw route, with its tag and its scope", () => {
    const entries = Object.values<Json>(document.paths).flatMap((item) =>
      Object.values<Json>(item),
    );
    const names = [...registry.operations.keys(), ...registry.routes.map(({ name }) => name)];
    expect(new Set(entries.map(({ operationId }) => operationId))).toEqual(new Set(names));
    expect(entries).toHaveLength(names.length);
    expect(shelf.patch.tags).toEqual(["shelves"]);
    expect(shelf.patch.security).toEqual([
      { apiKey: ["shelves:write"] },
      { bearer: ["shelves:write"] },
    ]);
    expect(document.paths["/v1/me"].get.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
    expect(document.paths["/pictures/{token}"].get.security).toEqual([]);
    expect(document.tags).toContainEqual({
      name: "shelves",
      description: "Where books stand.",
      "x-displayName": "Shelves",
    });
  });

  test("refers only to what is there, and declares the parameters of every path", () => {
    for (const [path, node] of nodes(document)) {
      if (typeof node.$ref === "string")
        expect([path, typeof resolve(node.$ref)]).toEqual([path, "object"]);
    }
    for (const [path, item] of Object.entries<Json>(document.paths)) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
      for (const operation of Object.values<Json>(item)) {
        const given = operation.parameters.filter((one: Json) => one.in === "path" && one.required);
        expect(given.map(({ name }: Json) => name)).toEqual(wanted);
      }
    }
  });

  test("says where each field belongs", () => {
    const named = (name: string): Json =>
      shelves.get.parameters.find((one: Json) => one.name === name);
    expect(named("rooms")).toEqual({
      name: "rooms",
      in: "query",
      description: "One or several.",
      style: "form",
      explode: false,
      schema: { type: "array", items: { type: "string", enum: ["hall", "attic"] } },
    });
    const { schema } = shelf.patch.requestBody.content["application/json"];
    expect(Object.keys(schema.properties)).toEqual(["label", "room", "code"]);
    expect(shelves.post.requestBody.content["application/json"].schema.required).toEqual([
      "label",
      "library_id",
    ]);
  });

  test("requires a body only where something in it must be given", () => {
    expect(shelves.post.requestBody.required).toBe(true);
    expect(shelf.patch.requestBody.required).toBe(false);
    expect(document.paths["/v1/shelves/{id}/dust"].post.requestBody.required).toBe(false);
    expect(shelf.delete.requestBody).toBeUndefined();
  });

  test("offers the parameters of core where they work", () => {
    const references = (operation: Json): string[] =>
      operation.parameters.flatMap((one: Json) =>
        one.$ref === undefined ? [] : [one.$ref.split("/").at(-1)],
      );
    expect(references(shelves.get)).toEqual(["Fields"]);
    expect(references(shelf.get)).toEqual(["Fields", "IfNoneMatch"]);
    expect(references(shelves.post)).toEqual(["DryRun", "IdempotencyKey"]);
    expect(references(shelf.patch)).toEqual(["DryRun", "IdempotencyKey", "IfMatch"]);
  });

  test("lists every error that an operation may meet, by its codes", () => {
    expect(Object.keys(shelf.patch.responses).map(Number)).toEqual([
      200, 400, 401, 402, 403, 404, 409, 412, 413, 415, 422, 429, 500, 503,
    ]);
    expect(codesOf(shelf.patch, 400)).toEqual(["invalid_json", "unknown_parameter"]);
    expect(codesOf(shelf.patch, 401)).toEqual([
      "missing_credential",
      "invalid_api_key",
      "invalid_token",
      "revoked",
    ]);
    expect(codesOf(shelf.patch, 409)).toEqual(["duplicate"]);
    expect(codesOf(shelf.patch, 422)).toEqual(["validation_failed", "idempotency_key_reused"]);
    expect(codesOf(shelves.get, 400)).toEqual(["unknown_parameter", "invalid_cursor"]);
    expect(Object.keys(shelf.get.responses)).toContain("304");
    expect(document.components.schemas.Error.properties.error.properties.code.enum).toEqual(
      Object.keys(problemStatus),
    );
  });

  test("names the headers of an answer", () => {
    expect(Object.keys(shelves.get.responses["200"].headers)).toContain("Link");
    expect(Object.keys(shelves.post.responses["201"].headers)).toContain("Location");
    expect(Object.keys(shelf.get.responses["200"].headers)).toContain("ETag");
    for (const operation of [shelf.patch, shelves.get]) {
      const reply = operation.responses["200"].headers;
      expect(Object.keys(reply)).toEqual(
        expect.arrayContaining(["X-Request-Id", "X-RateLimit-Limit", "X-Service-Tier"]),
      );
    }
  });

  test("writes an object with a title once", () => {
    const reference = { $ref: "#/components/schemas/Shelf" };
    expect(shelf.get.responses["200"].content["application/json"].schema).toEqual(reference);
    expect(
      shelves.get.responses["200"].content["application/json"].schema.properties.data.items,
    ).toEqual(reference);
    expect(
      document.webhooks["shelf.moved"].post.requestBody.content["application/json"].schema
        .properties.data,
    ).toEqual(reference);
    expect(Object.keys(document.components.schemas)).toEqual(["Error", "Shelf"]);
  });

  test("writes plain JSON Schema, without marks that are for the server", () => {
    const { properties } = document.components.schemas.Shelf;
    expect(properties.room).toEqual({ type: ["string", "null"], enum: ["hall", "attic", null] });
    expect(properties.note).toEqual({
      type: ["string", "null"],
      maxLength: 80,
      description: "For the team.",
    });
    expect(properties.tags).toEqual({ type: "object", additionalProperties: { type: "string" } });
    expect(properties.size).toEqual({ type: ["number", "string"], enum: [1, "large"] });
    expect(properties.keeper.anyOf).toEqual([
      expect.objectContaining({ type: "string" }),
      { type: "number" },
      { type: "null" },
    ]);
    expect(shelf.patch.requestBody.content["application/json"].schema.properties.code).toEqual({
      type: "string",
      maxLength: 512,
      format: "password",
      writeOnly: true,
    });
    for (const [path, node] of nodes(document)) {
      expect([
        path,
        Object.keys(node).filter((key) => /^x-(record|secret|personal)$/.test(key)),
      ]).toEqual([path, []]);
    }
  });

  test("gives examples that the server itself would take and answer", () => {
    for (const { operation, check, method, path } of registry.operations.values()) {
      const entry =
        document.paths[`/v1${path.replaceAll(/:(\w+)/g, "{$1}")}`][method.toLowerCase()];
      const { status = 200 } = operation;
      const { example } = entry.responses[status].content["application/json"];
      expect([operation.name, checker(operation.output).faults(structuredClone(example))]).toEqual([
        operation.name,
        [],
      ]);
      const elsewhere = entry.parameters
        .filter((one: Json) => one.in === "path" || (one.in === "query" && one.required))
        .map((one: Json) => [one.name, one.example]);
      const examples = entry.requestBody?.content["application/json"].examples ?? {
        none: { value: {} },
      };
      for (const { value } of Object.values<Json>(examples)) {
        const input = { ...structuredClone(value), ...Object.fromEntries(elsewhere) };
        expect([operation.name, check.faults(input)]).toEqual([operation.name, []]);
      }
    }
  });

  test("shows what a receiver of each event is sent", () => {
    expect(Object.keys(document.webhooks)).toEqual(["shelf.moved"]);
    const { post } = document.webhooks["shelf.moved"];
    expect(post["x-scope"]).toBe("shelves:read");
    const names = post.parameters.map(
      (one: Json) => (one.$ref === undefined ? one : resolve(one.$ref)).name,
    );
    expect(names).toEqual([
      "x-webhook-event",
      "x-webhook-signature",
      "x-webhook-delivery",
      "x-webhook-attempt",
      "user-agent",
    ]);
    const { schema, example } = post.requestBody.content["application/json"];
    expect(schema.required).toEqual(["created_at", "data", "event", "id", "schema_version"]);
    expect(Object.keys(example)).toEqual(schema.required);
    expect(example.event).toBe("shelf.moved");
    expect(example.schema_version).toBe(2);
  });

  test("comes out the same each time", () => {
    const again = JSON.stringify(openapi(declared([shelvesPlugin]), "http://localhost:3000"));
    expect(again).toBe(JSON.stringify(document));
  });
});
