/**
 * What can be done with listings.
 *
 * @module
 */

import {
  choice,
  type Context,
  covers,
  defineOperation,
  instant,
  mustPermit,
  newId,
  pageInput,
  pageOf,
  Problem,
  ref,
  t,
  text,
} from "#core";

import { updated } from "./events.ts";
import { Listing, ListingChange, NewListing } from "./schema.ts";
import * as store from "./store.ts";

/** How to get in is for those only who may know. */
function shown(listing: Listing, scopes: readonly string[]): Listing {
  if (covers(scopes, "listings:read_sensitive")) return listing;
  return { ...listing, wifi_password: null, access_instructions: null };
}

function tell(
  { emit }: Context<typeof updated>,
  listing: Listing,
  change: "created" | "updated" | "archived",
  changed_fields: readonly string[],
): void {
  const { wifi_password: _password, access_instructions: _access, ...open } = listing;
  const { id: listing_id, title: listing_title } = listing;
  emit(updated, {
    ...open,
    listing_id,
    listing_title,
    change,
    changed_fields: [...changed_fields],
  });
}

export const create = defineOperation({
  name: "listings.create",
  summary: "Add a listing.",
  route: "POST /listings",
  scope: "listings:write",
  status: 201,
  input: NewListing,
  output: Listing,
  emits: [updated],
  problems: ["not_found", "listing_not_permitted", "duplicate"],
  async handler(input, context) {
    const { db, access, now, scopes } = context;
    // Whoever is restricted to listings could not see the one that he makes.
    const id = newId();
    mustPermit(access, id);
    if (input.parent_listing_id !== null) await store.find(access, db, input.parent_listing_id);
    const { account_id } = access;
    const record = {
      id,
      account_id,
      ...input,
      archived_at: null,
      created_at: now,
      updated_at: now,
      version: 1,
    };
    const listing = await store.insert(access, db, record);
    tell(context, listing, "created", Object.keys(input));
    return shown(listing, scopes);
  },
});

export const list = defineOperation({
  name: "listings.list",
  summary: "List listings, the newest first.",
  route: "GET /listings",
  scope: "listings:read",
  input: t.Object({
    status: t.Optional(
      t.Array(choice(["draft", "active", "inactive", "archived"]), {
        description: "One or several.",
      }),
    ),
    q: t.Optional(
      text(100, { minLength: 1, description: "A part of the title or the internal name." }),
    ),
    tag: t.Optional(text(40, { minLength: 1 })),
    external_id: t.Optional(text(200, { minLength: 1 })),
    updated_since: t.Optional(instant()),
    created_since: t.Optional(instant()),
    ...pageInput(["-created_at", "title", "updated_at"]),
  }),
  output: pageOf(Listing),
  tool: {
    name: "list_listings",
    title: "List listings",
    toolset: "core",
    line: ["title", "status", "timezone", "currency", "base_price", "max_guests"],
  },
  async handler(input, { db, access, scopes }) {
    const { data, page } = await store.list(access, db, input);
    return { data: data.map((listing) => shown(listing, scopes)), page };
  },
});

export const get = defineOperation({
  name: "listings.get",
  summary: "Read one listing.",
  route: "GET /listings/:id",
  scope: "listings:read",
  input: t.Object({ id: ref("listing") }),
  output: Listing,
  problems: ["not_found", "listing_not_permitted"],
  tool: { name: "get_listing", title: "Read a listing", toolset: "core" },
  handler: async ({ id }, { db, access, scopes }) =>
    shown(await store.find(access, db, id), scopes),
});

export const update = defineOperation({
  name: "listings.update",
  summary: "Change a listing.",
  description:
    "Only the fields that are given change. Stays that lie ahead follow a new time zone and new times.",
  route: "PATCH /listings/:id",
  scope: "listings:write",
  input: t.Composite([t.Object({ id: ref("listing") }), ListingChange]),
  output: Listing,
  emits: [updated],
  problems: [
    "not_found",
    "listing_not_permitted",
    "duplicate",
    "invalid_transition",
    "version_mismatch",
  ],
  tool: { name: "update_listing", title: "Change a listing", toolset: "core" },
  async handler({ id, ...input }, context) {
    const { db, access, now, scopes, expect } = context;
    const before = await store.find(access, db, id);
    expect(before);
    if (before.status === "archived") throw archived(id);
    if (typeof input.parent_listing_id === "string")
      await mustBeAbove(context, id, input.parent_listing_id);
    const changed = changedFields(before, store.settled(before, input));
    if (changed.length === 0) return shown(before, scopes);
    const change = { ...input, updated_at: now, version: before.version + 1 };
    await store.update(access, db, before, change);
    const after = await store.find(access, db, id);
    tell(context, after, "updated", changed);
    return shown(after, scopes);
  },
});

export const archive = defineOperation({
  name: "listings.archive",
  summary: "Put a listing out of use; its history stays.",
  description: "Refused while stays lie ahead, unless `force` is true.",
  route: "POST /listings/:id/archive",
  scope: "listings:write",
  input: t.Object({
    id: ref("listing"),
    force: t.Boolean({ default: false, description: "Even though stays lie ahead." }),
  }),
  output: Listing,
  emits: [updated],
  problems: ["not_found", "listing_not_permitted", "invalid_transition", "version_mismatch"],
  async handler({ id }, context) {
    const { db, access, now, scopes, expect } = context;
    const before = await store.find(access, db, id);
    expect(before);
    if (before.status === "archived") return shown(before, scopes);
    const change = {
      status: "archived",
      archived_at: now,
      updated_at: now,
      version: before.version + 1,
    } as const;
    await store.update(access, db, before, change);
    const after: Listing = { ...before, ...change };
    tell(context, after, "archived", ["status", "archived_at"]);
    return shown(after, scopes);
  },
});

/** Throws where a listing cannot be a unit of another: of none, of itself, or of one that is a unit of it. */
async function mustBeAbove({ db, access }: Context, id: string, parent: string): Promise<void> {
  if (parent === id)
    throw new Problem("invalid_transition", "A listing cannot be a unit of itself");
  await store.find(access, db, parent);
  if (!(await store.isUnitOf(access, db, parent, id))) return;
  throw new Problem(
    "invalid_transition",
    `Listing "${parent}" is a unit of listing "${id}" itself, directly or through others: name another parent`,
  );
}

function archived(id: string): Problem {
  return new Problem(
    "invalid_transition",
    `Listing "${id}" is archived and cannot be changed any more`,
    {
      extra: { current_status: "archived", allowed: [] },
    },
  );
}

/** Which of the given fields differ from what is there. */
function changedFields(before: Listing, input: ListingChange): string[] {
  const old = before as Record<string, unknown>;
  return Object.entries(input)
    .filter(([name, value]) => !Bun.deepEquals(value, old[name], true))
    .map(([name]) => name);
}
