/**
 * `demo`: a believable account, made by the plugins through their own operations. Running it again changes nothing;
 * where it was interrupted, it is completed.
 *
 * @module
 */

import { alphabet, generateRandomString } from "oslo/crypto";

import type { App } from "../app.ts";
import { noteDeed } from "../audit/note.ts";
import { findUser, insertAccount, membershipsOf, prepareAccount } from "../identity/mod.ts";
import type { DemoKit } from "../plugin/types.ts";
import { callAs } from "./call.ts";

const email = "demo@innkeep.example";

/** What `demo` prints. */
export interface DemoReport {
  readonly account_id: string;
  readonly email: string;
  /** Shown when the account is made, and not again. */
  readonly password: string | null;
}

/** Makes the demo account, or completes it. */
export async function makeDemo(app: App): Promise<DemoReport> {
  const { store, clock } = app;
  const user = await store.read((db) => findUser(db, email));
  const before =
    user === undefined ? undefined : (await store.read((db) => membershipsOf(db, user.id)))[0];
  let account_id = before?.account_id;
  let password: string | null = null;
  if (account_id === undefined) {
    password = generateRandomString(20, alphabet("a-z", "A-Z", "0-9"));
    const prepared = await prepareAccount({ name: "Innkeep demo", email, password }, undefined);
    account_id = await store.write(async (db) => {
      const made = await insertAccount(db, prepared, clock.now());
      const input = { account: prepared.name };
      await noteDeed(db, clock, { ...made, surface: "cli", operation: "identity.setup", input });
      return made.account_id;
    });
  }
  const kit: DemoKit = { call: callAs(app, account_id), today: clock.now(account_id).slice(0, 10) };
  for (const plugin of app.registry.plugins) await plugin.demo?.(kit);
  return { account_id, email, password };
}
