/**
 * The origin of a request: a page of another site must not speak to this server through its reader's browser.
 *
 * @module
 */

import { isIP } from "node:net";

import { Problem } from "../plugin/problem.ts";

/** Throws where a page of another site asks; `refused` is told before. Programs name no origin. */
export function mustBeOwnOrigin({ headers }: Request, baseUrl: string, refused: () => void): void {
  const origin = headers.get("origin");
  if (origin === null || origin === baseUrl || isOwnAddress(origin, headers.get("host"))) return;
  refused();
  throw new Problem(
    "origin_not_allowed",
    `Pages of "${origin}" may not use this server: only those of "${baseUrl}" may`,
  );
}

/**
 * Is it the address by which the server itself was reached? Believed of addresses and of localhost only: any other
 * name may have been pointed at this server by whoever owns it (DNS rebinding).
 */
function isOwnAddress(origin: string, host: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: own, hostname } = new URL(origin);
  return (
    own === host && (hostname === "localhost" || isIP(hostname.replaceAll(/[[\]]/g, "")) !== 0)
  );
}
