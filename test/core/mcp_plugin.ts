import {
  choice,
  currency,
  defineOperation,
  definePlugin,
  defineTool,
  type Migrations,
  money,
  newId,
  notFound,
  nullable,
  pageInput,
  pageOf,
  paginate,
  Problem,
  ref,
  type Static,
  t,
  tables,
  text,
  timezone,
} from "#core";

const Cabin = t.Object({
  id: t.String(),
  name: text(80, { examples: ["Lake cabin"] }),
  kind: choice(["hut", "house"]),
  rate: money(),
  currency: currency(),
  timezone: timezone(),
  website: nullable(t.String({ format: "uri", maxLength: 200 })),
  note: nullable(t.String()),
});

type Cabin = Static<typeof Cabin>;

const open = (db: Parameters<typeof tables>[0]) =>
  tables<{ cabins: Cabin & { account_id: string } }>(db);

const Writable = t.Object({
  name: text(80, { minLength: 1 }),
  kind: choice(["hut", "house"]),
  rate: money({ default: "100.00" }),
  currency: currency({ default: "EUR" }),
  timezone: timezone({ default: "Europe/Rome" }),
  website: t.Optional(nullable(t.String({ format: "uri", maxLength: 200 }))),
  note: t.Optional(nullable(t.String({ maxLength: 500 }))),
});

const create = defineOperation({
  name: "cabins.create",
  summary: "Add a cabin.",
  description: "It can be let at once.",
  route: "POST /cabins",
  scope: "cabins:write",
  status: 201,
  input: Writable,
  output: Cabin,
  tool: { name: "create_cabin", title: "Add a cabin", toolset: "core" },
  async handler(input, { db, access: { account_id } }) {
    const cabin: Cabin = { website: null, note: null, ...input, id: newId() };
    await open(db)
      .insertInto("cabins")
      .values({ ...cabin, account_id })
      .execute();
    return cabin;
  },
});

const find = async (
  db: Parameters<typeof tables>[0],
  account_id: string,
  id: string,
): Promise<Cabin> => {
  const row = await open(db)
    .selectFrom("cabins")
    .selectAll()
    .where("account_id", "=", account_id)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) throw notFound("cabin", id);
  const { account_id: _account, ...cabin } = row;
  return cabin;
};

const get = defineOperation({
  name: "cabins.get",
  summary: "Read one cabin.",
  route: "GET /cabins/:id",
  scope: "cabins:read",
  input: t.Object({ id: ref("cabin") }),
  output: Cabin,
  tool: { name: "get_cabin", title: "Read a cabin", toolset: "core" },
  handler: async ({ id }, { db, access }) => await find(db, access.account_id, id),
});

const list = defineOperation({
  name: "cabins.list",
  summary: "List cabins.",
  route: "GET /cabins",
  scope: "cabins:read",
  input: t.Object({ kind: t.Optional(choice(["hut", "house"])), ...pageInput(["name"]) }),
  output: pageOf(Cabin),
  tool: { name: "list_cabins", title: "List cabins", toolset: "core" },
  async handler({ kind, ...input }, { db, access: { account_id } }) {
    let query = open(db).selectFrom("cabins").selectAll().where("account_id", "=", account_id);
    if (kind !== undefined) query = query.where("kind", "=", kind);
    const { data, page } = await paginate(query, input);
    return { data: data.map(({ account_id: _account, ...cabin }) => cabin), page };
  },
});

const rename = defineOperation({
  name: "cabins.rename",
  summary: "Give a cabin its name.",
  route: "PUT /cabins/:id/name",
  scope: "cabins:write",
  input: t.Object({ id: ref("cabin"), name: text(80, { minLength: 1 }) }),
  output: Cabin,
  tool: { name: "rename_cabin", title: "Rename a cabin", toolset: "admin", open_world: true },
  async handler({ id, name }, { db, access: { account_id } }) {
    const cabin = await find(db, account_id, id);
    await open(db)
      .updateTable("cabins")
      .set({ name })
      .where("account_id", "=", account_id)
      .where("id", "=", id)
      .execute();
    return { ...cabin, name };
  },
});

const remove = defineOperation({
  name: "cabins.delete",
  summary: "Remove a cabin.",
  route: "DELETE /cabins/:id",
  scope: "cabins:write",
  input: t.Object({ id: ref("cabin") }),
  output: Cabin,
  tool: { name: "delete_cabin", title: "Remove a cabin", toolset: "core" },
  async handler({ id }, { db, access: { account_id } }) {
    const cabin = await find(db, account_id, id);
    if (cabin.kind === "house") {
      throw new Problem("invalid_transition", "Houses cannot be removed", {
        extra: { allowed: ["hut"] },
      });
    }
    await open(db)
      .deleteFrom("cabins")
      .where("account_id", "=", account_id)
      .where("id", "=", id)
      .execute();
    return cabin;
  },
});

const breakDown = defineOperation({
  name: "cabins.break",
  summary: "Fail without a reason.",
  route: "POST /cabins/break",
  scope: "cabins:write",
  input: t.Object({}),
  output: t.Object({ done: t.Boolean() }),
  tool: { name: "break_cabin", title: "Fail", toolset: "admin" },
  handler: () => Promise.reject(new Error("the roof of secret-cabin fell in")),
});

const duplicate = defineTool({
  name: "duplicate_cabin",
  title: "Copy a cabin",
  toolset: "core",
  summary: "Add a cabin that is like another one.",
  scope: "cabins:write",
  read_only: false,
  input: t.Object({ id: ref("cabin"), name: text(80, { minLength: 1 }) }),
  output: t.Object({ from: Cabin, made: Cabin }),
  async handler({ id, name }, call) {
    const from = await call(get, { id });
    const { id: _id, ...same } = from;
    const made = await call(create, { ...same, name });
    return { from, made };
  },
});

const migrations: Migrations = {
  "0001_create": [
    `create table cabins (
      id text primary key, account_id text not null, name text not null, kind text not null, rate text not null,
      currency text not null, timezone text not null, website text, note text)`,
  ],
};

/** Cabins: enough of a domain for the tools of MCP. */
export const cabinsPlugin = definePlugin({
  name: "cabins",
  summary: "Cabins in the woods.",
  operations: { create, get, list, rename, delete: remove, break: breakDown },
  tools: { duplicate },
  migrations,
  // Keys may be restricted to listings: somebody must make them.
  records: { cabin: create, listing: create },
});
