/**
 * Where the metrics are read: `/metrics` for a scraper on this machine or with a credential, `/v1/metrics` with a
 * credential only.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

import type { App } from "../app.ts";
import { mustCover } from "../call/mod.ts";
import { admit, peerOf } from "../http/admit.ts";
import { type Endpoint, endpoint } from "../http/endpoint.ts";
import { listAccounts } from "../identity/mod.ts";
import { definePlugin, defineRoute } from "../plugin/define.ts";
import { Problem } from "../plugin/problem.ts";

const scope = "metrics:read";

const scrapes = new WeakMap<App, () => Promise<string>>();

/** The figures are of all accounts: over the network they are for the one there is, not for one of several. */
async function mustBeAlone({ store }: App): Promise<void> {
  if ((await store.read(listAccounts)).length < 2) return;
  throw new Problem(
    "insufficient_scope",
    "This server has several accounts: its metrics are read on the machine itself",
    { extra: { required_scopes: [], granted_scopes: [] } },
  );
}

async function answer(app: App): Promise<Response> {
  const { createScrape, mediaType } = await import("./scrape.ts");
  let scrape = scrapes.get(app);
  if (scrape === undefined) {
    scrape = createScrape(app);
    scrapes.set(app, scrape);
  }
  return new Response(await scrape(), {
    headers: { "content-type": mediaType, "cache-control": "no-store" },
  });
}

const read = defineRoute({
  name: "metrics.read",
  summary: "Read the server's metrics, as Prometheus takes them.",
  route: "GET /v1/metrics",
  scope,
  async handler({ app }) {
    await mustBeAlone(app);
    return await answer(app);
  },
});

/** The metrics, as a plugin of core: by it their scope is known. */
export const metricsPlugin = definePlugin({
  name: "metrics",
  summary: "How the server fares.",
  routes: { read },
});

/** `/metrics`. */
export function createMetricsEndpoint(app: App): Endpoint {
  return endpoint(app, {
    path: "/metrics",
    // Without a credential the browser of this machine, too, would be let in, and whatever page it shows.
    page: true,
    async answer(exchange) {
      if (!isLocal(exchange.request)) {
        mustCover((await admit(app, exchange, "/v1")).scopes, scope);
        await mustBeAlone(app);
      }
      return await answer(app);
    },
  });
}

const forwarding = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];
const localHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Does a program on this machine ask, for itself? A proxy asks for others; so does a browser that a foreign name has
 * led here, which the name in `Host` gives away.
 */
function isLocal(request: Request): boolean {
  const peer = peerOf(request);
  if (peer === undefined || !ipaddr.isValid(peer) || ipaddr.process(peer).range() !== "loopback")
    return false;
  return (
    localHosts.has(new URL(request.url).hostname) &&
    !forwarding.some((name) => request.headers.has(name))
  );
}
