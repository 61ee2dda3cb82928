/**
 * Endpoints: paths of core's own that are neither operations nor a plugin's routes.
 *
 * @module
 */

import type { App } from "../app.ts";
import { begin, countAnonymous } from "./admit.ts";
import { answerError, commonHeaders, type Exchange } from "./answer.ts";

/** Answers a request; `params` are those of its path. */
export type Handler = (request: Request, params: Record<string, string>) => Promise<Response>;

/** A path with what answers one of its methods. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** How it is called in the metrics; the path where absent. */
  readonly name?: string;
  readonly handle: Handler;
}

/** What an endpoint is made of. */
export interface EndpointOptions {
  /** GET where absent. */
  readonly method?: string;
  readonly path: string;
  /** Does each call take one from its sender's bucket? */
  readonly counted?: boolean;
  /** Is it a page for people? Scripts of other origins have no business there. */
  readonly page?: boolean;
  answer(exchange: Exchange, params: Record<string, string>): Promise<Response> | Response;
}

/** Makes an endpoint whose answers, good or bad, carry the headers of every answer. */
export function endpoint(
  app: App,
  { method = "GET", path, counted = false, page = false, answer }: EndpointOptions,
): Endpoint {
  return {
    method,
    path,
    async handle(request, params) {
      const exchange = begin(request);
      try {
        if (counted) countAnonymous(app, exchange);
        const response = await answer(exchange, params);
        for (const [name, value] of Object.entries(commonHeaders(exchange))) {
          if (page && name.startsWith("access-control-")) continue;
          if (!response.headers.has(name)) response.headers.set(name, value);
        }
        return response;
      } catch (error) {
        return answerError(exchange, error, app.log);
      }
    },
  };
}
