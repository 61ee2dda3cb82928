/**
 * `serve`: the server until it is told to stop.
 *
 * @module
 */

import { createApp } from "../app.ts";
import type { Config } from "../config/mod.ts";
import { ownDatabase, patience } from "../db/mod.ts";
import { newSetupLink } from "../identity/mod.ts";
import type { Plugin } from "../plugin/types.ts";

/** Largest request that is let in at all: an upload with what stands around it. */
const mostRequest = 25 * 1024 * 1024;

/** Serves until SIGTERM or SIGINT. */
export async function serve(config: Config, plugins: readonly Plugin[]): Promise<void> {
  // Before anything is up that somebody could see and then stop.
  const told = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  const app = createApp({ config, plugins });
  const release = ownDatabase(config.dataDir, patience);
  await app.start();
  const server = Bun.serve({
    hostname: config.host,
    port: config.port,
    development: false,
    // Else a second server would take some of this one's requests, where it ought to be told that the port is in use.
    reusePort: false,
    maxRequestBodySize: mostRequest,
    idleTimeout: 30,
    ...(config.tls === undefined ? {} : { tls: config.tls }),
    fetch: (request, server) => app.fetch(request, () => server.requestIP(request)?.address),
    error(error) {
      app.log.error({ err: error }, "A request failed outside the router");
      return new Response("Internal error", { status: 500 });
    },
  });
  app.log.info(
    { url: config.baseUrl, host: config.host, port: server.port },
    "Innkeep is listening",
  );
  const link = await newSetupLink(app);
  if (link !== undefined)
    console.error(`\nWelcome to Innkeep. Make your account here, once:\n\n  ${link}\n`);

  await told;
  app.log.info("Stopping");
  await server.stop();
  await app.stop();
  release();
}
