/**
 * Health: is the process there, and can it do its work?
 *
 * @module
 */

import type { App } from "../../app.ts";
import { acrossAccounts, type Database, newUlid, tables } from "../../db/mod.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";

/** One look serves all that ask within so many milliseconds: asking costs the disk no more than this. */
const fresh = 1000;
/** So many bytes are written as a probe: about as many as a request writes, for less has room where that has none. */
const probeBytes = 64 * 1024;
/** A writer that has not answered by then is not alive. */
const patience = 3000;

interface Health {
  readonly database: boolean;
  readonly writer: boolean;
}

/** `/healthz` and `/readyz`. */
export function createHealth(app: App): Endpoint[] {
  let looked = Number.NEGATIVE_INFINITY;
  let health: Promise<Health> | undefined;
  const ready = (): Promise<Health> => {
    if (health === undefined || performance.now() - looked > fresh) {
      looked = performance.now();
      health = look(app);
    }
    return health;
  };

  return [
    endpoint(app, { path: "/healthz", answer: () => answer(200, { status: "ok" }) }),
    endpoint(app, {
      path: "/readyz",
      async answer() {
        const { database, writer } = await ready();
        const checks = { database: database ? "ok" : "failed", writer: writer ? "ok" : "failed" };
        const good = database && writer;
        return answer(good ? 200 : 503, { status: good ? "ready" : "unavailable", checks });
      },
    }),
  ];
}

function answer(status: number, body: object): Response {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  return new Response(JSON.stringify(body), { status, headers });
}

async function look({ store, log }: App): Promise<Health> {
  const well = async (what: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await within(patience, work());
      return true;
    } catch (error) {
      log.error({ err: error }, `Not ready: the ${what} failed its check`);
      return false;
    }
  };
  const [database, writer] = await Promise.all([
    well("database", () =>
      store.read((db) => meta(db).selectFrom("core_meta").select("key").limit(1).execute()),
    ),
    well("writer", () => store.write(touch)),
  ]);
  return { database, writer };
}

const meta = (db: Database) =>
  tables<{ core_meta: { key: string; value: string } }>(acrossAccounts(db));

/**
 * Writes for real: a commit that changes nothing goes well on a full disk too. It is one row, which takes the place of
 * the last one, so that the file does not grow.
 */
async function touch(db: Database): Promise<void> {
  await meta(db)
    .insertInto("core_meta")
    .values({ key: "probed", value: newUlid().padEnd(probeBytes, ".") })
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet(({ ref }) => ({ value: ref("excluded.value") })),
    )
    .execute();
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
