/**
 * The data directory, and why it cannot be used.
 *
 * @module
 */

import { mkdirSync } from "node:fs";

/** Of the system or of SQLite, and what a person calls it. */
const reasons: readonly [codes: RegExp, why: string][] = [
  [/^(EACCES|EPERM|EROFS|SQLITE_READONLY|SQLITE_PERM)/, "it, or a file in it, cannot be written"],
  [/^(ENOTDIR|EEXIST|ENOENT)/, "there is no such directory, and it cannot be made"],
  [/^SQLITE_CANTOPEN/, "the files of the database in it cannot be opened"],
  [/^SQLITE_NOTADB/, "what lies there as innkeep.db is no database"],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, "its disk is full"],
];

/** Runs `work` on the data directory, which is made where it is missing. Throws, in words, where it cannot be used. */
export function inDataDir<T>(dataDir: string, work: () => T): T {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return work();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const why = reasons.find(([codes]) => codes.test(code))?.[1];
    if (why === undefined) throw error;
    throw new Error(
      `Cannot use the data directory "${dataDir}": ${why} (${code}). Give this user the right to write there, or name another directory in INNKEEP_DATA_DIR`,
      { cause: error },
    );
  }
}
