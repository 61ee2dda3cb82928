/**
 * HTTP: operations and routes become paths. The only folder that imports Elysia, and of it the router only: checking,
 * errors and headers are ours, so that every surface has the same.
 *
 * @module
 */

import { Elysia } from "elysia";

import type { App } from "../app.ts";
import { execute, mustCover } from "../call/mod.ts";
import { measured, note } from "../metrics/mod.ts";
import { Problem } from "../plugin/problem.ts";
import type { RegisteredOperation } from "../plugin/registry.ts";
import type { TObject } from "../plugin/schema.ts";
import type { Route } from "../plugin/types.ts";
import { sha256 } from "../secrets/mod.ts";
import {
  admit,
  begin,
  bringsCredential,
  countAnonymous,
  notePeer,
  standAnonymous,
} from "./admit.ts";
import { answerError, answerResult, commonHeaders, type Exchange } from "./answer.ts";
import type { Endpoint, Handler } from "./endpoint.ts";
import { readInput, type RequestInput } from "./input.ts";

export type { Endpoint } from "./endpoint.ts";
export { type Limits, createLimits } from "./limits.ts";

/** Answers requests; `peer` tells the address of the other end. */
export type Fetch = (request: Request, peer?: () => string | undefined) => Promise<Response>;

/** Makes the server's `fetch` of an app, with core's own endpoints beside what the plugins declare. */
export function createHttp(app: App, own: readonly Endpoint[] = []): Fetch {
  const { registry, log } = app;

  const operationHandler = (registered: RegisteredOperation): Handler => {
    const readable = registry.operations
      .values()
      .some(({ method, path }) => method === "GET" && path === `${registered.path}/:id`);
    const location = registered.method === "POST" && readable ? `/v1${registered.path}` : undefined;
    return async (request, params) => {
      const exchange = begin(request);
      try {
        const caller = await admit(app, exchange, "/v1");
        const given = await readInput(registered, request, params);
        mustHaveFields(registered, given.fields);
        const result = await execute(app, registered, given.input, caller, {
          surface: "rest",
          request_id: exchange.request_id,
          dry_run: given.dry_run,
          idempotency: registered.reads ? undefined : idempotencyOf(request, given),
          if_match: request.headers.get("if-match") ?? undefined,
        });
        return answerResult(exchange, result, { ...given, location });
      } catch (error) {
        return answerError(exchange, error, log);
      }
    };
  };

  const routeHandler =
    (route: Route): Handler =>
    async (request, params) => {
      const exchange = begin(request);
      try {
        if (route.scope === "public") countAnonymous(app, exchange);
        else mustCover((await admit(app, exchange, "/v1")).scopes, route.scope);
        const response = await route.handler({ request, params, app });
        for (const [name, value] of Object.entries(commonHeaders(exchange))) {
          if (!response.headers.has(name)) response.headers.set(name, value);
        }
        return response;
      } catch (error) {
        return answerError(exchange, error, log);
      }
    };

  const endpoints: Endpoint[] = [
    ...[...registry.operations.values()].map((registered) => ({
      method: registered.method,
      path: `/v1${registered.path}`,
      name: registered.operation.name,
      handle: operationHandler(registered),
    })),
    ...registry.routes.map((route) => {
      const [method = "GET", path = "/"] = route.route.split(" ");
      return { method, path, name: route.name, handle: routeHandler(route) };
    }),
    ...own,
  ];

  // The methods that a path knows, for 405, `Allow` and the preflight.
  const methods = new Elysia({ handler: { standardHostname: false } });
  const byPath = Map.groupBy(endpoints, ({ path }) => positional(path));

  const nowhere = app.metrics.series("(none)");
  const otherwise = async (
    request: Request,
    known: readonly string[] | undefined,
  ): Promise<Response> => {
    const response = await decline(request, known);
    note(nowhere, response.status, 0);
    return response;
  };

  const decline = async (
    request: Request,
    known: readonly string[] | undefined,
  ): Promise<Response> => {
    const exchange = begin(request);
    try {
      if (request.method === "OPTIONS" && known !== undefined) {
        standAnonymous(app, exchange);
        return preflight(exchange, allowOf(known));
      }
      // Whoever has a key and mistypes a path spends what is his own.
      if (bringsCredential(request)) await admit(app, exchange, "/v1");
      else countAnonymous(app, exchange);
      if (known === undefined) {
        const { pathname } = new URL(request.url);
        throw new Problem(
          "not_found",
          `There is nothing at ${pathname}: see /docs for what there is`,
        );
      }
      const allow = allowOf(known);
      throw new Problem(
        "method_not_allowed",
        `${request.method} is not offered here; there is: ${allow}`,
        {
          headers: { allow },
        },
      );
    } catch (error) {
      return answerError(exchange, error, log);
    }
  };

  for (const [path, list] of byPath) {
    const handlers = new Map(
      list.map(({ method, path, name = path, handle }) => [
        method,
        measured(app.metrics, name, named(path, handle)),
      ]),
    );
    for (const [method, handle] of handlers) {
      methods.route(method, path, ({ request, params }) => handle(request, params), {
        parse: "none",
      });
    }
    const known = [...handlers.keys()];
    const get = handlers.get("GET");
    const rest = ({ request, params }: { request: Request; params: Record<string, string> }) =>
      request.method === "HEAD" && get !== undefined
        ? headOf(get(request, params))
        : otherwise(request, known);
    methods.all(path, rest, { parse: "none" });
  }
  methods.all("*", ({ request }) => otherwise(request, undefined), { parse: "none" });
  methods.onError(({ request, error }) => answerError(begin(request), error, log));

  return async (given, peer) => {
    const request = addressed(given);
    if (peer !== undefined) notePeer(request, peer);
    return await methods.handle(request);
  };
}

/** A request whose `Host` is missing or none (HTTP/1.0 asks for none) has no URL: it gets one, of nobody's name. */
function addressed(request: Request): Request {
  if (URL.canParse(request.url)) return request;
  const target = request.url.replace(/^https?:\/\/[^/?#]*/, "");
  return new Request(`http://unnamed.invalid${target}`, request);
}

const allowOf = (known: readonly string[]): string =>
  [...known, ...(known.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");

/** The router wants one name for the parameter at one place: their number stands for it. */
function positional(path: string): string {
  let count = 0;
  return path.replaceAll(/:\w+/g, () => `:p${count++}`);
}

/** Gives the parameters of a path their own names again. */
function named(path: string, handle: Handler): Handler {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  if (names.length === 0) return handle;
  return (request, params) =>
    handle(
      request,
      Object.fromEntries(names.map((name, place) => [name, params[`p${place}`] ?? ""])),
    );
}

const allowedHeaders =
  "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-API-Key, " +
  "MCP-Protocol-Version, Mcp-Method, Mcp-Name";

function preflight(exchange: Exchange, allow: string): Response {
  const headers = {
    ...commonHeaders(exchange),
    "access-control-allow-methods": allow,
    "access-control-allow-headers": allowedHeaders,
    "access-control-max-age": "86400",
    allow,
  };
  return new Response(null, { status: 204, headers });
}

async function headOf(answer: Promise<Response>): Promise<Response> {
  const { status, headers } = await answer;
  return new Response(null, { status, headers });
}

function idempotencyOf({ method, url, headers }: Request, { body }: RequestInput) {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    const message = "Idempotency-Key must have 1 to 255 visible ASCII characters";
    throw new Problem("validation_failed", message, {
      details: [{ field: "Idempotency-Key", code: "invalid_format", message }],
    });
  }
  const { pathname, search } = new URL(url);
  return { key, request: sha256(`${method} ${pathname}${search}\n${body}`) };
}

function mustHaveFields(
  { operation }: RegisteredOperation,
  fields: readonly string[] | undefined,
): void {
  if (fields === undefined) return;
  const output = operation.output as TObject;
  const item = (output.properties.data?.items ?? output) as TObject;
  const unknown = fields.filter((field) => !Object.hasOwn(item.properties, field));
  if (unknown.length === 0) return;
  const message = `"fields" names what is not there: ${unknown.join(", ")}. There are: ${Object.keys(item.properties).join(", ")}`;
  throw new Problem("validation_failed", message, {
    details: [{ field: "fields", code: "not_allowed", message }],
  });
}
