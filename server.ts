/**
 * Innkeep: the composition root and the command line. `bun server.ts` serves; `bun server.ts help` lists the rest.
 *
 * @module
 */

import { cli } from "./core/cli/mod.ts";
import { plugins } from "./plugins/mod.ts";

process.exit(await cli({ args: Bun.argv.slice(2), env: process.env, plugins }));
