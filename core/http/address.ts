/**
 * Who is on the other end of the line: the peer, or whom a trusted proxy names.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

/**
 * Tells the address of a request's sender, in the one form by which senders are counted: without a port, an IPv4
 * address as such however it came, and of an IPv6 address the network. `peer` is the other end of the connection.
 */
export function clientAddress(
  request: Request,
  peer: string | undefined,
  trustedProxies: readonly string[],
): string {
  const sender = senderOf(request, peer ?? "unknown", trustedProxies);
  const address = addressOf(sender);
  return address === undefined ? sender : countedAs(address);
}

function senderOf({ headers }: Request, direct: string, trustedProxies: readonly string[]): string {
  if (trustedProxies.length === 0) return direct;
  const ranges = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr));
  const trusted = (text: string): boolean => {
    const address = addressOf(text);
    if (address === undefined) return false;
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

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The address in `203.0.113.1:4711`, `[2001:db8::1]:4711` or without a port; undefined where there is none. */
function addressOf(text: string): Address | undefined {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const bare = bracketed ?? dotted ?? text;
  // `process`: ::ffff:203.0.113.1 is 203.0.113.1.
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** Whoever has one IPv6 address has the whole /64 around it: it is counted as one, or it would have 2^64 buckets. */
function countedAs(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
