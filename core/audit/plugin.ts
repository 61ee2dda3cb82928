/**
 * The audit log's own operations and its sealing job.
 *
 * @module
 */

import { pageInput, pageOf, paginate } from "../db/mod.ts";
import { defineJob, defineOperation, definePlugin } from "../plugin/define.ts";
import { instant, nullable, type Static, t } from "../plugin/schema.ts";
import { sealSome, unsealed } from "./chain.ts";
import { auditTables, migrations } from "./tables.ts";

const Entry = t.Object({
  id: t.String(),
  at: instant(),
  actor: t.Object({
    kind: t.String({
      examples: ["api_key"],
      description: "api_key, oauth, session, cli or system.",
    }),
    credential_id: nullable(t.String()),
    user_id: nullable(t.String()),
    label: t.String({ examples: ["Channel sync"] }),
  }),
  surface: t.String({ examples: ["rest"], description: "rest, mcp, cli, dashboard or system." }),
  operation: t.String({ examples: ["listings.create"] }),
  request_id: t.String(),
  input: t.Unknown({ description: "What was asked, without secrets and personal data." }),
  outcome: t.String({ examples: ["ok"], description: "`ok`, or the code of the error." }),
  seal: nullable(
    t.Object(
      { position: t.Integer(), hash: t.String() },
      {
        description:
          "Its place in the account's hash chain; null until the next sealing, seconds later.",
      },
    ),
  ),
});

const listEntries = defineOperation({
  name: "audit.list",
  summary: "List who did what, newest first.",
  route: "GET /audit-log",
  scope: "audit:read",
  input: t.Object({
    operation: t.Optional(t.String({ maxLength: 100, examples: ["listings.create"] })),
    credential_id: t.Optional(t.String({ maxLength: 64 })),
    outcome: t.Optional(t.String({ maxLength: 64, examples: ["ok"] })),
    request_id: t.Optional(t.String({ maxLength: 64 })),
    since: t.Optional(instant({ description: "Not before this instant." })),
    until: t.Optional(instant({ description: "Before this instant." })),
    ...pageInput(["-id"]),
  }),
  output: pageOf(Entry),
  tool: { name: "search_audit_log", title: "Search the audit log", toolset: "admin" },
  async handler(input, { db, access, actor }) {
    let query = auditTables(db)
      .selectFrom("audit_entries")
      .selectAll()
      .where("account_id", "=", access.account_id);
    // Entries tell of all listings: whoever is restricted to some sees what it did itself.
    if (access.listing_ids !== "all")
      query = query.where("credential_id", "=", actor.credential_id);
    for (const field of ["operation", "credential_id", "outcome", "request_id"] as const) {
      const value = input[field];
      if (value !== undefined) query = query.where(field, "=", value);
    }
    if (input.since !== undefined) query = query.where("at", ">=", input.since);
    if (input.until !== undefined) query = query.where("at", "<", input.until);
    const { data, page } = await paginate(query, input);
    const shown = data.map((row): Static<typeof Entry> => ({
      id: row.id,
      at: row.at,
      actor: {
        kind: row.actor_kind,
        credential_id: row.credential_id,
        user_id: row.user_id,
        label: row.actor_label,
      },
      surface: row.surface,
      operation: row.operation,
      request_id: row.request_id,
      input: row.input === "" ? null : (JSON.parse(row.input) as unknown),
      outcome: row.outcome,
      seal:
        row.position === null || row.hash === null
          ? null
          : { position: row.position, hash: row.hash },
    }));
    return { data: shown, page };
  },
});

const seal = defineJob({
  name: "audit.seal",
  summary: "Seals new audit entries into the hash chain of their account.",
  schedule: "*/10 * * * * *",
  pending: async (db) => (await unsealed(db).limit(1).execute()).length > 0,
  handler: async ({ db }) => await sealSome(db),
});

/** The audit log as a plugin of core. */
export const auditPlugin = definePlugin({
  name: "audit",
  summary: "Who did what, by which door, and with which outcome.",
  operations: { list: listEntries },
  jobs: { seal },
  migrations,
});
