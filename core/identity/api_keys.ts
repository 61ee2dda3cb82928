/**
 * API keys as their holders manage them.
 *
 * @module
 */

import { defaultTier } from "../config/mod.ts";
import { type Access, type Database, pageInput, pageOf, paginate } from "../db/mod.ts";
import { defineOperation, definePlugin } from "../plugin/define.ts";
import { invalid, notFound, Problem } from "../plugin/problem.ts";
import { instant, nullable, ref, secret, type Static, t } from "../plugin/schema.ts";
import type { Context } from "../plugin/types.ts";
import { insertKey } from "./keys.ts";
import { isScope, mayGrant } from "./scopes.ts";
import { type ApiKeyRow, identityTables } from "./tables.ts";

const scopes = t.Array(
  t.String({ pattern: "^(\\*|[a-z_]+|\\*:[a-z_]+|[a-z_]+:\\*|[a-z_]+:[a-z_]+)$" }),
  {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    examples: [["listings:read", "reservations:read"]],
    description: "`resource:action`; `*` stands for all, alone or on either side of the colon.",
  },
);

const ApiKey = t.Object({
  id: t.String(),
  label: t.String({ examples: ["Channel sync"] }),
  prefix: t.String({
    examples: ["ik_live_8fK2qZ"],
    description: "The beginning of the key, to know it by.",
  }),
  scopes,
  listing_ids: nullable(t.Array(t.String()), {
    description: "The listings it is restricted to; null for all.",
  }),
  tier: t.String({ examples: ["enterprise"], description: "Its limit of requests per minute." }),
  created_by: t.String({ description: "The credential or person that made it." }),
  created_at: instant(),
  updated_at: instant(),
  expires_at: nullable(instant()),
  revoked_at: nullable(instant()),
  last_used_at: nullable(instant(), { description: "Written down every few seconds." }),
  version: t.Integer(),
});

type ApiKey = Static<typeof ApiKey>;

const NewApiKey = t.Composite([
  t.Object({
    key: secret({ examples: ["ik_live_…"], description: "The key. It is shown this once." }),
  }),
  ApiKey,
]);

const list = (json: string): string[] => JSON.parse(json) as string[];

function shown({ hash: _hash, account_id: _account, ...row }: ApiKeyRow): ApiKey {
  return {
    ...row,
    scopes: list(row.scopes),
    listing_ids: row.listing_ids === null ? null : list(row.listing_ids),
  };
}

/** A key that the caller may see: whoever is restricted to listings sees those that it made itself. */
async function find({ access, actor, db }: Context, id: string): Promise<ApiKeyRow> {
  const row = await identityTables(db)
    .selectFrom("identity_api_keys")
    .selectAll()
    .where("account_id", "=", access.account_id)
    .where("id", "=", id)
    .executeTakeFirst();
  const hidden = access.listing_ids !== "all" && row?.created_by !== actor.credential_id;
  if (row === undefined || hidden) throw notFound("api_key", id);
  return row;
}

async function change(
  { account_id }: Access,
  db: Database,
  row: ApiKeyRow,
  fields: Partial<ApiKeyRow>,
  now: string,
): Promise<ApiKeyRow> {
  const changed = { ...fields, updated_at: now, version: row.version + 1 };
  await identityTables(db)
    .updateTable("identity_api_keys")
    .set(changed)
    .where("account_id", "=", account_id)
    .where("id", "=", row.id)
    .execute();
  return { ...row, ...changed };
}

/** Nobody gives away what he lacks: scopes, listings. */
function mustHold(
  { scopes, access, known_scopes }: Context,
  wanted: readonly string[],
  listing_ids: readonly string[] | null,
): void {
  const unknown = wanted.filter((scope) => !isScope(scope, known_scopes));
  if (unknown.length > 0) {
    throw invalid(
      "scopes",
      "not_allowed",
      `Unknown scopes: ${unknown.join(", ")}. There are: *, ${known_scopes.join(", ")}`,
    );
  }
  const lacking = wanted.filter((scope) => !mayGrant(scopes, scope));
  if (lacking.length > 0) {
    throw new Problem(
      "insufficient_scope",
      `This credential cannot grant what it lacks: ${lacking.join(", ")}`,
      {
        extra: { required_scopes: lacking, granted_scopes: scopes },
      },
    );
  }
  if (access.listing_ids === "all") return;
  const held = new Set(access.listing_ids);
  const beyond =
    listing_ids === null ? ["all listings"] : listing_ids.filter((id) => !held.has(id));
  if (beyond.length > 0) {
    throw new Problem(
      "listing_not_permitted",
      `This credential is restricted to listings: it cannot grant ${beyond.join(", ")}`,
    );
  }
}

/** What a new key takes over from the one that makes it: the tier, and an end no later than its own. */
async function heritage({
  db,
  access,
  actor,
}: Context): Promise<Pick<ApiKeyRow, "tier" | "expires_at">> {
  const nothing = { tier: defaultTier, expires_at: null };
  if (actor.credential_id === null) return nothing;
  const maker = await identityTables(db)
    .selectFrom("identity_api_keys")
    .select(["tier", "expires_at"])
    .where("account_id", "=", access.account_id)
    .where("id", "=", actor.credential_id)
    .executeTakeFirst();
  return maker ?? nothing;
}

/** Exported for the guard of whoever owns the listings: core knows none. */
export const create = defineOperation({
  name: "api_keys.create",
  summary: "Make an API key, with at most the rights of the credential that makes it.",
  route: "POST /api-keys",
  scope: "api_keys:write",
  status: 201,
  input: t.Object({
    label: t.String({ minLength: 1, maxLength: 80, examples: ["Channel sync"] }),
    scopes,
    listing_ids: t.Optional(
      nullable(t.Array(ref("listing"), { minItems: 1, maxItems: 1000, uniqueItems: true })),
    ),
    expires_at: t.Optional(nullable(instant({ examples: ["2030-01-01T00:00:00Z"] }))),
  }),
  output: NewApiKey,
  problems: ["insufficient_scope", "listing_not_permitted", "not_found"],
  async handler(input, context) {
    const { db, access, actor, now } = context;
    const listing_ids = input.listing_ids ?? null;
    mustHold(context, input.scopes, listing_ids);
    const { tier, expires_at: end } = await heritage(context);
    const expires_at = input.expires_at ?? end;
    if (expires_at !== null && expires_at <= now) {
      throw invalid("expires_at", "too_early", '"expires_at" must lie in the future');
    }
    if (end !== null && expires_at !== null && expires_at > end) {
      throw invalid(
        "expires_at",
        "too_late",
        `"expires_at" must not be later than ${end}, when this key itself ends`,
      );
    }
    const { row, key } = await insertKey(
      db,
      {
        account_id: access.account_id,
        label: input.label,
        scopes: input.scopes,
        listing_ids,
        tier,
        expires_at,
        created_by: actor.credential_id ?? actor.user_id ?? actor.kind,
      },
      now,
    );
    return { key, ...shown(row) };
  },
});

const listKeys = defineOperation({
  name: "api_keys.list",
  summary: "List the account's API keys, without the keys themselves.",
  route: "GET /api-keys",
  scope: "api_keys:read",
  input: t.Object({ ...pageInput(["-created_at", "label"]) }),
  output: pageOf(ApiKey),
  async handler(input, { db, access, actor }) {
    let query = identityTables(db)
      .selectFrom("identity_api_keys")
      .selectAll()
      .where("account_id", "=", access.account_id);
    if (access.listing_ids !== "all")
      query = query.where("created_by", "=", actor.credential_id ?? "");
    const { data, page } = await paginate(query, input);
    return { data: data.map(shown), page };
  },
});

const get = defineOperation({
  name: "api_keys.get",
  summary: "Read one API key, without the key itself.",
  route: "GET /api-keys/:id",
  scope: "api_keys:read",
  input: t.Object({ id: ref("api_key") }),
  output: ApiKey,
  problems: ["not_found"],
  handler: async ({ id }, context) => shown(await find(context, id)),
});

const update = defineOperation({
  name: "api_keys.update",
  summary: "Rename an API key or narrow its scopes.",
  route: "PATCH /api-keys/:id",
  scope: "api_keys:write",
  input: t.Object({
    id: ref("api_key"),
    label: t.Optional(t.String({ minLength: 1, maxLength: 80 })),
    scopes: t.Optional(scopes),
  }),
  output: ApiKey,
  problems: ["not_found", "insufficient_scope", "version_mismatch"],
  async handler({ id, ...input }, context) {
    const { db, access, now } = context;
    const row = await find(context, id);
    context.expect(row);
    if (input.scopes !== undefined) {
      mustHold(context, input.scopes, row.listing_ids === null ? null : list(row.listing_ids));
    }
    const fields: Partial<ApiKeyRow> = {};
    if (input.label !== undefined) fields.label = input.label;
    if (input.scopes !== undefined) fields.scopes = JSON.stringify(input.scopes);
    return shown(await change(access, db, row, fields, now));
  },
});

const revoke = defineOperation({
  name: "api_keys.revoke",
  summary: "Revoke an API key: its next call is refused.",
  route: "DELETE /api-keys/:id",
  scope: "api_keys:write",
  input: t.Object({ id: ref("api_key") }),
  output: ApiKey,
  problems: ["not_found", "version_mismatch"],
  async handler({ id }, context) {
    const { db, access, now, expect } = context;
    const row = await find(context, id);
    expect(row);
    return shown(
      row.revoked_at === null ? await change(access, db, row, { revoked_at: now }, now) : row,
    );
  },
});

/** API keys, as a plugin of core. */
export const apiKeysPlugin = definePlugin({
  name: "api_keys",
  summary: "Keys for programs.",
  operations: { create, list: listKeys, get, update, revoke },
  records: { api_key: create },
});
