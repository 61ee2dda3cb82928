/**
 * The only way out of the server: every request to another machine (webhooks, imports, OAuth
 * documents, providers) is judged, resolved, pinned and sent here, and nothing else calls `fetch`.
 *
 * A caller's URL is somebody else's input. So a name is resolved first, each address is judged,
 * and the connection goes to the address that was judged, never to the name: a name that changes
 * its mind between the check and the call (DNS rebinding) reaches nothing. Redirects are answers,
 * environment proxies are ignored, answers are capped, and one deadline covers everything.
 *
 * ```ts
 * const egress = createEgress({ allow: config.egress.allow });
 * const answer = await egress.request({ method: "POST", url, headers, body, deadline_ms: 10_000 });
 * if (answer.kind === "failure") log.warn(answer.message);
 * ```
 *
 * @module
 */

export { createEgress } from "./egress.ts";
export type { Egress, EgressAnswer, EgressOptions, EgressRequest } from "./types.ts";
