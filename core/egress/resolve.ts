import { getServers, Resolver, setServers } from "node:dns";

import { dns } from "bun";

import { canonicalAddress } from "./address.ts";
import { codeOf, Fault } from "./fault.ts";

// However long the deadline is.
const LIMIT_MS = 2000;

// Bun's resolver reads /etc/resolv.conf once, at its first lookup; a fresh one reads it anew. Without
// this a machine that changes networks would look names up at the old servers until a restart.
function followServers(): boolean {
  try {
    const current = new Resolver().getServers();
    if (current.join() === getServers().join()) return false;
    setServers(current);
    return true;
  } catch {
    // A server in a form that cannot be set, such as fe80::1%eth0: the old ones stay.
    return false;
  }
}

/**
 * Looks a name up, the hosts file included. Not with `node:dns`: each lookup there holds one of a few
 * threads, half as many as there are cores, so that a name or two with silent servers would stop all others.
 */
export async function lookup(host: string): Promise<readonly string[]> {
  try {
    return (await dns.lookup(host)).map((found) => found.address);
  } catch (error) {
    if (!followServers()) throw error;
    return (await dns.lookup(host)).map((found) => found.address);
  }
}

/** Rejects once the time is up or the signal ends; the lookup itself cannot be stopped and is left behind. */
function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      then();
    };
    const timer = setTimeout(() => {
      followServers();
      settle(() => reject(new Fault("name_not_resolved", `the name took more than ${ms} ms`)));
    }, ms);
    const onAbort = (): void =>
      settle(() => reject(new Fault("timeout", "the name took too long")));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** All addresses of a name, each once, in the order given. */
export async function resolveName(
  name: string,
  { resolve, signal }: { resolve: typeof lookup; signal: AbortSignal },
): Promise<readonly string[]> {
  const found = await within((async () => resolve(name))(), LIMIT_MS, signal).catch(
    (error: unknown) => {
      if (error instanceof Fault) throw error;
      const missing = codeOf(error).endsWith("ENOTFOUND") || codeOf(error).endsWith("ENODATA");
      throw new Fault(
        "name_not_resolved",
        missing ? "the name does not exist" : "the name could not be looked up",
      );
    },
  );
  if (found.length === 0) throw new Fault("name_not_resolved", "the name has no address");
  // What is no address at all is kept as it came: the rule refuses it.
  return [...new Set(found.map((address) => canonicalAddress(address) ?? address))];
}
