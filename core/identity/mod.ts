/**
 * Identity: whose data it is, who asks for it, and with which right.
 *
 * @module
 */

import { defineOperation, definePlugin } from "../plugin/define.ts";
import { nullable, t } from "../plugin/schema.ts";
import { identityTables, migrations } from "./tables.ts";

export {
  findUser,
  insertAccount,
  listAccounts,
  membershipsOf,
  prepareAccount,
  setPlan,
} from "./accounts.ts";
export { apiKeysPlugin } from "./api_keys.ts";
export { type Authenticate, challenge, createAuthenticator } from "./authenticate.ts";
export { createLastUsed, insertKey } from "./keys.ts";
export { covers, isScope } from "./scopes.ts";
export { isSetupToken, newSetupLink, useSetupToken } from "./setup_link.ts";

const me = defineOperation({
  name: "identity.me",
  summary: "Tell who is calling: the account, the credential and what it may do.",
  route: "GET /me",
  scope: null,
  input: t.Object({}),
  output: t.Object({
    account: t.Object({
      id: t.String(),
      name: t.String({ examples: ["Lake homes"] }),
      plan: t.String({ examples: ["enterprise"] }),
    }),
    credential: t.Object({
      kind: t.String({ examples: ["api_key"] }),
      id: nullable(t.String()),
      label: t.String({ examples: ["Channel sync"] }),
      scopes: t.Array(t.String(), { examples: [["listings:read"]] }),
      listing_ids: nullable(t.Array(t.String()), {
        description: "Null where all listings are open.",
      }),
    }),
  }),
  async handler(_input, { db, access, actor, scopes }) {
    const account = await identityTables(db)
      .selectFrom("identity_accounts")
      .select(["id", "name", "plan"])
      .where("id", "=", access.account_id)
      .executeTakeFirstOrThrow();
    const listing_ids = access.listing_ids === "all" ? null : [...access.listing_ids];
    return {
      account,
      credential: {
        kind: actor.kind,
        id: actor.credential_id,
        label: actor.label,
        scopes: [...scopes],
        listing_ids,
      },
    };
  },
});

/** Accounts and people, as a plugin of core. */
export const identityPlugin = definePlugin({
  name: "identity",
  summary: "Accounts, people and credentials.",
  operations: { me },
  migrations,
});
