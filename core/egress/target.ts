import { type AddressRule, canonicalAddress } from "./address.ts";
import type { UrlFault } from "./types.ts";

/** Where a URL leads. */
export interface Target {
  /** Host and port as in the `host` header: the port is left out where it is 443. */
  readonly host: string;
  /** A name to look up, or the address itself in its canonical spelling. */
  readonly hostname: string;
  /** Does the URL name an address? */
  readonly literal: boolean;
  /** 443 where the URL has none. */
  readonly port: string;
  /** Path and query. */
  readonly path: string;
}

/** Takes a URL apart and judges what can be judged without a lookup. */
export function parseTarget(text: string, mayReach: AddressRule): Target | UrlFault {
  // `new URL` would drop white space and line breaks without a word: what is stored would not be what is dialled.
  if (!URL.canParse(text) || /[\s\p{Cc}]/u.test(text)) return "invalid";
  // `new URL` also settles odd spellings: 2130706433, 0x7f.1 and ①②⑦.0.0.1 all become 127.0.0.1.
  const url = new URL(text);
  if (url.protocol !== "https:") return "not_https";
  if (url.username !== "" || url.password !== "") return "invalid";
  const address = canonicalAddress(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (address !== undefined && !mayReach(address)) return "forbidden";
  return {
    host: url.host,
    hostname: address ?? url.hostname,
    literal: address !== undefined,
    port: url.port || "443",
    path: url.pathname + url.search,
  };
}
