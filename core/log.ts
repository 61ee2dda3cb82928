/**
 * The log: one JSON line per entry, on standard error, so that a command's answer on standard output stays alone.
 *
 * @module
 */

import pino from "pino";

/** Where the server writes what happens. */
export type Log = pino.Logger;

/** A log of some level. What might hold a secret is not in it. */
export function createLog(level: string): Log {
  return pino(
    { level, base: null, redact: ["*.secret", "*.key", "*.authorization", "*.password"] },
    pino.destination(2),
  );
}
