/**
 * Calls of tools: whatever goes wrong in one is told to the model as its answer, in words that it can act on.
 *
 * @module
 */

import type { CallToolResult } from "@modelcontextprotocol/server";

import type { App } from "../app.ts";
import type { Caller } from "../call/mod.ts";
import { invalid, Problem } from "../plugin/problem.ts";
import { problemText, resultText } from "./text.ts";
import type { Entry, RunOptions } from "./tool.ts";

/** Who calls, and in which request. */
export interface CallFrame {
  readonly caller: Caller;
  readonly request_id: string;
  progress(done: number): void;
}

/** Calls a tool. Never throws. */
export async function callTool(
  { log }: App,
  entry: Entry,
  given: Record<string, unknown>,
  frame: CallFrame,
): Promise<CallToolResult> {
  const { request_id } = frame;
  try {
    const { args, ...how } = entry.reads ? reading(given) : writing(given);
    const { value, replayed } = await entry.run(args, { ...frame, ...how });
    const text = resultText(value, { dry_run: how.dry_run, replayed, line: entry.line });
    return {
      content: [{ type: "text", text }],
      structuredContent: value as Record<string, unknown>,
    };
  } catch (error) {
    if (!(error instanceof Problem))
      log.error({ err: error, request_id, tool: entry.name }, "A tool failed");
    const problem =
      error instanceof Problem
        ? error
        : new Problem("internal", "Something went wrong on the server");
    // Without structuredContent: clients check it against the schema of a success, even here.
    return { content: [{ type: "text", text: problemText(problem, request_id) }], isError: true };
  }
}

type Given = Pick<RunOptions, "dry_run" | "idempotency_key"> & {
  readonly args: Record<string, unknown>;
};

const reading = (args: Record<string, unknown>): Given => ({
  args,
  dry_run: false,
  idempotency_key: undefined,
});

/** Takes out what every writing tool takes beside its own arguments. */
function writing({
  dry_run = false,
  idempotency_key: key,
  ...args
}: Record<string, unknown>): Given {
  if (typeof dry_run !== "boolean")
    throw invalid("dry_run", "wrong_type", '"dry_run" must be true or false');
  if (key === undefined) return { args, dry_run, idempotency_key: key };
  if (typeof key !== "string" || key.length === 0 || key.length > 255) {
    throw invalid(
      "idempotency_key",
      "invalid_format",
      '"idempotency_key" must be a text of 1 to 255 characters',
    );
  }
  return { args, dry_run, idempotency_key: key };
}
