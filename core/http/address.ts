/**
 * Who is on the other end of the line: the peer, or whom a trusted proxy names.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

/** Tells the address of a request's sender. `peer` is the other end of the connection. */
export function clientAddress(
  { headers }: Request,
  peer: string | undefined,
  trustedProxies: readonly string[],
): string {
  const direct = peer ?? "unknown";
  if (trustedProxies.length === 0) return direct;
  const ranges = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr));
  const trusted = (text: string): boolean => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some((range) => range[0].kind() === address.kind() && address.match(range));
  };
  // From the nearest hop outwards: the first one that is not ours is the sender; what stands further left, anybody may
  // have written.
  const hops = [
    ...(headers.get("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim()),
    direct,
  ].filter(Boolean);
  for (const hop of hops.reverse()) if (!trusted(hop)) return hop;
  return direct;
}
