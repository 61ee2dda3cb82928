import {
  createEgress,
  type Egress,
  type EgressAnswer,
  type EgressOptions,
  type EgressRequest,
} from "../../core/egress/mod.ts";
import { type Authority, makeAuthority, startReceiver, type TlsReceiver } from "../tls.ts";

/** A receiver on loopback, known as localhost, hooks.test and other.test, and a way to reach it. */
export interface EgressFixture {
  readonly authority: Authority;
  readonly receiver: TlsReceiver;
  /** Trusts the authority, may reach 127.0.0.0/8 and ::1, and finds every name at 127.0.0.1. */
  open(options?: Partial<EgressOptions>): Egress;
  close(): Promise<void>;
}

/** Stands for a token in a path, as in many webhook addresses: it must not show up in any message. */
export const SECRET = "s3cret";

/** Starts a receiver under a fresh authority. */
export async function startFixture(): Promise<EgressFixture> {
  const authority = makeAuthority();
  const names = ["localhost", "hooks.test", "other.test"].map((name) => `DNS:${name}`);
  const receiver = await startReceiver(authority.issue([...names, "IP:127.0.0.1"]));
  return {
    authority,
    receiver,
    open: (options = {}) =>
      createEgress({
        allow: ["127.0.0.0/8", "::1"],
        ca: authority.ca,
        resolve: async () => ["127.0.0.1"],
        ...options,
      }),
    close: async () => await receiver.close(),
  };
}

/** Posts nothing with no headers, unless told otherwise. */
export function post(
  egress: Egress,
  url: string,
  rest: Partial<EgressRequest> = {},
): Promise<EgressAnswer> {
  return egress.request({ method: "POST", url, headers: {}, deadline_ms: 5000, ...rest });
}

/** Posts and expects an answer. */
export async function answered(
  ...args: Parameters<typeof post>
): Promise<Extract<EgressAnswer, { kind: "answer" }>> {
  const answer = await post(...args);
  if (answer.kind !== "answer") throw new Error(`An answer was expected: ${answer.message}`);
  return answer;
}

/** Posts and expects a failure, whose message must be fit to be shown. */
export async function failed(
  ...args: Parameters<typeof post>
): Promise<Extract<EgressAnswer, { kind: "failure" }>> {
  const answer = await post(...args);
  if (answer.kind !== "failure") throw new Error(`A failure was expected: ${answer.status}`);
  const fit = /^Request( to [^ ]+)? failed: [^\n]+[^.\n]$/.test(answer.message);
  if (!fit || answer.message.includes(SECRET)) throw new Error(`Unfit message: ${answer.message}`);
  return answer;
}
