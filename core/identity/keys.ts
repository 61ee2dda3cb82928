/**
 * API keys: made, found by digest, and noted when used.
 *
 * @module
 */

import { LRUCache } from "lru-cache";
import { alphabet, generateRandomString } from "oslo/crypto";

import type { Plan } from "../call/plans.ts";
import {
  acrossAccounts,
  type Clock,
  type Database,
  newId,
  prepared,
  type Store,
} from "../db/mod.ts";
import { sha256 } from "../secrets/mod.ts";
import { type ApiKeyRow, identityTables } from "./tables.ts";

/** What every key begins with, so that people and scanners of leaked secrets know it. */
export const keyPrefix = "ik_live_";

const keyLength = 43;
const shown = keyPrefix.length + 6;

/** A new key: 43 letters and digits, about 256 bits. */
const newKey = (): string =>
  keyPrefix + generateRandomString(keyLength, alphabet("a-z", "A-Z", "0-9"));

/** What a new key is to be. */
export interface NewKey {
  readonly account_id: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly listing_ids: readonly string[] | null;
  readonly tier: string;
  readonly expires_at: string | null;
  /** Who made it: a credential, a person, or the command line. */
  readonly created_by: string;
}

/** Stores a key and answers it, this once. */
export async function insertKey(
  db: Database,
  wanted: NewKey,
  now: string,
): Promise<{ row: ApiKeyRow; key: string }> {
  const key = newKey();
  const row: ApiKeyRow = {
    id: newId(),
    account_id: wanted.account_id,
    label: wanted.label,
    prefix: key.slice(0, shown),
    hash: sha256(key),
    scopes: JSON.stringify(wanted.scopes),
    listing_ids: wanted.listing_ids === null ? null : JSON.stringify(wanted.listing_ids),
    tier: wanted.tier,
    created_by: wanted.created_by,
    created_at: now,
    updated_at: now,
    expires_at: wanted.expires_at,
    revoked_at: null,
    last_used_at: null,
    version: 1,
  };
  await identityTables(db).insertInto("identity_api_keys").values(row).execute();
  return { row, key };
}

/** A key as authentication needs it. */
export type FoundKey = Pick<
  ApiKeyRow,
  "id" | "account_id" | "label" | "scopes" | "listing_ids" | "tier" | "expires_at" | "revoked_at"
> & { readonly plan: Plan };

const byHash = prepared<{ hash: string }>()((db, { hash }) =>
  identityTables(acrossAccounts(db))
    .selectFrom("identity_api_keys")
    .select([
      "id",
      "account_id",
      "label",
      "scopes",
      "listing_ids",
      "tier",
      "expires_at",
      "revoked_at",
    ])
    .where("hash", "=", hash),
);

const planOf = prepared<{ id: string }>()((db, { id }) =>
  identityTables(db).selectFrom("identity_accounts").select("plan").where("id", "=", id),
);

// Two small statements: SQLite would plan a join anew each time, for longer than both of them take.
async function lookUp(db: Database, hash: string): Promise<FoundKey | undefined> {
  const [row] = await byHash(db, { hash });
  if (row === undefined) return undefined;
  const [account] = await planOf(db, { id: row.account_id });
  return account === undefined ? undefined : { ...row, plan: account.plan };
}

/** Finds the key that was given, by its digest; nothing where there is none. */
export type FindKey = (key: string) => Promise<FoundKey | undefined>;

const mostFound = 10_000;

/** Makes the finder. What it found holds until a key or an account changes: a revoked key is refused on its next call. */
export function createKeyFinder(store: Store): FindKey {
  const found = new LRUCache<
    string,
    { readonly version: string; readonly row: ReturnType<FindKey> }
  >({
    max: mostFound,
  });
  return async (key) => {
    const hash = sha256(key);
    const version = store.version("identity");
    const before = found.get(hash);
    if (before?.version === version) return await before.row;
    // Another process may have committed since the snapshot of this turn was taken: what is seen there is older than the
    // version, and would be kept as if it were not.
    store.renew();
    const row = store.read((db) => lookUp(db, hash));
    // The promise itself is kept: those who ask at the same time wait for the one answer.
    found.set(hash, { version, row });
    row.then(
      (known) => known ?? found.delete(hash),
      () => found.delete(hash),
    );
    return await row;
  };
}

/** Notes when keys were last used, and writes it down now and then, many at once. */
export interface LastUsed {
  note(key_id: string): void;
  flush(): Promise<void>;
}

/** Makes the notebook. */
export function createLastUsed(store: Store, clock: Clock): LastUsed {
  const noted = new Map<string, string>();
  return {
    note: (key_id) => void noted.set(key_id, clock.now()),
    async flush() {
      if (noted.size === 0) return;
      const uses = [...noted];
      noted.clear();
      await store.write(async (db) => {
        for (const [id, last_used_at] of uses) {
          await identityTables(acrossAccounts(db))
            .updateTable("identity_api_keys")
            .set({ last_used_at })
            .where("id", "=", id)
            .execute();
        }
      });
    },
  };
}
