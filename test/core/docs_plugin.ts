/**
 * A small domain for the tests of the documentation: one of each kind of field and of declaration.
 *
 * @module
 */

import {
  choice,
  defineEvent,
  defineOperation,
  definePlugin,
  defineRoute,
  nullable,
  pageInput,
  pageOf,
  ref,
  secret,
  t,
  text,
} from "../../core/mod.ts";

const rooms = ["hall", "attic"] as const;

const Shelf = t.Object(
  {
    id: t.String(),
    label: text(40, { examples: ["Travel"] }),
    room: nullable(choice(rooms)),
    note: nullable(text(80), { description: "For the team." }),
    tags: t.Record(t.String(), t.String()),
    size: t.Union([t.Literal(1), t.Literal("large")]),
    keeper: t.Union([t.String(), t.Number(), t.Null()]),
    version: t.Integer(),
  },
  { title: "Shelf" },
);

const moved = defineEvent({
  name: "shelf.moved",
  summary: "A shelf went to another room.",
  schema_version: 2,
  scope: "shelves:read",
  listing: null,
  payload: Shelf,
});

const shelf = {
  id: "s1",
  label: "Travel",
  room: null,
  note: null,
  tags: {},
  size: 1 as const,
  keeper: null,
  version: 3,
};

const create = defineOperation({
  name: "shelves.create",
  summary: "Put up a shelf.",
  route: "POST /shelves",
  scope: "shelves:write",
  status: 201,
  input: t.Object({
    label: text(40, { minLength: 1, examples: ["Travel"] }),
    library_id: ref("shelf"),
    room: choice(rooms, { default: "hall" }),
  }),
  output: Shelf,
  handler: async () => shelf,
});

const list = defineOperation({
  name: "shelves.list",
  summary: "List shelves.",
  route: "GET /shelves",
  scope: "shelves:read",
  input: t.Object({
    rooms: t.Optional(t.Array(choice(rooms), { description: "One or several." })),
    ...pageInput(["label"]),
  }),
  output: pageOf(Shelf),
  handler: async () => ({ data: [shelf], page: { next_cursor: null, has_more: false, limit: 50 } }),
});

const get = defineOperation({
  name: "shelves.get",
  summary: "Read a shelf.",
  route: "GET /shelves/:id",
  scope: "shelves:read",
  input: t.Object({ id: ref("shelf") }),
  output: Shelf,
  handler: async () => shelf,
});

const update = defineOperation({
  name: "shelves.update",
  summary: "Change a shelf.",
  route: "PATCH /shelves/:id",
  scope: "shelves:write",
  plan: "pro",
  input: t.Object({
    id: ref("shelf"),
    label: t.Optional(text(40)),
    room: t.Optional(choice(rooms)),
    code: t.Optional(secret()),
  }),
  output: Shelf,
  emits: [moved],
  problems: ["duplicate"],
  handler: async () => shelf,
});

const remove = defineOperation({
  name: "shelves.remove",
  summary: "Take a shelf down.",
  route: "DELETE /shelves/:id",
  scope: "shelves:write",
  input: t.Object({ id: ref("shelf") }),
  output: Shelf,
  handler: async () => shelf,
});

const dust = defineOperation({
  name: "shelves.dust",
  summary: "Dust a shelf.",
  route: "POST /shelves/:id/dust",
  scope: "shelves:write",
  body: "optional",
  input: t.Object({ id: ref("shelf"), cloth: text(20) }),
  output: t.Object({ clean: t.Boolean() }),
  handler: async () => ({ clean: true }),
});

const picture = defineRoute({
  name: "shelves.picture",
  summary: "See a shelf.",
  route: "GET /pictures/:token",
  scope: "public",
  handler: () => new Response("a shelf"),
});

/** Shelves. */
export const shelvesPlugin = definePlugin({
  name: "shelves",
  summary: "Where books stand.",
  operations: { create, list, get, update, remove, dust },
  events: { moved },
  routes: { picture },
  // Keys may be restricted to listings, so somebody has to make one.
  records: { shelf: create, listing: create },
});
