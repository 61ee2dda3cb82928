/**
 * Calls from the command line: all rights in one account, and no credential that an echo guard could know.
 *
 * @module
 */

import type { App } from "../app.ts";
import { type Caller, execute } from "../call/mod.ts";
import { defaultTier } from "../config/mod.ts";
import { newUlid, wholeAccount } from "../db/mod.ts";
import type { RegisteredOperation } from "../plugin/registry.ts";
import type { Call } from "../plugin/types.ts";

const callerIn = (account_id: string): Caller => ({
  actor: { kind: "cli", credential_id: null, user_id: null, label: "command line" },
  access: wholeAccount(account_id),
  scopes: ["*"],
  tier: defaultTier,
  plan: "enterprise",
});

/** Runs one operation in an account. */
export async function callIn(
  app: App,
  account_id: string,
  registered: RegisteredOperation,
  input: Record<string, unknown>,
  dry_run = false,
): Promise<unknown> {
  const options = { surface: "cli", request_id: newUlid(), dry_run } as const;
  return (await execute(app, registered, input, callerIn(account_id), options)).value;
}

/** The same for those that hold the operation itself. */
export function callAs(app: App, account_id: string): Call {
  return async (operation, input) => {
    const registered = app.registry.operations.get(operation.name);
    if (registered === undefined)
      throw new Error(`No plugin declares the operation "${operation.name}"`);
    const value = await callIn(app, account_id, registered, { ...(input as object) });
    return value;
  };
}
