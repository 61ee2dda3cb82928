import {
  choice,
  codec,
  type Context,
  defineEvent,
  defineGuard,
  defineOperation,
  definePlugin,
  newId,
  notFound,
  nullable,
  pageInput,
  pageOf,
  paginate,
  Problem,
  ref,
  type Row,
  secret,
  t,
  tables,
  text,
} from "#core";

const Note = t.Object({
  id: t.String(),
  text: text(1000),
  tags: t.Array(t.String()),
  version: t.Integer(),
});

const note = codec(Note);

type Stored = Row<{ id: string; text: string; tags: string[]; version: number }>;

const open = (db: Context["db"]) => tables<{ notes: Stored & { account_id: string } }>(db);

/** A note was made. */
export const noted = defineEvent({
  name: "notes.noted",
  summary: "A note was made.",
  scope: "notes:read",
  listing: null,
  echo_guarded: true,
  payload: t.Object({ id: t.String(), text: t.String() }),
});

const other = defineEvent({
  name: "notes.other",
  summary: "Something else happened.",
  scope: null,
  listing: null,
  payload: t.Object({ id: t.String() }),
});

const add = async (context: Context<never>, words: string, tags: string[] = []) => {
  const made = { id: newId(), text: words, tags, version: 1 };
  const row = { ...note.encode(made), account_id: context.access.account_id };
  await open(context.db).insertInto("notes").values(row).execute();
  return made;
};

const input = t.Object({
  text: text(1000, { minLength: 1 }),
  tags: t.Array(text(40), { maxItems: 10, default: [] }),
  author: t.Optional(nullable(text(80, { "x-personal": true }))),
  guest: t.Optional(t.Object({ name: text(80, { "x-personal": true }), age: t.Integer() })),
  pin: t.Optional(secret()),
  metadata: t.Optional(t.Record(text(40), text(500))),
});

const Done = t.Object({ done: t.Boolean() });

/** Notes: a domain to try calls with. What runs is written down in `trail`, in its order. */
export function notesPlugin(trail: string[] = []) {
  const create = defineOperation({
    name: "notes.create",
    summary: "Make a note.",
    route: "POST /notes",
    scope: "notes:write",
    status: 201,
    input,
    output: Note,
    emits: [noted],
    async prepare(given) {
      // Longer than a unit may take.
      if (given.text === "slow") await Bun.sleep(400);
      trail.push("prepare");
      return given.text.toUpperCase();
    },
    async handler(given, context, shouted) {
      trail.push(`handler ${shouted}`);
      const made = await add(context, given.text, given.tags);
      context.emit(noted, { id: made.id, text: made.text });
      return made;
    },
  });

  const get = defineOperation({
    name: "notes.get",
    summary: "Read a note.",
    route: "GET /notes/:id",
    scope: "notes:read",
    input: t.Object({ id: ref("note") }),
    output: Note,
    async handler({ id }, { db, access: { account_id } }) {
      const [row] = await open(db)
        .selectFrom("notes")
        .select(["id", "text", "tags", "version"])
        .where("account_id", "=", account_id)
        .where("id", "=", id)
        .execute();
      if (row === undefined) throw notFound("note", id);
      return note.decode(row);
    },
  });

  const list = defineOperation({
    name: "notes.list",
    summary: "List notes.",
    route: "GET /notes",
    scope: "notes:read",
    input: t.Object({ tag: t.Optional(t.Array(t.String())), ...pageInput(["text"]) }),
    output: pageOf(Note),
    async handler(given, { db, access: { account_id } }) {
      const query = open(db)
        .selectFrom("notes")
        .select(["id", "text", "tags", "version"])
        .where("account_id", "=", account_id);
      const { data, page } = await paginate(query, given);
      return { data: data.map((row) => note.decode(row)), page };
    },
  });

  const premium = defineOperation({
    name: "notes.premium",
    summary: "Make a better note.",
    route: "POST /notes/premium",
    scope: "notes:write",
    plan: "pro",
    input: t.Object({}),
    output: Done,
    async handler() {
      trail.push("premium");
      return { done: true };
    },
  });

  const mint = defineOperation({
    name: "notes.mint",
    summary: "Make a note with a key.",
    route: "POST /notes/mint",
    scope: "notes:write",
    status: 201,
    input: t.Object({}),
    output: t.Object({ id: t.String(), inside: t.Object({ key: secret() }) }),
    async handler(_given, context) {
      const { id } = await add(context, "minted");
      return { id, inside: { key: `mint_${crypto.randomUUID()}` } };
    },
  });

  const remark = defineOperation({
    name: "notes.remark",
    summary: "Announce something that is not guarded.",
    route: "POST /notes/remark",
    scope: "notes:write",
    input: t.Object({}),
    output: Done,
    emits: [other],
    async handler(_given, { emit }) {
      emit(other, { id: newId() });
      return { done: true };
    },
  });

  const failing = {
    undeclared: (emit: (event: never, payload: never) => void) =>
      emit(other as never, { id: "1" } as never),
    misshapen: (emit: (event: never, payload: never) => void) =>
      emit(noted as never, { id: 7, text: "the safe is behind the mirror" } as never),
    error: () => {
      throw new Error("the safe is behind the mirror");
    },
    full: () => {
      throw Object.assign(new Error("the safe is behind the mirror"), { code: "SQLITE_FULL" });
    },
    problem: () => {
      throw new Problem("duplicate", "There is such a note already", { extra: { note: 1 } });
    },
    text: () => {
      // oxlint-disable-next-line only-throw-error -- a library may throw anything.
      throw "the safe is behind the mirror";
    },
  };

  const fail = defineOperation({
    name: "notes.fail",
    summary: "Make a note, announce it, and fail.",
    route: "POST /notes/fail",
    scope: "notes:write",
    input: t.Object({ how: choice(Object.keys(failing) as (keyof typeof failing)[]) }),
    output: Note,
    emits: [noted],
    async handler({ how }, context) {
      const made = await add(context, `failed: ${how}`);
      context.emit(noted, { id: made.id, text: made.text });
      failing[how](context.emit as never);
      return made;
    },
  });

  const mayNote = defineGuard({
    name: "notes.may_note",
    on: create as never,
    async check(given: { text: string }, { db, access: { account_id } }: Context) {
      trail.push("guard");
      await open(db)
        .selectFrom("notes")
        .select("id")
        .where("account_id", "=", account_id)
        .execute();
      if (given.text === "held")
        throw new Problem("invalid_transition", "Somebody has to approve this first");
    },
  });

  return definePlugin({
    name: "notes",
    summary: "Notes of a team.",
    operations: { create, get, list, premium, mint, remark, fail },
    events: { noted, other },
    guards: { may_note: mayNote },
    // Keys refer to listings, so that somebody must make them.
    records: { note: create, listing: create },
    migrations: {
      "0001_create": [
        `create table notes (
          id text primary key, account_id text not null, text text not null, tags text not null,
          version integer not null)`,
      ],
    },
  });
}
