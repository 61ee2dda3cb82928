/**
 * Entries for what is no operation: the first account, a plan that a command has set.
 *
 * @module
 */

import { type Clock, type Database, newUlid } from "../db/mod.ts";
import type { Actor } from "../plugin/types.ts";
import { audit, type Surface } from "./mod.ts";

/** What was done. `input` holds nothing secret. */
export interface Deed {
  readonly account_id: string;
  readonly operation: string;
  readonly surface: Surface;
  readonly user_id?: string;
  readonly input: object;
}

const labels: Partial<Record<Surface, string>> = { cli: "command line", dashboard: "setup page" };

/** Enters something that was done, in the unit that did it. */
export async function noteDeed(
  db: Database,
  clock: Clock,
  { account_id, operation, surface, user_id, input }: Deed,
): Promise<void> {
  const actor: Actor = {
    kind: surface === "cli" ? "cli" : "session",
    credential_id: null,
    user_id: user_id ?? null,
    label: labels[surface] ?? surface,
  };
  await audit(db, {
    account_id,
    at: clock.now(account_id),
    actor,
    surface,
    operation,
    request_id: newUlid(),
    input: JSON.stringify(input),
    outcome: "ok",
  });
}
