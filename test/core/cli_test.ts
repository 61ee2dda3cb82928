/**
 * The command line: one JSON document for scripts, sentences for people, no surprises beside a running server.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import Sqlite from "better-sqlite3";

import { type Json, receive, temporaryDir, until } from "../fixture.ts";
import { type Ran, run, type ServerProcess, startServer } from "../process.ts";

const owner = [
  "setup",
  "--account",
  "Lake homes",
  "--email",
  "ada@example.com",
  "--password",
  "correct horse",
];

/** The one JSON document on standard output, of a command that went well. */
function document({ code, out, err }: Ran): Json {
  expect([code, err]).toEqual([0, ""]);
  expect(out.endsWith("\n")).toBe(true);
  return JSON.parse(out);
}

/** A command that failed says why, to people, in a few lines. */
function expectFailed({ code, out, err }: Ran, why: string | RegExp): void {
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(why);
  expect(err).not.toMatch(/^\s+at .*[:(]\d+|Error:|node_modules|\.ts:\d/m);
}

const temporary = temporaryDir();
const settings = { DATA_DIR: join(temporary.dir, "data") };
const innkeep = (...args: string[]) => run(settings, ...args);
let made: Json;

beforeAll(async () => {
  made = document(await innkeep(...owner));
});

/** Starts some commands all at once, as nothing keeps people from doing; each is waited for in its own test. */
function together(commands: () => readonly string[][]): (args: readonly string[]) => Promise<Ran> {
  const ran = new Map<readonly string[], Promise<Ran>>();
  beforeAll(() => {
    for (const args of commands()) ran.set(args, innkeep(...args));
  });
  return (args) => ran.get(args) ?? innkeep(...args);
}
afterAll(() => temporary[Symbol.dispose]());

describe("a command prints one JSON document:", () => {
  const listing = JSON.stringify({ title: "Lake house", timezone: "Europe/Rome", currency: "EUR" });
  const printed: Record<string, [string[], (json: Json) => void]> = {
    version: [
      ["version"],
      (json) => expect(json).toEqual({ version: expect.any(String), bun: Bun.version }),
    ],
    accounts: [
      ["accounts"],
      (json) =>
        expect(json.data).toMatchObject([
          { id: made.account_id, name: "Lake homes", plan: expect.any(String) },
        ]),
    ],
    plan: [
      ["plan", "pro"],
      (json) => expect(json).toEqual({ account_id: made.account_id, plan: "pro" }),
    ],
    "keys create": [
      [
        "keys",
        "create",
        "--label",
        "Sync",
        "--scopes",
        "listings:read, reservations:*",
        "--tier",
        "pro",
      ],
      (json) =>
        expect(json).toEqual({
          id: expect.any(String),
          key: expect.stringMatching(/^ik_live_[A-Za-z0-9]{43}$/),
          account_id: made.account_id,
          label: "Sync",
          scopes: ["listings:read", "reservations:*"],
          tier: "pro",
        }),
    ],
    call: [
      ["call", "listings.create", "--json", listing],
      (json) => expect(json).toMatchObject({ title: "Lake house", version: 1 }),
    ],
    "call --dry-run": [
      ["call", "listings.create", "--json", listing, "--dry-run"],
      (json) => expect(json.title).toBe("Lake house"),
    ],
    openapi: [
      ["openapi"],
      (json) =>
        expect([json.openapi.slice(0, 3), typeof json.paths["/v1/listings"]]).toEqual([
          "3.1",
          "object",
        ]),
    ],
    migrate: [["migrate"], (json) => expect(json).toEqual({ migrated: [] })],
    "audit verify": [
      ["audit", "verify"],
      (json) => expect(json).toMatchObject({ intact: true, accounts: [{ intact: true }] }),
    ],
  };
  const ran = together(() => Object.values(printed).map(([args]) => args));
  for (const [name, [args, check]] of Object.entries(printed)) {
    test(name, async () => check(document(await ran(args))), 20_000);
  }

  test("what a command changes is in the audit log, with nothing secret", async () => {
    const { data } = document(await innkeep("call", "audit.list"));
    const seen = data.map(
      ({ operation, surface, outcome }: Json) => `${operation} ${surface} ${outcome}`,
    );
    for (const operation of [
      "identity.setup",
      "identity.set_plan",
      "api_keys.create",
      "listings.create",
    ]) {
      expect(seen).toContain(`${operation} cli ok`);
    }
    expect(seen.filter((each: string) => each.startsWith("listings.create"))).toHaveLength(1);
    expect(JSON.stringify(data)).not.toMatch(/ik_live_|correct horse|ada@example/);
  }, 20_000);
});

describe("a command that cannot be done says why, and exits with 1:", () => {
  const failing: Record<string, [string[], string | RegExp]> = {
    "an unknown operation": [
      ["call", "listings.fly"],
      /Unknown operation "listings\.fly"\. There are:\n/,
    ],
    "an input that is no JSON": [
      ["call", "listings.list", "--json", "{"],
      "--json must be a JSON object",
    ],
    "an input that does not fit": [["call", "listings.create"], '"title" is required'],
    "a record that is not there": [
      ["call", "listings.get", "--json", '{"id":"x"}'],
      'Cannot find listing "x"',
    ],
    "an unknown scope": [
      ["keys", "create", "--label", "x", "--scopes", "fly:high"],
      /Unknown scopes: fly:high\. There are: \*, /,
    ],
    "a tier that only JavaScript knows": [
      ["keys", "create", "--label", "x", "--scopes", "*", "--tier", "constructor"],
      'Unknown tier "constructor"',
    ],
    "an unknown tier": [
      ["keys", "create", "--label", "x", "--scopes", "*", "--tier", "gold"],
      'Unknown tier "gold"',
    ],
    "an option that is missing": [["keys", "create", "--label", "x"], "--scopes"],
    "an unknown plan": [["plan", "gold"], 'Unknown plan "gold"'],
    "an unknown account": [["plan", "pro", "--account", "x"], 'There is no account "x"'],
    "an unknown command": [["fly"], /./],
    "a short password": [[...owner.slice(0, -1), "short"], "at least 10 characters"],
    "another password of the same person": [
      [...owner.slice(0, -1), "another horse"],
      "has a user already",
    ],
  };
  const ran = together(() => Object.values(failing).map(([args]) => args));
  for (const [what, [args, why]] of Object.entries(failing)) {
    test(what, async () => expectFailed(await ran(args), why), 20_000);
  }
});

test("all that is wrong with the environment is said at once", async () => {
  const wrong = {
    DATA_DIR: settings.DATA_DIR,
    PORT: "70000",
    BASE_URL: "ftp://x",
    TLS_CERT: "/nowhere.pem",
    EGRESS_ALLOW: "10.0.0.0/8,nowhere",
    EGRESS_CA: "/nowhere.pem",
    WEBHOOK_RETRY_SECONDS: "5,,300",
    RATE_TIERS: "gold",
    LOG_LEVEL: "loud",
    SECRET_KEY: "hunter2",
    TRUSTED_PROXIES: "300.1.1.1",
  };
  const ran = await run(wrong, "accounts");
  expectFailed(ran, "Cannot start: the environment is wrong");
  for (const name of Object.keys(wrong).filter((each) => each !== "DATA_DIR"))
    expect(ran.err).toContain(`INNKEEP_${name}`);
  expect(ran.err).not.toContain("hunter2");
}, 20_000);

test("a data directory that cannot be used is named, with what to do", async () => {
  using other = temporaryDir();
  const file = join(other.dir, "file");
  writeFileSync(file, "");
  const broken = join(other.dir, "broken");
  mkdirSync(join(broken, "innkeep.db"), { recursive: true });
  const foreign = join(other.dir, "foreign");
  mkdirSync(foreign);
  writeFileSync(join(foreign, "innkeep.db"), "x".repeat(8192));
  for (const dir of [file, join(file, "data"), broken, foreign]) {
    const ran = await run({ DATA_DIR: dir }, "accounts");
    expectFailed(ran, `Cannot use the data directory "${dir}": `);
    expect(ran.err).toContain("INNKEEP_DATA_DIR");
  }
}, 20_000);

test("where it cannot listen, the server says where, why, and what to set", async () => {
  using other = temporaryDir();
  const own = { DATA_DIR: join(other.dir, "data") };
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  expectFailed(
    await run({ ...own, PORT: String(taken.port) }, "serve"),
    new RegExp(
      `^Cannot listen on 127.0.0.1, port ${taken.port}: the port is in use.*INNKEEP_PORT`,
      "m",
    ),
  );
  // An address for documentation is nobody's.
  expectFailed(
    await run({ ...own, HOST: "192.0.2.1", PORT: "0" }, "serve"),
    /^Cannot listen on 192\.0\.2\.1, port 0: that is no address of this machine .*INNKEEP_HOST/m,
  );
}, 20_000);

test("data and key are for their owner only", () => {
  expect(statSync(settings.DATA_DIR).mode & 0o777).toBe(0o700);
  expect(statSync(join(settings.DATA_DIR, "secret.key")).mode & 0o777).toBe(0o600);
  expect(readdirSync(temporary.dir)).toEqual(["data"]);
});

test("an audit log that was changed fails its verification, which tells where", async () => {
  using other = temporaryDir();
  const own = { DATA_DIR: join(other.dir, "data") };
  document(await run(own, ...owner));
  const database = new Sqlite(join(own.DATA_DIR, "innkeep.db"));
  database.exec("update audit_entries set position = 1, previous = '', hash = 'forged'");
  database.close();
  const { code, out, err } = await run(own, "audit", "verify");
  expect([code, err]).toEqual([1, "The audit log was changed: see broken_at\n"]);
  expect(JSON.parse(out)).toMatchObject({
    intact: false,
    accounts: [{ broken_at: { position: 1 } }],
  });
}, 20_000);

test("commands that start together on an empty directory all work", async () => {
  using other = temporaryDir();
  const own = { DATA_DIR: join(other.dir, "data") };
  const email = (i: number) => [...owner.slice(0, 4), `ada${i}@example.com`, ...owner.slice(5)];
  const accounts = await Promise.all(
    [1, 2, 3, 4].map(async (i) => document(await run(own, ...email(i))).account_id),
  );
  expect(new Set(accounts).size).toBe(4);
  expect(document(await run(own, "accounts")).data).toHaveLength(4);
  expectFailed(
    await run(own, "keys", "create", "--label", "x", "--scopes", "*"),
    /several accounts: name one with --account\n/,
  );
}, 30_000);

describe("beside a running server", () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer(settings);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("commands work, and a key is good at once", async () => {
    const { key } = document(await innkeep("keys", "create", "--label", "x", "--scopes", "*"));
    document(await innkeep(...owner.slice(0, 4), "grace@example.com", ...owner.slice(5)));
    const answer = await fetch(`${server.url}/v1/listings`, { headers: { "x-api-key": key } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toBeString();
  }, 20_000);

  test("another server and a migration are refused, and disturb nobody", async () => {
    expectFailed(await innkeep("serve"), /Another Innkeep server is using/);
    expectFailed(await innkeep("migrate"), /Another Innkeep server is using/);
    expect((await fetch(`${server.url}/v1/listings`)).status).toBe(401);
  }, 20_000);

  test("SIGTERM ends it with 0, whoever is still connected", async () => {
    const idle = connect(server.port, "127.0.0.1");
    const half = connect(server.port, "127.0.0.1");
    for (const socket of [idle, half]) socket.on("error", () => {});
    half.write("POST /v1/listings HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{");
    await fetch(`${server.url}/v1/listings`);
    server.kill("SIGTERM");
    expect(await Promise.race([server.exited, Bun.sleep(10_000)])).toBe(0);
    idle.destroy();
    half.destroy();
    expect(await until(() => server.err.includes("Stopping"))).toBe(true);
    expect(server.err).not.toMatch(/"level":(40|50|60)/);
    // Nothing is left behind that would keep the next one from starting.
    const next = await startServer(settings);
    next.kill("SIGINT");
    expect(await Promise.race([next.exited, Bun.sleep(10_000)])).toBe(0);
  }, 40_000);
});

test("a server on an empty database says once how to begin, and not to standard output", async () => {
  using other = temporaryDir();
  await using server = await startServer({
    DATA_DIR: join(other.dir, "data"),
    BASE_URL: "https://pms.example.com",
  });
  const link = await until(
    () => /https:\/\/pms\.example\.com\/setup\?token=[A-Za-z0-9]{32}/.exec(server.err)?.[0],
  );
  expect(link).toBeString();
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
}, 20_000);

test("what a command queues, the running server sends", async () => {
  using other = temporaryDir();
  await using received = await receive();
  const own = { DATA_DIR: join(other.dir, "data"), ...received.env };
  document(await run(own, ...owner));
  await using server = await startServer(own);
  const url = received.receiver.url("/hook");
  const input = JSON.stringify({ url, events: ["*"] });
  const { id } = document(await run(own, "call", "webhooks.create", "--json", input));
  await received.receiver.waitFor(1, 10_000);
  expect(received.receiver.hits[0]?.text).toContain(id);
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
}, 30_000);
