/**
 * `serve`: the server until it is told to stop.
 *
 * @module
 */

import { type App, createApp } from "../app.ts";
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
  const server = listen(app);
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

function listen({ config, log, fetch }: App): Bun.Server<undefined> {
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      development: false,
      // Else a second server would take some of this one's requests, where it ought to be told that the port is in use.
      reusePort: false,
      maxRequestBodySize: mostRequest,
      idleTimeout: 30,
      ...(config.tls === undefined ? {} : { tls: config.tls }),
      fetch: (request, server) => fetch(request, () => server.requestIP(request)?.address),
      error(error) {
        log.error({ err: error }, "A request failed outside the router");
        return new Response("Internal error", { status: 500 });
      },
    });
  } catch (error) {
    throw new Error(refusal(config, error), { cause: error });
  }
}

/** Why the server cannot listen, and what to do about it. */
function refusal({ host, port }: Config, error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const where = `Cannot listen on ${host}, port ${port}`;
  switch (code) {
    case "EADDRINUSE":
      return `${where}: the port is in use. Stop what uses it, or set INNKEEP_PORT to another one`;
    case "EACCES":
      return `${where}: this user may not use that port. Set INNKEEP_PORT to one above 1023`;
    case "EADDRNOTAVAIL":
    case "EINVAL":
    case "ENOTFOUND":
      return `${where}: that is no address of this machine (${code}). Set INNKEEP_HOST to one that is, or to 0.0.0.0 for all`;
    default: {
      const why = error instanceof Error ? error.message : String(error);
      return `${where}: ${why}. Look at INNKEEP_HOST, INNKEEP_PORT, INNKEEP_TLS_CERT and INNKEEP_TLS_KEY`;
    }
  }
}
