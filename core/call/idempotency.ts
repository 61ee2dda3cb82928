/**
 * Idempotency: the answer of a write that took effect is kept for a day, in the unit of the write itself, and given
 * again to whoever repeats the request with the same `Idempotency-Key`. A write that was refused changed nothing, so
 * repeating it simply tries again.
 *
 * @module
 */

import { acrossAccounts, type Database, instantOf, type Migrations, tables } from "../db/mod.ts";
import { defineJob } from "../plugin/define.ts";
import { Problem } from "../plugin/problem.ts";
import type { Secrets } from "../secrets/mod.ts";

/** The key that a caller has given, and what it was given for. */
export interface IdempotencyKey {
  readonly key: string;
  /** A digest of method, path, query and body. */
  readonly request: string;
}

/** An answer as it was first given. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

interface AnswerRow {
  /** The credential; for sessions and the command line the account. */
  holder_id: string;
  key: string;
  account_id: string;
  request: string;
  status: number;
  body: string;
  encrypted: number;
  expires_at: string;
}

const answers = (db: Database) => tables<{ calls_answers: AnswerRow }>(db);

const life = 86_400_000;

/** Whose key it is. */
export interface Holder {
  readonly account_id: string;
  readonly holder_id: string;
}

/** The answer that was kept under a key, or nothing. Throws where the key stood for another request. */
export async function keptAnswer(
  db: Database,
  { account_id, holder_id }: Holder,
  { key, request }: IdempotencyKey,
  { secrets, now }: { secrets: Secrets; now: string },
): Promise<KeptAnswer | undefined> {
  const row = await answers(db)
    .selectFrom("calls_answers")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("holder_id", "=", holder_id)
    .where("key", "=", key)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.request !== request) {
    throw new Problem(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another request: take a new key for a new request",
    );
  }
  const { status, body, encrypted } = row;
  return {
    status,
    body: encrypted === 1 ? secrets.decrypt(body, `answer ${holder_id} ${key}`) : body,
  };
}

/** Keeps an answer under a key. */
export async function keepAnswer(
  db: Database,
  { account_id, holder_id }: Holder,
  { key, request }: IdempotencyKey,
  { status, body }: KeptAnswer,
  { secrets, now_ms, secret }: { secrets: Secrets; now_ms: number; secret: boolean },
): Promise<void> {
  const row: AnswerRow = {
    holder_id,
    key,
    account_id,
    request,
    status,
    body: secret ? secrets.encrypt(body, `answer ${holder_id} ${key}`) : body,
    encrypted: secret ? 1 : 0,
    expires_at: instantOf(now_ms + life),
  };
  await answers(db)
    .insertInto("calls_answers")
    .values(row)
    .onConflict((conflict) => conflict.columns(["holder_id", "key"]).doUpdateSet(row))
    .execute();
}

const expired = (db: Database, now: string) =>
  answers(acrossAccounts(db))
    .selectFrom("calls_answers")
    .select(["holder_id", "key"])
    .where("expires_at", "<=", now);

/** Removes answers that are older than a day. */
export const forgetAnswers = defineJob({
  name: "calls.forget_answers",
  summary: "Removes kept answers after a day.",
  schedule: "17 * * * *",
  pending: async (db, now) => (await expired(db, now).limit(1).execute()).length > 0,
  async handler({ db, now }) {
    const some = await expired(db, now).limit(500).execute();
    for (const { holder_id, key } of some) {
      await answers(acrossAccounts(db))
        .deleteFrom("calls_answers")
        .where("holder_id", "=", holder_id)
        .where("key", "=", key)
        .execute();
    }
    return some.length === 500;
  },
});

/** Its table. */
export const migrations: Migrations = {
  "0001_create": [
    `create table calls_answers (
      holder_id text not null, key text not null, account_id text not null, request text not null,
      status integer not null, body text not null, encrypted integer not null, expires_at text not null,
      primary key (holder_id, key))`,
    "create index calls_answers_expiry on calls_answers (expires_at)",
  ],
};
