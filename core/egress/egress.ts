import { createAddressRule } from "./address.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { codeOf, Fault, faultOf } from "./fault.ts";
import { prepareHeaders } from "./message.ts";
import { createPools } from "./pools.ts";
import { lookup, resolveName } from "./resolve.ts";
import { send } from "./send.ts";
import { createSlots } from "./slots.ts";
import { parseTarget } from "./target.ts";
import type { Egress, EgressAnswer, EgressOptions, EgressRequest, UrlFault } from "./types.ts";

const DEFAULT_MAX = 128;
// Enough to get past a dead address or two, too few to make a port scanner of us.
const TRIES = 4;
// With these no byte of the request has left.
const UNREACHABLE = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);

const BLOCKED = "its address is private or reserved, and INNKEEP_EGRESS_ALLOW does not allow it";
const URL_FAULTS: Readonly<Record<UrlFault, Fault>> = {
  not_https: new Fault("protocol", "its URL does not begin with https://"),
  invalid: new Fault("protocol", "its URL is not valid"),
  forbidden: new Fault("blocked_address", BLOCKED),
};

/** Opens the way out. Throws where an option cannot be used. */
export function createEgress(options: EgressOptions): Egress {
  const mayReach = createAddressRule(options.allow);
  const pools = createPools(options.ca);
  const slots = createSlots(options.max ?? DEFAULT_MAX);
  const resolve = options.resolve ?? lookup;

  /** Tries the addresses in turn; `tried` hears of each. */
  async function attempt(
    request: EgressRequest,
    deadline: Deadline,
    tried: (address: string) => void,
  ): Promise<EgressAnswer> {
    const target = parseTarget(request.url, mayReach);
    if (typeof target === "string") throw URL_FAULTS[target];
    const headers = prepareHeaders(request, target);
    const found = target.literal
      ? [target.hostname]
      : await resolveName(target.hostname, { resolve, signal: deadline.signal });
    // Judged again for a literal: there is one rule, and it stands right before the dial.
    const open = found.filter(mayReach).slice(0, TRIES);
    if (open.length === 0) throw new Fault("blocked_address", BLOCKED);
    // A certificate holds no trailing dot.
    const pool = pools(target.literal ? null : target.hostname.replace(/\.$/, ""));
    let last: unknown;
    for (const address of open) {
      tried(address);
      try {
        return await send({ request, target, address, headers, pool, deadline });
      } catch (error) {
        if (!UNREACHABLE.has(codeOf(error))) throw error;
        last = error;
      }
    }
    throw last;
  }

  /** Never throws. */
  async function run(request: EgressRequest, deadline: Deadline): Promise<EgressAnswer> {
    let address: string | null = null;
    let answer: EgressAnswer;
    try {
      answer = await attempt(request, deadline, (tried) => {
        address = tried;
      });
    } catch (error) {
      const fault = deadline.fault() ?? faultOf(error);
      answer = failure(request, fault, { address, duration_ms: deadline.elapsed() });
    }
    deadline.stop(answer.kind === "failure" || answer.truncated);
    return answer;
  }

  return {
    judge(url) {
      const target = parseTarget(url, mayReach);
      return typeof target === "string" ? target : undefined;
    },
    async request(request) {
      if (!(await slots.take(request.signal))) {
        const fault = new Fault("aborted", "it was stopped before it was sent");
        return failure(request, fault, { address: null, duration_ms: 0 });
      }
      try {
        return await run(request, startDeadline(request.deadline_ms, request.signal));
      } finally {
        slots.release();
      }
    },
  };
}

/** A fault as the caller gets it. */
function failure(
  request: EgressRequest,
  { reason, message }: Fault,
  rest: { readonly address: string | null; readonly duration_ms: number },
): EgressAnswer {
  const host = URL.canParse(request.url) ? new URL(request.url).host : "";
  const to = host === "" ? "" : ` to ${host}`;
  return { kind: "failure", reason, message: `Request${to} failed: ${message}`, ...rest };
}
