/**
 * MCP: the tools of this server for models, at `/mcp`. The only folder that imports the MCP SDK.
 *
 * Stateless, in both eras of the protocol: no sessions, no stream to listen to, one answer to each POST. Which tools a
 * client sees follows from its scopes and from what its address chooses (`/mcp?toolsets=core,admin&readonly=1`).
 *
 * @module
 */

import type { App } from "../app.ts";
import { admit, begin, countAnonymous } from "../http/admit.ts";
import { answerError, commonHeaders, type Exchange } from "../http/answer.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { challenge } from "../identity/mod.ts";
import { covers } from "../identity/scopes.ts";
import { Problem } from "../plugin/problem.ts";
import { readMessage } from "./body.ts";
import { createCatalogue, type View } from "./catalogue.ts";
import { mustBeOwnOrigin } from "./origin.ts";
import { patiently } from "./patience.ts";
import { createServing, type Message, takesStream } from "./server.ts";
import { readChoice } from "./toolset.ts";

const path = "/mcp";

/** Makes the endpoints of MCP. */
export function createMcp(app: App): Endpoint[] {
  const { config, log } = app;
  const catalogue = createCatalogue(app);
  const serve = createServing(app);

  const post = async (exchange: Exchange): Promise<Response> => {
    const { request, request_id } = exchange;
    const caller = await admit(app, exchange, path);
    const view = catalogue(readChoice(request), caller.scopes);
    const read = await readMessage(request);
    if (read instanceof Response) return read;
    mustCoverCall(view, read.message, caller.scopes, config.baseUrl);
    const answer = serve({ ...read, request, request_id, caller, view });
    return await (takesStream(request) ? patiently(answer) : answer);
  };

  const refuse = async (exchange: Exchange): Promise<Response> => {
    const headers: Record<string, string> = {};
    // A client that may not look in yet is told how to sign in, whatever it asked for.
    await admit(app, exchange, path).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      Object.assign(headers, error.headers);
    });
    throw new Problem(
      "method_not_allowed",
      "MCP is spoken by POST only: there are no sessions and no stream to listen to",
      {
        headers: { ...headers, allow: "POST" },
      },
    );
  };

  const endpoint = (
    method: string,
    answer: (exchange: Exchange) => Promise<Response>,
  ): Endpoint => ({
    method,
    path,
    name: "mcp",
    async handle(request) {
      const exchange = begin(request);
      try {
        mustBeOwnOrigin(request, config.baseUrl, () => countAnonymous(app, exchange));
        const response = await answer(exchange);
        for (const [name, value] of Object.entries(commonHeaders(exchange))) {
          if (!response.headers.has(name)) response.headers.set(name, value);
        }
        return response;
      } catch (error) {
        return answerError(exchange, error, log);
      }
    },
  });

  return [
    endpoint("POST", post),
    ...["GET", "DELETE", "PUT", "PATCH"].map((method) => endpoint(method, refuse)),
  ];
}

/** A call whose scope is lacking is refused by status, so that the client can ask its user for more. */
function mustCoverCall(
  view: View,
  { method, params }: Message,
  granted: readonly string[],
  baseUrl: string,
): void {
  if (method !== "tools/call" || typeof params?.name !== "string") return;
  const { scope = null } = view.find(params.name) ?? {};
  if (scope === null || covers(granted, scope)) return;
  // All of them: a client asks for just what the challenge names.
  const wanted = [...granted, scope].join(" ");
  throw new Problem(
    "insufficient_scope",
    `The tool "${params.name}" needs the scope "${scope}": use a key or a grant that has it`,
    {
      extra: { required_scopes: [scope], granted_scopes: [...granted] },
      headers: {
        "www-authenticate": `${challenge(baseUrl, path, "insufficient_scope")}, scope="${wanted}"`,
      },
    },
  );
}
