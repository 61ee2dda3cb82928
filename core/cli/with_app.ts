/**
 * What commands share.
 *
 * @module
 */

import { type App, createApp } from "../app.ts";
import type { Config } from "../config/mod.ts";
import type { Store } from "../db/mod.ts";
import { listAccounts } from "../identity/mod.ts";
import type { Plugin } from "../plugin/types.ts";

/** Runs `work` with an app that delivers nothing itself: what it queues, the running server sends. */
export async function withApp(
  config: Config,
  plugins: readonly Plugin[],
  work: (app: App) => Promise<void>,
): Promise<void> {
  const app = createApp({ config, plugins });
  try {
    await work(app);
  } finally {
    await app.stop();
  }
}

/** The account that is meant: the named one, or the only one. */
export async function chooseAccount(store: Store, wanted: string | undefined): Promise<string> {
  const accounts = await store.read(listAccounts);
  if (accounts.length === 0) throw new Error("There is no account yet: make one with `setup`");
  if (wanted === undefined && accounts.length === 1) return accounts[0]?.id ?? "";
  const found = accounts.find(({ id }) => id === wanted);
  if (found !== undefined) return found.id;
  const names = accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
  const why =
    wanted === undefined
      ? "There are several accounts: name one"
      : `There is no account "${wanted}": name one`;
  throw new Error(`${why} with --account\n${names}`);
}
