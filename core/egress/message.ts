import { Fault } from "./fault.ts";
import type { Target } from "./target.ts";
import type { EgressRequest } from "./types.ts";

// Bun turns a method that it does not know into GET without a word, so only these pass.
const METHODS = new Set("GET HEAD POST PUT PATCH DELETE OPTIONS PROPFIND REPORT".split(" "));

// What frames a message or binds it to a connection. A second `host` would be joined to ours.
const RESERVED = new Set([
  ...["host", "connection", "keep-alive", "proxy-connection", "upgrade", "expect"],
  ...["content-length", "transfer-encoding", "te", "trailer"],
]);

/** The headers as they go out: those given and what HTTP needs. Throws where a request cannot be sent as it is. */
export function prepareHeaders(request: EgressRequest, target: Target): Record<string, string> {
  if (!METHODS.has(request.method)) throw new Fault("protocol", "its method is not supported");
  if (request.body !== undefined && /^(GET|HEAD)$/.test(request.method)) {
    throw new Fault("protocol", `${request.method} carries no body`);
  }
  // Without one Bun would name itself and its version.
  const headers: Record<string, string> = { "user-agent": "Innkeep" };
  for (const [name, value] of Object.entries(request.headers)) {
    const lower = name.toLowerCase();
    if (RESERVED.has(lower)) {
      throw new Fault("protocol", `the header "${lower}" cannot be given, it is set here`);
    }
    if (lower === "user-agent") delete headers["user-agent"];
    // Nothing is decompressed here, so nothing compressed is asked for.
    if (lower !== "accept-encoding") headers[name] = value;
  }
  headers["host"] = target.host;
  headers["accept-encoding"] = "identity";
  try {
    new Headers(headers);
  } catch {
    throw new Fault("protocol", "one of its headers is not allowed in HTTP");
  }
  return headers;
}
