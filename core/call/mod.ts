/**
 * Calls: how an operation runs, whichever door it was asked at. Authorise → check the input → prepare → transact →
 * events → audit → answer. Every surface comes through `execute`; none repeats a step of it.
 *
 * @module
 */

import { audit, type AuditEntry, redact, type Surface } from "../audit/mod.ts";
import type { Config } from "../config/mod.ts";
import type { Access, Clock, Database, Store } from "../db/mod.ts";
import type { Egress } from "../egress/mod.ts";
import { covers } from "../identity/scopes.ts";
import { record } from "../outbox/mod.ts";
import { Problem } from "../plugin/problem.ts";
import type { RegisteredOperation, Registry } from "../plugin/registry.ts";
import { holdsSecret, mostFaults, type TObject, type TSchema } from "../plugin/schema.ts";
import type { Actor } from "../plugin/types.ts";
import type { Secrets } from "../secrets/mod.ts";
import { collectingContext } from "./context.ts";
import { type IdempotencyKey, keepAnswer, keptAnswer } from "./idempotency.ts";
import { mustAfford, type Plan } from "./plans.ts";
import { storableTexts } from "./texts.ts";

export { etag } from "./context.ts";
export type { IdempotencyKey } from "./idempotency.ts";
export { callsPlugin } from "./plugin.ts";
export { type Plan, plans } from "./plans.ts";

/** Who calls, as authentication has found out. */
export interface Caller {
  readonly actor: Actor;
  readonly access: Access;
  readonly scopes: readonly string[];
  /** The credential's tier: its limit per minute. */
  readonly tier: string;
  /** The account's plan: what it may use. */
  readonly plan: Plan;
}

/** What a call is made with, beside its input. */
export interface CallOptions {
  readonly surface: Surface;
  readonly request_id: string;
  /** Does everything, then takes it back: no event, no audit entry, no kept answer. */
  readonly dry_run?: boolean;
  readonly idempotency?: IdempotencyKey | undefined;
  readonly if_match?: string | undefined;
}

/** What came of it. */
export interface CallResult {
  readonly status: number;
  readonly value: unknown;
  /** The JSON text of a kept answer, given again. */
  readonly replay?: string;
}

/** What calls need of the server. */
export interface CallServices {
  readonly config: Config;
  readonly registry: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly egress: Egress;
  /** Something waits in the outbox. */
  wake(): void;
}

/** Runs an operation. Throws a `Problem` where the caller is at fault. */
export async function execute(
  services: CallServices,
  registered: RegisteredOperation,
  input: Record<string, unknown>,
  caller: Caller,
  options: CallOptions,
): Promise<CallResult> {
  const asked: Call = { services, registered, input, caller, options, now: now(services, caller) };
  if (registered.reads) {
    permit(asked);
    return await read({ ...asked, input: storableTexts(input) });
  }
  let fits = false;
  try {
    permit(asked);
    // What is answered, stored and sent is one text.
    const call: Call = { ...asked, input: storableTexts(input) };
    fits = true;
    const prepared: unknown = await registered.operation.prepare?.(call.input, services);
    return await write(call, prepared);
  } catch (error) {
    if (error instanceof DryRun) return { status: statusOf(registered), value: error.value };
    if (options.dry_run !== true)
      await auditRefusal(fits ? asked : { ...asked, input: fitting(asked) }, error);
    throw error;
  }
}

interface Call {
  readonly services: CallServices;
  readonly registered: RegisteredOperation;
  readonly input: Record<string, unknown>;
  readonly caller: Caller;
  readonly options: CallOptions;
  readonly now: string;
}

/** Carries the value of a dry run out of its unit, which is rolled back by it. */
class DryRun extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super("A dry run is taken back");
    this.value = value;
  }
}

const now = ({ clock }: CallServices, { access }: Caller): string => clock.now(access.account_id);

const statusOf = ({ operation }: RegisteredOperation): number => operation.status ?? 200;

function permit({ services, registered, input, caller }: Call): void {
  const { operation, check } = registered;
  if (operation.scope !== null) mustCover(caller.scopes, operation.scope);
  if (operation.whole_account === true) mustHaveAll(caller.access);
  mustAfford(services.config, caller.plan, operation);
  const details = check.faults(input);
  if (details.length === 0) return;
  throw new Problem("validation_failed", details.map(({ message }) => message).join("; "), {
    details,
  });
}

function mustHaveAll({ listing_ids }: Access): void {
  if (listing_ids === "all") return;
  throw new Problem(
    "listing_not_permitted",
    "This credential is restricted to listings, and this concerns the whole account: use one that is not",
    { extra: { listing_ids: [...listing_ids] } },
  );
}

/** Throws where the granted scopes do not cover the needed one. */
export function mustCover(granted: readonly string[], needed: string): void {
  if (covers(granted, needed)) return;
  throw new Problem(
    "insufficient_scope",
    `This needs the scope "${needed}": use a key or a grant that has it`,
    {
      extra: { required_scopes: [needed], granted_scopes: [...granted] },
    },
  );
}

const contextOf = ({ services, registered, caller, options, now }: Call, db: Database) =>
  collectingContext({
    db,
    now,
    access: caller.access,
    actor: caller.actor,
    scopes: caller.scopes,
    events: services.registry.events,
    known_scopes: services.registry.scopes,
    emits: registered.operation.emits ?? [],
    ifMatch: options.if_match,
  });

async function read(call: Call): Promise<CallResult> {
  const { services, registered, input } = call;
  const { operation } = registered;
  const value: unknown = await services.store.read((db) =>
    operation.handler(input, contextOf(call, db).context, undefined),
  );
  return { status: statusOf(registered), value };
}

async function write(call: Call, prepared: unknown): Promise<CallResult> {
  const { services, registered, input, caller, options } = call;
  const { store, clock, secrets, registry } = services;
  const { operation } = registered;
  const { account_id } = caller.access;
  const { credential_id } = caller.actor;
  const key = options.dry_run === true ? undefined : options.idempotency;
  const holder = { account_id, holder_id: credential_id ?? account_id };
  const now_ms = clock.ms(account_id);
  let waiting = 0;

  const result = await store.write(async (db): Promise<CallResult> => {
    if (key !== undefined) {
      const kept = await keptAnswer(db, holder, key, { secrets, now: call.now });
      if (kept !== undefined) return { status: kept.status, value: undefined, replay: kept.body };
    }
    const { context, emitted } = contextOf(call, db);
    for (const guard of registry.guards.get(operation.name) ?? [])
      await guard.check(input, context);
    const value: unknown = await operation.handler(input, context, prepared);
    if (options.dry_run === true) throw new DryRun(value);
    waiting = await record(db, registry, emitted, {
      account_id,
      credential_id,
      now: call.now,
      now_ms,
    });
    await audit(db, entry(call, "ok"));
    const status = statusOf(registered);
    if (key !== undefined) {
      const secret = holdsSecret(operation.output as TSchema);
      await keepAnswer(
        db,
        holder,
        key,
        { status, body: JSON.stringify(value) },
        { secrets, now_ms, secret },
      );
    }
    return { status, value };
  });
  if (waiting > 0) services.wake();
  return result;
}

function entry({ registered, input, caller, options, now }: Call, outcome: string): AuditEntry {
  return {
    account_id: caller.access.account_id,
    at: now,
    actor: caller.actor,
    surface: options.surface,
    operation: registered.operation.name,
    request_id: options.request_id,
    input: redact(input, registered.operation.input as TSchema),
    outcome,
  };
}

/** What of an input is as its schema says. The rest may hold anything, secrets too: the log does not keep it. */
function fitting({ registered, input }: Call): Record<string, unknown> {
  const faults = registered.check.faults(input);
  if (faults.length === 0) return input;
  const { properties } = registered.operation.input as TObject;
  const unfit = new Set(faults.map(({ field }) => field.replace(/[.[].*/s, "")));
  // So many faults are told at once; there may be more.
  const kept = (name: string): boolean =>
    faults.length < mostFaults && Object.hasOwn(properties, name) && !unfit.has(name);
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, kept(name) ? value : "[unfit]"]),
  );
}

// The unit of a refused write is gone, so its entry has one of its own. Where even that cannot be written (a full
// disk), the caller is told of the first fault.
async function auditRefusal(call: Call, error: unknown): Promise<void> {
  const outcome = error instanceof Problem ? error.code : "internal";
  await call.services.store.write((db) => audit(db, entry(call, outcome))).catch(() => {});
}
