import type { EgressReason } from "./types.ts";

/** A request that got no answer, on its way to becoming a `failure`. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly reason: EgressReason;

  constructor(reason: EgressReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

// Bun's own messages hold the URL with its path, so none is passed on: each known code has words here.
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before an answer came",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  EPROTO: "the TLS handshake failed",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is signed by itself, not by a known authority",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is signed by an unknown authority",
  UnrequestedUpgrade: "the answer switches to another protocol",
  ResponseHeadersTooLarge: "the headers of the answer are too large",
};

const FALLBACK = {
  connection: "the connection failed",
  tls: "the TLS connection could not be trusted",
  protocol: "the answer is not valid HTTP",
} as const;

/** The code of whatever was thrown. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

// Codes come out of Bun in three kinds: errno names (ECONNRESET), names of its HTTP parser
// (Malformed_HTTP_Response) and names of its TLS library (CERT_HAS_EXPIRED).
function reasonOf(code: string): keyof typeof FALLBACK {
  if (code === "EPROTO") return "tls";
  if (/^E[A-Z0-9]+$/.test(code) || /^Connection|^FailedToOpenSocket$/.test(code)) {
    return "connection";
  }
  const tls =
    /^ERR_(TLS|SSL)_/.test(code) || (/^[A-Z0-9_]+$/.test(code) && !code.startsWith("ERR_"));
  return tls ? "tls" : "protocol";
}

/** Turns what `fetch` threw into a fault. */
export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  const reason = reasonOf(code);
  const words = WORDS[code] ?? FALLBACK[reason] + (code === "" ? "" : ` (${code})`);
  return new Fault(reason, words);
}
