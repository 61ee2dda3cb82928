import { X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";

import { LRUCache } from "lru-cache";

/** The connections of one server name. */
export interface Pool {
  readonly session: Bun.FetchSession;
  /** Takes note that a request starts. True where it will find a connection kept from an earlier one. */
  take(address: string): boolean;
  /** Takes note that a connection was left open for the next request. */
  put(address: string): void;
}

// Bun keeps TLS settings for as many server names, and closes the connections of any other.
const NAMES = 60;
const ADDRESSES = 100;
const IDLE_SECONDS = 60;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function authorities(extra: string): string {
  const added = extra.match(CERTIFICATE) ?? [];
  try {
    if (added.length === 0) throw new TypeError("no certificate found");
    for (const pem of added) new X509Certificate(pem);
  } catch (cause) {
    const message = "Cannot read the extra authorities: PEM certificates are expected";
    throw new TypeError(message, { cause });
  }
  // `ca` replaces what is trusted by default, so both are given.
  return [...getCACertificates("default"), ...added].join("\n");
}

function createPool(tls: Bun.TLSOptions): Pool {
  const idle = new Map<string, number>();
  return {
    session: new Bun.FetchSession({ proxy: false, keepAlive: { idleTimeout: IDLE_SECONDS }, tls }),
    take(address) {
      const count = idle.get(address) ?? 0;
      if (count > 1) idle.set(address, count - 1);
      else idle.delete(address);
      return count > 0;
    },
    put(address) {
      // A name may wander over any number of addresses. Forgetting only costs a redial.
      if (idle.size >= ADDRESSES) idle.clear();
      idle.set(address, (idle.get(address) ?? 0) + 1);
    },
  };
}

/**
 * Connections by server name (null: the URL names an address, whose certificate must hold it). Each
 * name has a session, because a session reads its authorities once and not at each request.
 */
export function createPools(ca: string | undefined): (serverName: string | null) => Pool {
  // Said outright, or NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch the check off.
  const trust = { rejectUnauthorized: true, ...(ca !== undefined && { ca: authorities(ca) }) };
  const pools = new LRUCache<string, Pool>({
    max: NAMES,
    dispose: ({ session }) => session.close(),
  });
  return (serverName) => {
    const key = serverName ?? "";
    let pool = pools.get(key);
    if (pool === undefined) {
      pool = createPool(serverName === null ? trust : { ...trust, serverName });
      pools.set(key, pool);
    }
    return pool;
  };
}
