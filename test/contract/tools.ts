/**
 * The same isolation by the door of models.
 *
 * @module
 */

import { expect, test } from "bun:test";

import type { TObject } from "../../core/plugin/schema.ts";
import type { Client, Json } from "../fixture.ts";
import { placeName, sketch, withValue } from "./draft.ts";
import type { Callable, House } from "./house.ts";
import { unaudited } from "./rows.ts";

/** Sends a message to `/mcp` and reads its result. */
async function ask(client: Client, method: string, params: Json): Promise<Json> {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const reply = await client("POST", "/mcp?toolsets=all", body, {
    accept: "application/json",
    "mcp-protocol-version": "2025-11-25",
  });
  if (reply.json?.result === undefined) throw new Error(`${method}: ${reply.status} ${reply.text}`);
  return reply.json.result;
}

/** All tools, as a client that may do all sees them. */
export const toolsListed = async (client: Client): Promise<Json> =>
  (await ask(client, "tools/list", {})).tools;

/** Tests of isolation, of a tool: an operation that shows itself as one, or one that is made of several. */
export function toolStrangers(
  house: () => House,
  name: string,
  of: Callable,
  reads: boolean,
): void {
  test(`as the tool ${name} knows no stranger's records`, async () => {
    const party = await house().party();
    const { input } = await house().draft(party, of);
    const call = async (args: Json): Promise<Json> =>
      await ask(party.client, "tools/call", { name, arguments: args });
    const right = await call(reads ? input : { ...input, dry_run: true });
    expect([right.isError ?? false, right.content[0].text]).toEqual([false, expect.any(String)]);
    for (const { path, record } of sketch(of.operation.input as TObject, "all").references) {
      const strange = await house().make(await house().stranger(), record);
      const before = await unaudited(house().server);
      const result = await call(withValue(input, path, strange.id));
      const text: string = result.content[0].text;
      const place = placeName(path);
      expect([place, result.isError, text.includes('"code":"not_found"')]).toEqual([
        place,
        true,
        true,
      ]);
      expect(await unaudited(house().server)).toEqual(before);
    }
  });
}
