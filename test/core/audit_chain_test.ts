/**
 * The audit log's chain: whatever is changed, removed or put in between shows, and where.
 */

import { describe, expect, test } from "bun:test";

import { sql } from "#core";

import { verifyChain } from "../../core/audit/mod.ts";
import { acrossAccounts, type Database, fakeClock } from "../../core/db/mod.ts";
import { type Json, serve, type Served } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const begin = async () => {
  const clock = fakeClock(1_800_000_000_000);
  const server = await serve({ plugins: [notesPlugin()], clock, start: false });
  return { clock, server };
};

const entries = async (server: Served): Promise<Json[]> =>
  (await server.rows("audit_entries")).sort((a, b) => (a.id < b.id ? -1 : 1));

describe("the chain", () => {
  /** A server with sealed entries: nine of one account, some of another. */
  const sealed = async () => {
    const { server, clock } = await begin();
    const { client } = await server.key();
    const other = await server.key({ account_id: await server.account() });
    for (let i = 1; i <= 9; i++) await client("POST", "/v1/notes", { text: `note ${i}` });
    for (let i = 1; i <= 3; i++) await other.client("POST", "/v1/notes", { text: `note ${i}` });
    await server.app.start();
    clock.advance(10_000);
    await server.app.scheduler.runDue();
    const verify = () => server.app.store.read((db) => verifyChain(db, server.account_id));
    return { server, clock, client, verify };
  };

  test("seals every entry in a while, in their order, and is intact", async () => {
    const { server, verify, clock, client } = await sealed();
    await using _ = server;
    const own = (await entries(server)).filter(
      ({ account_id }) => account_id === server.account_id,
    );
    expect(own.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(own.map(({ previous }) => previous)).toEqual([
      "",
      ...own.slice(0, -1).map(({ hash }) => hash),
    ]);
    const report = await verify();
    expect(report).toEqual({
      account_id: server.account_id,
      intact: true,
      sealed: 9,
      head: own[8].hash,
      broken_at: null,
    });
    // More than a slice: still one chain.
    await Promise.all(
      Array.from({ length: 450 }, () => client("POST", "/v1/notes", { text: "more" })),
    );
    clock.advance(10_000);
    await server.app.scheduler.runDue();
    expect(await verify()).toMatchObject({ intact: true, sealed: 459 });
    const shown = await client("GET", "/v1/audit-log?limit=1");
    expect(shown.json.data[0].seal).toMatchObject({ position: 459 });
  });

  const place = "where account_id = ? and position = 5";
  const tampering: Record<string, string> = {
    ...Object.fromEntries(
      [
        "id",
        "at",
        "actor_kind",
        "credential_id",
        "actor_label",
        "surface",
        "operation",
        "request_id",
        "input",
        "input_digest",
        "outcome",
        "previous",
        "hash",
      ].map((name) => [
        `a changed ${name}`,
        `update audit_entries set ${name} = ${name} || 'x' ${place}`,
      ]),
    ),
    "a user_id that was not there": `update audit_entries set user_id = 'x' ${place}`,
    "a credential_id that is gone": `update audit_entries set credential_id = null ${place}`,
    "a removed entry": `delete from audit_entries ${place}`,
    "an entry given to another account": `update audit_entries set account_id = 'other' ${place}`,
    "an entry moved elsewhere": `update audit_entries set position = 100 ${place}`,
  };
  for (const [what, statement] of Object.entries(tampering)) {
    test(`shows ${what}, and where`, async () => {
      const { server } = await sealed();
      await using _ = server;
      const report = await tampered(server, [statement]);
      expect(report).toMatchObject({ intact: false, sealed: 4, broken_at: { position: 5 } });
    });
  }

  test("shows entries that changed places, one that was put in between, and one behind the end", async () => {
    const { server } = await sealed();
    await using _ = server;
    const move = (from: number, to: number) =>
      `update audit_entries set position = ${to} where account_id = ? and position = ${from}`;
    const swapped = await tampered(server, [move(3, 99), move(7, 3), move(99, 7)]);
    expect(swapped).toMatchObject({ intact: false, broken_at: { position: 3 } });
    const columns =
      "at, actor_kind, credential_id, user_id, actor_label, surface, operation, request_id, input, input_digest, outcome";
    const copy = (from: number, to: number) =>
      `insert into audit_entries (id, account_id, ${columns}, position, previous, hash)
       select id || 'x', account_id, ${columns}, ${to}, previous, hash from audit_entries
       where account_id = ? and position = ${from}`;
    const shifted = [9, 8, 7, 6].map((position) => move(position, position + 1));
    const inserted = await tampered(server, [...shifted, copy(5, 6)]);
    expect(inserted).toMatchObject({ intact: false, broken_at: { position: 6 } });
    const appended = await tampered(server, [copy(9, 10)]);
    expect(appended).toMatchObject({ intact: false, broken_at: { position: 10 } });
  });

  test("that was cut off at its end is shorter, and has another head", async () => {
    const { server, verify } = await sealed();
    await using _ = server;
    const { head } = await verify();
    const report = await tampered(server, [
      "delete from audit_entries where account_id = ? and position > 7",
    ]);
    expect(report).toMatchObject({ intact: true, sealed: 7 });
    expect(report.head).not.toBe(head);
  });

  test("stays whole when what was asked is erased, by law", async () => {
    const { server } = await sealed();
    await using _ = server;
    const report = await tampered(server, [`update audit_entries set input = '' ${place}`]);
    expect(report).toMatchObject({ intact: true, sealed: 9 });
  });
});

/** What the chain looks like after some statements, each with the account as its parameter. Nothing of it stays. */
async function tampered(server: Served, statements: readonly string[]) {
  const tamper = async (db: Database) => {
    for (const statement of statements) {
      const [before = "", after = ""] = statement.split("?");
      await sql`${sql.raw(before)}${server.account_id}${sql.raw(after)}`.execute(
        acrossAccounts(db),
      );
    }
    return await verifyChain(db, server.account_id);
  };
  let report: Awaited<ReturnType<typeof tamper>> | undefined;
  const undo = new Error("undo");
  await server.app.store
    .write(async (db) => {
      report = await tamper(db);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  if (report === undefined) throw new Error("The chain was not looked at");
  return report;
}
