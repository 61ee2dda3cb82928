/**
 * What can be done with guests.
 *
 * @module
 */

import { defineOperation, instant, pageInput, pageOf, ref, t, text } from "#core";

import { Guest, GuestChange, NewGuest } from "./schema.ts";
import * as store from "./store.ts";

export const create = defineOperation({
  name: "guests.create",
  summary: "Add a guest.",
  route: "POST /guests",
  scope: "guests:write",
  whole_account: true,
  status: 201,
  input: NewGuest,
  output: Guest,
  handler: async (input, context) => await store.insert(context, input),
});

export const list = defineOperation({
  name: "guests.list",
  summary: "List guests, the newest first.",
  route: "GET /guests",
  scope: "guests:read",
  whole_account: true,
  input: t.Object({
    q: t.Optional(
      text(100, { minLength: 1, description: "A part of the name or the e-mail address." }),
    ),
    email: t.Optional(t.String({ format: "email", maxLength: 254 })),
    updated_since: t.Optional(instant()),
    ...pageInput(["-created_at", "full_name"]),
  }),
  output: pageOf(Guest),
  tool: { name: "search_guests", title: "Search guests", toolset: "guests" },
  handler: async (input, { db, access }) => await store.list(access, db, input),
});

export const get = defineOperation({
  name: "guests.get",
  summary: "Read one guest.",
  route: "GET /guests/:id",
  scope: "guests:read",
  whole_account: true,
  input: t.Object({ id: ref("guest") }),
  output: Guest,
  problems: ["not_found"],
  tool: { name: "get_guest", title: "Read a guest", toolset: "guests" },
  handler: async ({ id }, { db, access }) => await store.find(access, db, id),
});

export const update = defineOperation({
  name: "guests.update",
  summary: "Change what is known of a guest.",
  route: "PATCH /guests/:id",
  scope: "guests:write",
  whole_account: true,
  input: t.Composite([t.Object({ id: ref("guest") }), GuestChange]),
  output: Guest,
  problems: ["not_found", "version_mismatch"],
  async handler({ id, ...input }, { db, access, now, expect }) {
    const before = await store.find(access, db, id);
    expect(before);
    if (Object.keys(input).length === 0) return before;
    await store.update(access, db, id, { ...input, updated_at: now, version: before.version + 1 });
    return await store.find(access, db, id);
  },
});
