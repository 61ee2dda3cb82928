/**
 * A whole server on a temporary database, without a port: tests come in by the same door as everybody else. The guard
 * is on: a statement that forgets its account fails the test.
 *
 * @module
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type App, createApp, declared } from "../core/app.ts";
import { type Config, readConfig } from "../core/config/mod.ts";
import { accountGuard } from "../core/db/guard.ts";
import { acrossAccounts, type Clock, tables } from "../core/db/mod.ts";
import { insertAccount, insertKey, listAccounts } from "../core/identity/mod.ts";
import type { Plugin } from "../core/plugin/types.ts";
import { plugins as allPlugins } from "../plugins/mod.ts";
import { type Authority, makeAuthority, startReceiver, type TlsReceiver } from "./tls.ts";

/** How a test wants its server. */
export interface ServeOptions {
  readonly plugins?: readonly Plugin[];
  readonly clock?: Clock;
  /** `INNKEEP_…` without the prefix. */
  readonly env?: Readonly<Record<string, string>>;
  /** Deliver, react and run jobs; off where a test wants to look before anything is worked off. */
  readonly start?: boolean;
  /** Goes on with the data of another server, which has stopped or was killed. */
  readonly dir?: string;
}

/** An answer, read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** JSON of any shape. */
// oxlint-disable-next-line no-explicit-any -- tests look into answers freely.
export type Json = any;

/** Calls the API as one credential. */
export type Client = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>;

/** A server under test. */
export interface Served {
  readonly app: App;
  readonly config: Config;
  readonly dir: string;
  /** The first account. */
  readonly account_id: string;
  /** A further account. */
  account(name?: string): Promise<string>;
  /** A key of an account (the first where none is named), and a client that sends it. */
  key(options?: KeyOptions): Promise<{ id: string; key: string; client: Client }>;
  /** A client with headers of its own, or with none. */
  client(headers?: Readonly<Record<string, string>>): Client;
  /** All rows of a table. */
  rows(table: string): Promise<Json[]>;
  /** The names of all events so far, in the order of their commits. */
  events(): Promise<string[]>;
  /** The payloads of the events of one name. */
  payloads(name: string): Promise<Json[]>;
  /** Stops the server; the data stays for another. */
  stop(): Promise<void>;
  /** Stops it and removes the data. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a key is to be. */
export interface KeyOptions {
  readonly account_id?: string;
  readonly scopes?: readonly string[];
  readonly listing_ids?: readonly string[] | null;
  readonly tier?: string;
  readonly expires_at?: string | null;
  readonly label?: string;
}

/** A directory that is gone after the test. */
export function temporaryDir(): { dir: string } & Disposable {
  const dir = mkdtempSync(join(tmpdir(), "innkeep-test-"));
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Starts a server. `await using server = await serve()` stops it at the end of the test. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), "innkeep-test-"));
  const plugins = options.plugins ?? allPlugins;
  const config = readConfig({
    INNKEEP_DATA_DIR: join(dir, "data"),
    INNKEEP_LOG_LEVEL: "fatal",
    INNKEEP_BASE_URL: "http://localhost:3000",
    ...Object.fromEntries(
      Object.entries(options.env ?? {}).map(([name, value]) => [`INNKEEP_${name}`, value]),
    ),
  });
  const app = createApp({
    config,
    plugins,
    databasePlugins: [accountGuard(tablesWithAccount(plugins))],
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  if (options.start !== false) await app.start();

  const account = async (name = "Test"): Promise<string> => {
    const email = `${crypto.randomUUID()}@example.com`;
    const prepared = { name, email, password_hash: "-", existing: undefined };
    const made = await app.store.write((db) =>
      insertAccount(acrossAccounts(db), prepared, app.clock.now()),
    );
    return made.account_id;
  };

  const client = (own: Readonly<Record<string, string>> = {}): Client => {
    return async (method, path, body, headers = {}) => {
      const json: Record<string, string> =
        body === undefined ? {} : { "content-type": "application/json" };
      const request = new Request(path.startsWith("http") ? path : `http://localhost:3000${path}`, {
        method,
        headers: { ...own, ...json, ...headers },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const response = await app.fetch(request);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parsed(text) };
    };
  };

  const account_id = options.dir === undefined ? await account() : await firstAccount(app);

  const key: Served["key"] = async (wanted = {}) => {
    const { row, key } = await app.store.write((db) =>
      insertKey(
        db,
        {
          account_id: wanted.account_id ?? account_id,
          label: wanted.label ?? "Test",
          scopes: wanted.scopes ?? ["*"],
          listing_ids: wanted.listing_ids ?? null,
          tier: wanted.tier ?? "enterprise",
          expires_at: wanted.expires_at ?? null,
          created_by: "test",
        },
        app.clock.now(),
      ),
    );
    return { id: row.id, key, client: client({ "x-api-key": key }) };
  };

  const rows = async (table: string): Promise<Json[]> =>
    await app.store.read(
      async (db) =>
        await tables<Record<string, Json>>(acrossAccounts(db))
          .selectFrom(table)
          .selectAll()
          .execute(),
    );

  const envelopes = async (): Promise<Json[]> => {
    const events = (await rows("outbox_events")).sort((a, b) => a.seq - b.seq);
    return events.map(({ body }) => JSON.parse(new TextDecoder().decode(body)));
  };

  let stopped = false;
  const stop = async (): Promise<void> => {
    if (!stopped) await app.stop();
    stopped = true;
  };

  return {
    app,
    config,
    dir,
    account_id,
    account,
    key,
    client,
    rows,
    stop,
    events: async () => (await envelopes()).map(({ event }) => event),
    payloads: async (name) =>
      (await envelopes()).filter(({ event }) => event === name).map(({ data }) => data),
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A receiver that the server trusts and may reach. */
export interface Received extends AsyncDisposable {
  readonly receiver: TlsReceiver;
  readonly authority: Authority;
  /** For `serve({ env })`. */
  readonly env: Readonly<Record<string, string>>;
}

let authority: Authority | undefined;
const authorityDir = mkdtempSync(join(tmpdir(), "innkeep-authority-"));

/** Starts a receiver on loopback. */
export async function receive(): Promise<Received> {
  mkdirSync(authorityDir, { recursive: true });
  authority ??= makeAuthority();
  const file = join(authorityDir, "ca.pem");
  await Bun.write(file, authority.ca);
  const receiver = await startReceiver(authority);
  return {
    receiver,
    authority,
    env: { EGRESS_ALLOW: "127.0.0.0/8,::1/128", EGRESS_CA: file },
    [Symbol.asyncDispose]: async () => await receiver.close(),
  };
}

/** Waits until `look` finds something; undefined after `ms`. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  ms = 5000,
): Promise<T | undefined> {
  const end = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) return undefined;
    await Bun.sleep(5);
  }
}

function tablesWithAccount(plugins: readonly Plugin[]): Set<string> {
  const found = new Set<string>();
  for (const { migrations = {} } of declared(plugins).plugins) {
    for (const statement of Object.values(migrations).flat()) {
      const [, name] = /create table (\w+)/.exec(statement) ?? [];
      if (name !== undefined && /\baccount_id\b/.test(statement)) found.add(name);
    }
  }
  return found;
}

async function firstAccount(app: App): Promise<string> {
  const [first] = await app.store.read(listAccounts);
  return first?.id ?? "";
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
