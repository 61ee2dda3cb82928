/**
 * Reactions: each runs once, in a unit of its own that also marks it done. One that fails is tried again, later and
 * later, and is put aside after some failures, where it can be seen.
 *
 * @module
 */

import { acrossAccounts, type Clock, type Database, type Store } from "../db/mod.ts";
import type { Log } from "../log.ts";
import { createLoop, type Loop } from "../loop.ts";
import type { Registry } from "../plugin/registry.ts";
import type { AnyReaction, Context, EventType } from "../plugin/types.ts";
import { outboxTables, type ReactionRow } from "./tables.ts";

/** Runs `work` as the system in an account, and records what it emits. Lent by calls. */
export type InAccount = (
  db: Database,
  account_id: string,
  emits: readonly EventType[],
  work: (context: Context) => Promise<void>,
) => Promise<void>;

/** What it needs. */
export interface ReactorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly log: Log;
  readonly inAccount: InAccount;
}

const mostFailures = 10;
const slice = 50;
/** Other processes may queue something too: so often it is looked at anyway. */
const poll = 1000;
const never = 2 ** 31 - 1;

const rows = (db: Database) => outboxTables(acrossAccounts(db));

/** Makes the loop that works off the reactions that are due. */
export function createReactor({ store, clock, registry, log, inAccount }: ReactorOptions): Loop {
  const byName = new Map<string, AnyReaction>();
  for (const list of registry.reactions.values())
    for (const each of list) byName.set(each.name, each);

  const due = async (db: Database): Promise<ReactionRow[]> =>
    await rows(db)
      .selectFrom("outbox_reactions")
      .selectAll()
      .where("state", "=", "pending")
      .where("due_ms", "<=", clock.ms())
      .orderBy("due_ms")
      .orderBy("event_id")
      .limit(slice)
      .execute();

  const mark = async (
    db: Database,
    { event_id, reaction }: ReactionRow,
    change: Partial<ReactionRow>,
  ) => {
    const { numUpdatedRows } = await rows(db)
      .updateTable("outbox_reactions")
      .set(change)
      .where("event_id", "=", event_id)
      .where("reaction", "=", reaction)
      .where("state", "=", "pending")
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };

  const run = async (row: ReactionRow): Promise<void> => {
    const reaction = byName.get(row.reaction);
    if (reaction === undefined)
      throw new Error(`No plugin declares the reaction "${row.reaction}" any more`);
    await store.write(async (db) => {
      // Claimed in the unit that does the work: whoever comes second finds it done.
      if (!(await mark(db, row, { state: "done" }))) return;
      const event = await rows(db)
        .selectFrom("outbox_events")
        .select("body")
        .where("account_id", "=", row.account_id)
        .where("id", "=", row.event_id)
        .executeTakeFirstOrThrow();
      const { data } = JSON.parse(new TextDecoder().decode(event.body)) as { data: never };
      await inAccount(db, row.account_id, reaction.emits ?? [], (context) =>
        reaction.handler(data, context),
      );
    });
  };

  const putOff = async (row: ReactionRow, error: unknown): Promise<void> => {
    const failures = row.failures + 1;
    const state = failures < mostFailures ? "pending" : "dead";
    const last_error = error instanceof Error ? error.message : String(error);
    log.error(
      { err: error, event: row.event_id, failures },
      `The reaction "${row.reaction}" failed`,
    );
    const due_ms = clock.ms() + 1000 * 2 ** failures;
    await store.write((db) => mark(db, row, { failures, state, last_error, due_ms }));
  };

  const look = async (): Promise<number> => {
    if (byName.size === 0) return never;
    const some = await store.read(due);
    for (const row of some) await run(row).catch((error: unknown) => putOff(row, error));
    return some.length === slice ? 0 : poll;
  };
  return createLoop(look, (error) =>
    log.error({ err: error }, "The reactions could not be worked off"),
  );
}
