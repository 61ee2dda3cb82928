/**
 * Answers: one place that knows which headers every answer of the API carries.
 *
 * @module
 */

import type { CallResult } from "../call/mod.ts";
import { etag } from "../call/mod.ts";
import type { Log } from "../log.ts";
import { Problem } from "../plugin/problem.ts";
import type { Standing } from "./limits.ts";

/** One request on its way through. */
export interface Exchange {
  readonly request: Request;
  readonly request_id: string;
  /** Known once the caller has been counted. */
  standing: Standing | undefined;
}

const exposed =
  "ETag, Idempotent-Replayed, Link, Location, Retry-After, WWW-Authenticate, X-RateLimit-Limit, " +
  "X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, X-Service-Tier";

/** The headers of every answer. */
export function commonHeaders({ request_id, standing }: Exchange): Record<string, string> {
  const headers: Record<string, string> = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": exposed,
    "cache-control": "private, no-cache",
    "x-content-type-options": "nosniff",
    "x-request-id": request_id,
  };
  if (standing !== undefined) {
    headers["x-ratelimit-limit"] = String(standing.limit);
    headers["x-ratelimit-remaining"] = String(standing.remaining);
    headers["x-ratelimit-reset"] = String(standing.reset);
    headers["x-service-tier"] = standing.tier;
  }
  return headers;
}

/** What else an operation's answer depends on. */
export interface AnswerOptions {
  readonly dry_run: boolean;
  readonly fields: readonly string[] | undefined;
  /** The path of the record that was made, where it can be read there. */
  readonly location: string | undefined;
}

/** The answer to an operation that went well. */
export function answerResult(
  exchange: Exchange,
  result: CallResult,
  options: AnswerOptions,
): Response {
  const headers = commonHeaders(exchange);
  headers["content-type"] = "application/json";
  if (options.dry_run) headers["dry-run"] = "true";
  if (result.replay !== undefined) {
    headers["idempotent-replayed"] = "true";
    return new Response(result.replay, { status: result.status, headers });
  }
  const value = result.value as Record<string, unknown>;
  if (typeof value.version === "number") {
    const tag = etag(value.version);
    headers.etag = tag;
    const { request } = exchange;
    // The tag is of the record, not of a part of it: with `fields` nothing is left out on its account.
    if (
      request.method === "GET" &&
      options.fields === undefined &&
      matches(request.headers.get("if-none-match"), tag)
    ) {
      delete headers["content-type"];
      return new Response(null, { status: 304, headers });
    }
  }
  if (options.location !== undefined && typeof value.id === "string")
    headers.location = `${options.location}/${value.id}`;
  const link = nextLink(exchange.request, value);
  if (link !== undefined) headers.link = link;
  const shown = options.fields === undefined ? value : only(value, options.fields);
  return new Response(JSON.stringify(shown), { status: result.status, headers });
}

const matches = (header: string | null, tag: string): boolean =>
  header !== null &&
  (header === "*" || header.split(",").some((each) => each.trim().replace(/^W\//, "") === tag));

function nextLink({ url }: Request, { page }: Record<string, unknown>): string | undefined {
  const cursor = (page as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (typeof cursor !== "string") return undefined;
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return `<${next.pathname}${next.search}>; rel="next"`;
}

/** The named fields only; of a page, of each of its records. */
function only(value: Record<string, unknown>, fields: readonly string[]): unknown {
  const pick = (record: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(fields.map((field) => [field, record[field]]));
  if (!Array.isArray(value.data)) return pick(value);
  return { ...value, data: (value.data as Record<string, unknown>[]).map(pick) };
}

/** The answer to whatever went wrong. What is not a `Problem` is a fault of ours: logged, and not told. */
export function answerError(exchange: Exchange, error: unknown, log: Log): Response {
  const problem = error instanceof Problem ? error : unexpected(exchange, error, log);
  const { standing, request_id } = exchange;
  const headers: Record<string, string> = {
    ...commonHeaders(exchange),
    "content-type": "application/json",
    ...problem.headers,
  };
  if (problem.code === "rate_limited" && standing !== undefined)
    headers["retry-after"] = String(standing.retry_after);
  return new Response(JSON.stringify(problem.body(request_id)), {
    status: problem.status,
    headers,
  });
}

const unavailable = /^SQLITE_(FULL|BUSY|IOERR|READONLY|CANTOPEN)/;

/** Has the caller hung up while its body was read? That is no fault of ours, and nobody is there to be answered. */
const hungUp = ({ signal }: Request, error: unknown): boolean =>
  signal.aborted && error instanceof Error && error.name === "AbortError";

function unexpected({ request_id, request }: Exchange, error: unknown, log: Log): Problem {
  const { pathname } = new URL(request.url);
  const about = { request_id, method: request.method, path: pathname };
  if (hungUp(request, error)) {
    log.debug(about, "A caller hung up in the middle of its body");
    return new Problem("invalid_json", "The connection ended before the body did: send it again");
  }
  log.error({ err: error, ...about }, "A request failed");
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (unavailable.test(code)) {
    return new Problem(
      "maintenance",
      "The database cannot be used right now; nothing was changed. Try again shortly",
      {
        headers: { "retry-after": "5" },
      },
    );
  }
  return new Problem(
    "internal",
    "Something went wrong on the server. Quote the request id when you report it",
  );
}
