/**
 * What comes of a write that is repeated.
 *
 * @module
 */

import { expect, test } from "bun:test";

import type { RegisteredOperation } from "../../core/plugin/registry.ts";
import { type House, send, successOf } from "./house.ts";
import { growth, unaudited } from "./rows.ts";

/** Tests of `Idempotency-Key`, of one operation. */
export function repeats(house: () => House, registered: RegisteredOperation): void {
  if (registered.reads) return;
  const key = (): { "idempotency-key": string } => ({ "idempotency-key": crypto.randomUUID() });

  test("is done once under one Idempotency-Key, and answers the same again", async () => {
    const { server } = house();
    const party = await house().party();
    const { input } = await house().draft(party, registered);
    const headers = key();
    const first = await send(party.client, registered, input, { headers });
    expect([first.status, first.text]).toEqual([successOf(registered), expect.any(String)]);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    const after = await unaudited(server);
    const again = await send(party.client, registered, input, { headers });
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await unaudited(server)).toEqual(after);

    const other = await house().draft(party, registered);
    const before = await unaudited(server);
    const reused = await send(party.client, registered, other.input, {
      headers,
      // Some inputs have nothing that could differ.
      ...(JSON.stringify(other.input) === JSON.stringify(input) ? { query: "dry_run=false" } : {}),
    });
    expect([reused.status, reused.json.error?.code]).toEqual([422, "idempotency_key_reused"]);
    expect(await unaudited(server)).toEqual(before);
  });

  test("has one effect when two calls with one Idempotency-Key come at once", async () => {
    const { server } = house();
    const party = await house().party();
    const once = await house().draft(party, registered);
    const twice = await house().draft(party, registered);
    const start = await unaudited(server);
    await send(party.client, registered, once.input, { headers: key() });
    const between = await unaudited(server);
    const headers = key();
    const both = await Promise.all(
      [1, 2].map(async () => await send(party.client, registered, twice.input, { headers })),
    );
    const effect = growth(between, await unaudited(server));
    expect(effect).toEqual(growth(start, between));
    const done = both.filter(({ status }) => status === successOf(registered));
    expect(
      done[0]?.headers.get("idempotent-replayed") ?? done[1]?.headers.get("idempotent-replayed"),
    ).toBe("true");
    expect(done.map(({ text }) => text)).toEqual([done[0]?.text ?? "", done[0]?.text ?? ""]);
  });

  test("keeps keys of different credentials apart", async () => {
    const one = await house().party();
    const other = await house().party();
    const headers = key();
    for (const party of [one, other]) {
      const { input } = await house().draft(party, registered);
      const reply = await send(party.client, registered, input, { headers });
      expect([reply.status, reply.headers.get("idempotent-replayed")]).toEqual([
        successOf(registered),
        null,
      ]);
    }
  });
}
