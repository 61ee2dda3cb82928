/**
 * The hash chain: each entry of an account is sealed with the digest of the one before it. Changing, removing or
 * inserting one breaks every seal after it.
 *
 * @module
 */

import { acrossAccounts, type Database, prepared } from "../db/mod.ts";
import { sha256 } from "../secrets/mod.ts";
import { type AuditRow, auditTables } from "./tables.ts";

const slice = 200;

/** What came before the first entry. */
const genesis = "";

/** The seal of an entry at a position of its account's chain. */
function seal(row: AuditRow, position: number, previous: string): string {
  const { id, account_id, at, actor_kind, credential_id, user_id, actor_label } = row;
  const { surface, operation, request_id, input_digest, outcome } = row;
  const who = [actor_kind, credential_id, user_id, actor_label];
  return sha256(
    JSON.stringify([
      previous,
      position,
      id,
      account_id,
      at,
      ...who,
      surface,
      operation,
      request_id,
      input_digest,
      outcome,
    ]),
  );
}

/** The last seal of an account's chain. */
async function head(db: Database, account_id: string): Promise<{ position: number; hash: string }> {
  const row = await auditTables(db)
    .selectFrom("audit_entries")
    .select(["position", "hash"])
    .where("account_id", "=", account_id)
    .where("position", "is not", null)
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
  return { position: row?.position ?? 0, hash: row?.hash ?? genesis };
}

/** Entries of all accounts that are not sealed yet, those of one account together and in their order. */
export const unsealed = (db: Database) =>
  auditTables(acrossAccounts(db))
    .selectFrom("audit_entries")
    .selectAll()
    .where("position", "is", null)
    .orderBy("account_id")
    .orderBy("id");

const setSeal = prepared<{
  account_id: string;
  id: string;
  position: number;
  previous: string;
  hash: string;
}>()((db, { account_id, id, position, previous, hash }) =>
  auditTables(db)
    .updateTable("audit_entries")
    .set({ position, previous, hash })
    .where("account_id", "=", account_id)
    .where("id", "=", id),
);

/** Seals a slice of what is not sealed yet; true where more is waiting. */
export async function sealSome(db: Database): Promise<boolean> {
  const rows = await unsealed(db).limit(slice).execute();
  let account: string | undefined;
  let last = { position: 0, hash: genesis };
  for (const row of rows) {
    const { account_id, id } = row;
    if (account_id !== account) last = await head(db, account_id);
    account = account_id;
    const position = last.position + 1;
    const hash = seal(row, position, last.hash);
    await setSeal(db, { account_id, id, position, previous: last.hash, hash });
    last = { position, hash };
  }
  return rows.length === slice;
}

/** What a walk along an account's chain finds. */
export interface ChainReport {
  readonly account_id: string;
  readonly intact: boolean;
  /** Sealed entries that were read. */
  readonly sealed: number;
  /** The seal of the last of them: note it elsewhere, and a cut-off end shows too. */
  readonly head: string;
  /** The first entry whose seal does not fit, or whose input was changed. */
  readonly broken_at: { readonly position: number; readonly id: string } | null;
}

/** Walks the chain of an account. */
export async function verifyChain(db: Database, account_id: string): Promise<ChainReport> {
  let position = 0;
  let previous = genesis;
  for (;;) {
    const rows = await auditTables(db)
      .selectFrom("audit_entries")
      .selectAll()
      .where("account_id", "=", account_id)
      .where("position", ">", position)
      .orderBy("position")
      .limit(slice)
      .execute();
    for (const row of rows) {
      position++;
      const erased = row.input === "";
      const whole = erased || sha256(row.input) === row.input_digest;
      const next = row.position === position && row.previous === previous;
      if (!whole || !next || row.hash !== seal(row, position, previous)) {
        const broken_at = { position, id: row.id };
        return { account_id, intact: false, sealed: position - 1, head: previous, broken_at };
      }
      previous = row.hash;
    }
    if (rows.length < slice) break;
  }
  return { account_id, intact: true, sealed: position, head: previous, broken_at: null };
}
