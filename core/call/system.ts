/**
 * The server's own doing: reactions and jobs, in the name of nobody, in one account or across them.
 *
 * @module
 */

import { type Database, wholeAccount } from "../db/mod.ts";
import { type InAccount, record } from "../outbox/mod.ts";
import type { Actor, AnyJob, Context, EventType, JobContext } from "../plugin/types.ts";
import { type Collecting, collectingContext } from "./context.ts";
import type { CallServices } from "./mod.ts";

const system: Actor = { kind: "system", credential_id: null, user_id: null, label: "Innkeep" };

function contextIn(
  { clock, registry }: CallServices,
  db: Database,
  account_id: string,
  emits: readonly EventType[],
): Collecting {
  const access = wholeAccount(account_id);
  const { events, scopes: known_scopes } = registry;
  return collectingContext({
    db,
    access,
    actor: system,
    scopes: ["*"],
    now: clock.now(account_id),
    events,
    known_scopes,
    emits,
  });
}

async function flush(services: CallServices, { context, emitted }: Collecting): Promise<void> {
  const { account_id } = context.access;
  const cause = {
    account_id,
    credential_id: null,
    now: context.now,
    now_ms: services.clock.ms(account_id),
  };
  const waiting = await record(context.db, services.registry, emitted, cause);
  // A hint: it is looked at after this unit, and found once that has been committed.
  if (waiting > 0) setTimeout(() => services.wake(), 0);
}

/** For reactions. */
export function inAccount(services: CallServices): InAccount {
  return async (db, account_id, emits, work) => {
    const collecting = contextIn(services, db, account_id, emits);
    await work(collecting.context);
    await flush(services, collecting);
  };
}

/** For jobs. */
export function inJob(services: CallServices) {
  return async (
    db: Database,
    job: AnyJob,
    work: (context: JobContext) => Promise<void>,
  ): Promise<void> => {
    const accounts = new Map<string, Collecting>();
    const as = (account_id: string): Context => {
      let collecting = accounts.get(account_id);
      if (collecting === undefined) {
        collecting = contextIn(services, db, account_id, job.emits ?? []);
        accounts.set(account_id, collecting);
      }
      return collecting.context;
    };
    await work({ db, now: services.clock.now(), as });
    for (const collecting of accounts.values()) await flush(services, collecting);
  };
}
