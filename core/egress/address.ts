import { isIPv4, isIPv6 } from "node:net";

import ipaddr from "ipaddr.js";

/** Says whether an address may be reached. */
export type AddressRule = (address: string) => boolean;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Reads one address; undefined where it is none. Scoped ones (`fe80::1%eth0`) count as none: they are local by nature. */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (!isIPv6(text) || text.includes("%")) return undefined;
  // Spelled anew first: ipaddr.js takes `::8.8.8.8` for the mapped ::ffff:8.8.8.8, which it is not.
  const address = ipaddr.IPv6.parse(new URL(`https://[${text}]`).hostname.slice(1, -1));
  // ::ffff:a.b.c.d reaches a.b.c.d, so it is judged and dialled as that.
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** The one spelling in which an address is judged, dialled and logged; undefined where it is none. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

function isPublic(address: Address): boolean {
  if (address.range() !== "unicast") return false;
  if (address instanceof ipaddr.IPv4) return true;
  // ipaddr.js calls `::7f00:1` unicast. Only 2000::/3 has ever been given out.
  return ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
}

function parseRange(text: string): [Address, number] {
  const [base = "", bits, ...rest] = text.trim().split("/");
  const address = parseAddress(base);
  const size = isIPv4(base) ? 32 : 128;
  const prefix = bits === undefined ? size : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  // ::ffff:10.0.0.0/104 would read as 10.0.0.0/104: 10.0.0.0/8 has to be written.
  const mixed = size === 128 && address instanceof ipaddr.IPv4;
  if (address === undefined || mixed || rest.length > 0 || prefix < 0 || prefix > size) {
    throw new TypeError(`Cannot read "${text}" as a CIDR such as 192.168.0.0/16 or fd00::/8`);
  }
  return [address, prefix];
}

/** Public addresses pass, and those inside one of the CIDRs. Throws where a CIDR cannot be read. */
export function createAddressRule(allow: readonly string[]): AddressRule {
  const ranges = allow.map(parseRange);
  return (text) => {
    const address = parseAddress(text);
    if (address === undefined) return false;
    return (
      isPublic(address) ||
      ranges.some(([base, prefix]) => base.kind() === address.kind() && address.match(base, prefix))
    );
  };
}
