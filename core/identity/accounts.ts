/**
 * Accounts and their people.
 *
 * @module
 */

import { acrossAccounts, type Database, newId } from "../db/mod.ts";
import { type Detail, Problem } from "../plugin/problem.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";
import { type AccountRow, identityTables, type MembershipRow, type UserRow } from "./tables.ts";

/** What a new account is to be. */
export interface NewAccount {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** As many as an address that mail can be sent to may have (RFC 5321). */
const mostEmail = 254;

/** Checks what people type, all of it at once. */
function checkNewAccount({ name, email, password }: NewAccount): void {
  const details: Detail[] = [];
  const say = (field: string, code: string, message: string): void =>
    void details.push({ field, code, message });
  if (name.trim() === "" || name.length > 120)
    say("account", "required", "The account needs a name of 1 to 120 characters");
  // The length first: on a long text the pattern would take minutes.
  if (email.length > mostEmail)
    say("email", "too_long", `The e-mail address must have at most ${mostEmail} characters`);
  else if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email))
    say("email", "invalid_format", `"${email}" is no e-mail address`);
  if (password.length < 10)
    say("password", "too_short", "The password must have at least 10 characters");
  if (password.length > 200)
    say("password", "too_long", "The password must have at most 200 characters");
  if (details.length === 0) return;
  const message = details.map((detail) => detail.message).join("; ");
  throw new Problem("validation_failed", message, { details });
}

/** The user of an e-mail address. */
export async function findUser(db: Database, email: string): Promise<UserRow | undefined> {
  return await identityTables(db)
    .selectFrom("identity_users")
    .selectAll()
    .where("email", "=", email.toLowerCase())
    .executeTakeFirst();
}

/** Ready to be stored: the slow part, the password's hash, is done. */
export interface PreparedAccount {
  readonly name: string;
  readonly email: string;
  readonly password_hash: string;
  readonly existing: UserRow | undefined;
}

/** Prepares an account. Somebody who is known already shows it by the password. */
export async function prepareAccount(
  wanted: NewAccount,
  existing: UserRow | undefined,
): Promise<PreparedAccount> {
  checkNewAccount(wanted);
  if (existing !== undefined && !(await verifyPassword(wanted.password, existing.password_hash))) {
    throw new Problem(
      "duplicate",
      `"${wanted.email}" has a user already, with another password: give that one`,
    );
  }
  const password_hash = existing?.password_hash ?? (await hashPassword(wanted.password));
  return { name: wanted.name.trim(), email: wanted.email.toLowerCase(), password_hash, existing };
}

/** Stores an account and its owner. */
export async function insertAccount(
  db: Database,
  { name, email, password_hash, existing }: PreparedAccount,
  now: string,
): Promise<{ account_id: string; user_id: string }> {
  const account_id = newId();
  const user_id = existing?.id ?? newId();
  const rows = identityTables(db);
  await rows
    .insertInto("identity_accounts")
    .values({ id: account_id, name, plan: "enterprise", created_at: now })
    .execute();
  if (existing === undefined) {
    const user = {
      id: user_id,
      email,
      name: email.split("@")[0] ?? email,
      password_hash,
      created_at: now,
    };
    await rows.insertInto("identity_users").values(user).execute();
  }
  await rows
    .insertInto("identity_memberships")
    .values({ account_id, user_id, role: "owner", created_at: now })
    .execute();
  return { account_id, user_id };
}

/** All accounts, the oldest first. */
export async function listAccounts(db: Database): Promise<AccountRow[]> {
  return await identityTables(acrossAccounts(db))
    .selectFrom("identity_accounts")
    .selectAll()
    .orderBy("id")
    .execute();
}

/** In which accounts a person is, the oldest first. */
export async function membershipsOf(db: Database, user_id: string): Promise<MembershipRow[]> {
  return await identityTables(acrossAccounts(db))
    .selectFrom("identity_memberships")
    .selectAll()
    .where("user_id", "=", user_id)
    .orderBy("account_id")
    .execute();
}

/** Changes the plan of an account. */
export async function setPlan(
  db: Database,
  account_id: string,
  plan: AccountRow["plan"],
): Promise<boolean> {
  const { numUpdatedRows } = await identityTables(db)
    .updateTable("identity_accounts")
    .set({ plan })
    .where("id", "=", account_id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
