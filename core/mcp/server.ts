/**
 * The protocol: one stateless server per request, in whichever era the client speaks. Until 2025-11-25 a client opens
 * with `initialize`; since 2026-07-28 each request says all that is to be known.
 *
 * @module
 */

import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

import type { App } from "../app.ts";
import type { Caller } from "../call/mod.ts";
import { version } from "../version.ts";
import { callTool } from "./call.ts";
import type { View } from "./catalogue.ts";

/** A request that was let in. */
export interface Admitted {
  readonly request: Request;
  readonly request_id: string;
  readonly message: Message;
  readonly caller: Caller;
  readonly view: View;
}

/** A JSON-RPC message, as far as the doorkeeper looks at it. */
export interface Message {
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly _meta?: { readonly progressToken?: unknown };
  };
}

const fiveMinutes = 300_000;
const hint = { ttlMs: fiveMinutes, cacheScope: "private" } as const;

/** Makes what answers requests of both eras. */
export function createServing(app: App): (admitted: Admitted) => Promise<Response> {
  // The handler makes its servers itself and knows them by the request only.
  const underWay = new WeakMap<Request, Admitted>();
  const onerror = (error: Error): void =>
    app.log.debug({ err: error }, "An MCP request was refused");
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const admitted = requestInfo === undefined ? undefined : underWay.get(requestInfo);
      if (admitted === undefined) throw new Error("An MCP request came in by another door");
      return serverFor(app, admitted);
    },
    { legacy: "reject", onerror },
  );

  return async (admitted) => {
    const { request, message } = admitted;
    if (!(await isLegacyRequest(request, message))) {
      underWay.set(request, admitted);
      return await modern.fetch(request, { parsedBody: message });
    }
    const streams = takesStream(request) && message.params?._meta?.progressToken !== undefined;
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !streams,
    });
    const server = serverFor(app, admitted);
    server.onerror = onerror;
    await server.connect(transport);
    return await transport.handleRequest(accepting(request), { parsedBody: message });
  };
}

/** Does the client read event streams? */
export const takesStream = ({ headers }: Request): boolean =>
  headers.get("accept")?.includes("text/event-stream") === true;

// The transport insists on a client that reads streams too; who asks for JSON, or for nothing special, gets JSON.
function accepting(request: Request): Request {
  if (takesStream(request)) return request;
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  return new Request(request.url, { method: "POST", headers });
}

function serverFor(app: App, { caller, view, request_id }: Admitted): Server {
  const server = new Server(
    { name: "innkeep", title: "Innkeep", version },
    {
      capabilities: { tools: {} },
      instructions: view.instructions,
      cacheHints: { "tools/list": hint, "server/discover": hint },
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: view.listed }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const entry = view.find(params.name);
    if (entry === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, view.missing(params.name));
    }
    const progressToken = mcpReq._meta?.progressToken;
    const progress = (done: number): void => {
      if (progressToken === undefined) return;
      // Nobody may be listening any more: that is no fault.
      mcpReq
        .notify({ method: "notifications/progress", params: { progressToken, progress: done } })
        .catch(() => {});
    };
    return await callTool(app, entry, params.arguments ?? {}, {
      caller,
      request_id,
      progress,
    });
  });
  return server;
}
