/**
 * Throw-away certificates and a raw HTTPS receiver. The receiver reads HTTP by hand, so a test sees
 * the bytes that were sent and not what a library made of them, and it can answer as badly as it likes.
 *
 * ```ts
 * const { ca, key, cert } = makeAuthority();
 * const receiver = await startReceiver({ key, cert });
 * receiver.answer("/hook", { status: 500 }, { body: "ok" }); // in turn; the last one stays
 * // … POST to receiver.url("/hook"), trusting `ca` …
 * expect(receiver.hits[0]?.header("content-type")).toBe("application/json");
 * await receiver.close();
 * ```
 *
 * @module
 */

export { type Authority, type Leaf, makeAuthority } from "./tls/authority.ts";
export type { Answer, Hit, Reply } from "./tls/http.ts";
export { startReceiver, type TlsReceiver } from "./tls/receiver.ts";
export { type SilentPort, startSilentPort } from "./tls/silent.ts";
