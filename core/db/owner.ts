/**
 * Who owns the data directory. One process serves it; short commands may work beside it, a second server may not.
 *
 * @module
 */

import { join } from "node:path";

import Sqlite from "better-sqlite3";

import { inDataDir } from "./directory.ts";

/**
 * Takes the directory for this process; answers how to give it back. Throws where another process has it. The lock is
 * SQLite's own on an empty file beside the data: the system drops it when the process ends, however it ends. Whoever
 * only migrates has it for a moment, which `patience_ms` may outlast.
 */
export function ownDatabase(dataDir: string, patience_ms = 0): () => void {
  const lock = inDataDir(
    dataDir,
    () => new Sqlite(join(dataDir, "owner.lock"), { timeout: patience_ms }),
  );
  try {
    lock.exec("begin exclusive");
  } catch {
    lock.close();
    throw new Error(
      `Another Innkeep server is using "${dataDir}": stop it first, or choose another directory`,
    );
  }
  return () => lock.close();
}
