/**
 * The setup link: on an empty database, whoever holds it may make the first account. It works once.
 *
 * @module
 */

import { alphabet, generateRandomString } from "oslo/crypto";

import { type Clock, type Database, type Store, tables } from "../db/mod.ts";
import { sha256 } from "../secrets/mod.ts";
import { identityTables } from "./tables.ts";

interface SetupLinkRow {
  hash: string;
  created_at: string;
  used_at: string | null;
}

const links = (db: Database) => tables<{ identity_setup_links: SetupLinkRow }>(db);

/** Is there no account yet? */
export async function isEmpty(db: Database): Promise<boolean> {
  return (
    (await identityTables(db).selectFrom("identity_accounts").select("id").limit(1).execute())
      .length === 0
  );
}

/** A new link on an empty database, in place of any before it; nothing where there is an account. */
export async function newSetupLink(server: {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: { readonly baseUrl: string };
}): Promise<string | undefined> {
  const { store, clock, config } = server;
  if (!(await store.read(isEmpty))) return undefined;
  const token = generateRandomString(32, alphabet("a-z", "A-Z", "0-9"));
  await store.write(async (db) => {
    await links(db).deleteFrom("identity_setup_links").execute();
    const row = { hash: sha256(token), created_at: clock.now(), used_at: null };
    await links(db).insertInto("identity_setup_links").values(row).execute();
  });
  return `${config.baseUrl}/setup?token=${token}`;
}

/** Is it the link of now, on a database that is still empty? */
export async function isSetupToken(db: Database, token: string): Promise<boolean> {
  const row = await links(db)
    .selectFrom("identity_setup_links")
    .select("hash")
    .where("hash", "=", sha256(token))
    .where("used_at", "is", null)
    .executeTakeFirst();
  return row !== undefined && (await isEmpty(db));
}

/** Uses the link up; false where it was used meanwhile. */
export async function useSetupToken(db: Database, token: string, now: string): Promise<boolean> {
  if (!(await isSetupToken(db, token))) return false;
  const { numUpdatedRows } = await links(db)
    .updateTable("identity_setup_links")
    .set({ used_at: now })
    .where("hash", "=", sha256(token))
    .where("used_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
