import type { Deadline } from "./deadline.ts";
import { codeOf, Fault } from "./fault.ts";
import type { Pool } from "./pools.ts";
import type { Target } from "./target.ts";
import type { EgressAnswer, EgressRequest } from "./types.ts";

/** One request to one address. */
export interface Dial {
  readonly request: EgressRequest;
  readonly target: Target;
  readonly address: string;
  /** As they go out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly pool: Pool;
  readonly deadline: Deadline;
}

const MAX_BODY_BYTES = 16 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;

// A receiver may close a kept connection just as the next request goes out on it, which would look
// like a failing receiver. Bun dials anew by itself for methods that may be repeated. Here it is done
// for the others too: whoever sends through here sends at least once anyway, and says so by an id.
const REDIAL_MS = 1000;
const REDIALLED_BY_BUN = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);

async function dial(
  { request, target, address, headers, pool, deadline }: Dial,
  key: string,
): Promise<Response> {
  const authority = address.includes(":") ? `[${address}]` : address;
  const url = `https://${authority}:${target.port}${target.path}`;
  const options: BunFetchRequestInit = {
    method: request.method,
    headers,
    ...(request.body !== undefined && { body: request.body }),
    signal: deadline.signal,
    session: pool.session,
    redirect: "manual",
    decompress: false,
    protocol: "http1.1",
    timeout: false,
  };
  const pooled = pool.take(key);
  const started = performance.now();
  try {
    return await fetch(url, options);
  } catch (error) {
    const stale =
      pooled &&
      codeOf(error) === "ECONNRESET" &&
      !REDIALLED_BY_BUN.has(request.method) &&
      performance.now() - started < REDIAL_MS;
    if (!stale) throw error;
    return await fetch(url, { ...options, keepalive: false });
  }
}

async function readBody(
  response: Response,
  max: number,
): Promise<{ body: Uint8Array; complete: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let complete = false;
  const reader = response.body?.getReader();
  try {
    // One byte past the limit tells a body that fits from one that does not.
    while (reader !== undefined && size <= max) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.length;
    }
    complete = size <= max;
  } catch {
    // The status is known: a body that stalls or breaks off is only cut short.
  }
  // Copied, so that what is kept does not hold on to the large chunk it came in.
  return { body: new Uint8Array(Buffer.concat(chunks, Math.min(size, max))), complete };
}

function readHeaders(response: Response): Record<string, string> {
  const headers: Record<string, string> = {};
  let room = MAX_HEADER_BYTES;
  for (const [name, value] of response.headers) {
    if (name.length + value.length > room) continue;
    room -= name.length + value.length;
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return headers;
}

/** Sends a request to the address, under the name's host header and certificate. Throws where no answer comes. */
export async function send(options: Dial): Promise<EgressAnswer> {
  const { request, target, address, pool, deadline } = options;
  const key = `${address} ${target.port}`;
  const response = await dial(options, key);
  if (response.status < 200 || response.status > 599) {
    throw new Fault("protocol", `the answer has no valid status: ${response.status}`);
  }
  const { body, complete } = await readBody(response, request.max_bytes ?? MAX_BODY_BYTES);
  const headers = readHeaders(response);
  if (complete && headers["connection"]?.toLowerCase() !== "close") pool.put(key);
  return {
    kind: "answer",
    status: response.status,
    headers,
    body,
    truncated: !complete,
    address,
    duration_ms: deadline.elapsed(),
  };
}
