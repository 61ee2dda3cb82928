import { type Database, open, type Store, type StoreOptions, tables } from "../../core/db/mod.ts";
import { temporaryDir } from "../fixture.ts";

/** Two tables without a domain: notes, and lines that must belong to one of them by the time of the commit. */
export const notesMigrations = {
  "0001_create": [
    "create table notes (id text primary key, text text not null)",
    `create table lines (
      id text primary key, note_id text not null references notes (id) deferrable initially deferred)`,
  ],
};

interface Tables {
  notes: { id: string; text: string };
  lines: { id: string; note_id: string };
}

/** The tables of `notesMigrations`. */
export const notes = (db: Database) => tables<Tables>(db);

/** Adds a note. */
export async function addNote(db: Database, id: string, text = ""): Promise<void> {
  await notes(db).insertInto("notes").values({ id, text }).execute();
}

/** The ids of all notes, sorted. */
export async function noteIds(store: Store): Promise<string[]> {
  const rows = await store.read((db) =>
    notes(db).selectFrom("notes").select("id").orderBy("id").execute(),
  );
  return rows.map(({ id }) => id);
}

/** A store with those tables in a directory of its own. */
export interface OpenStore extends AsyncDisposable {
  readonly store: Store;
  readonly dir: string;
}

/** Opens one. */
export function openStore(plugins: NonNullable<StoreOptions["plugins"]> = []): OpenStore {
  const { dir, [Symbol.dispose]: remove } = temporaryDir();
  const migrations = [{ plugin: "notes", migrations: notesMigrations }];
  const store = open({ dataDir: dir, migrations, plugins });
  return {
    store,
    dir,
    async [Symbol.asyncDispose]() {
      await store.close();
      remove();
    },
  };
}

/** What a promise was rejected with. */
export async function refusal(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error("It was expected to be refused");
}
