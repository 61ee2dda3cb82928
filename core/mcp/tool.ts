/**
 * Tools: operations that show themselves to models, and tools that plugins make of several operations. Both become
 * one kind of entry here: how it looks on the wire, and how it runs.
 *
 * @module
 */

import type { Tool as WireTool } from "@modelcontextprotocol/server";
import canonicalize from "canonicalize";

import type { App } from "../app.ts";
import { type Caller, type CallOptions, type CallResult, execute } from "../call/mod.ts";
import { Problem } from "../plugin/problem.ts";
import type { RegisteredOperation } from "../plugin/registry.ts";
import { checker, type TObject, type TSchema } from "../plugin/schema.ts";
import type { AnyTool, Call, Scope, ToolFace, Toolset } from "../plugin/types.ts";
import { sha256 } from "../secrets/mod.ts";
import { inputSchema, outputSchema } from "./schema.ts";

/** A tool, ready to be listed and called. */
export interface Entry {
  readonly name: string;
  readonly toolset: Toolset;
  /** Null where any valid credential will do. */
  readonly scope: Scope | null;
  readonly reads: boolean;
  readonly line: readonly string[] | undefined;
  readonly wire: WireTool;
  run(args: Record<string, unknown>, how: RunOptions): Promise<Ran>;
}

/** How a tool is to run. */
export interface RunOptions {
  readonly caller: Caller;
  readonly request_id: string;
  readonly dry_run: boolean;
  readonly idempotency_key: string | undefined;
  /** Told after each operation of a tool that has several. */
  progress(done: number): void;
}

/** What came of it. */
export interface Ran {
  readonly value: unknown;
  /** It is a kept answer, given again: nothing was done now. */
  readonly replayed: boolean;
}

/** Arguments that every writing tool takes beside its own. */
const writing = {
  dry_run: {
    type: "boolean",
    default: false,
    description: "True shows what would come of it and changes nothing.",
  },
  idempotency_key: {
    type: "string",
    minLength: 1,
    maxLength: 255,
    description:
      "Any unique text. A call repeated with the same key and arguments within a day is done only once.",
  },
};

/** A model reads each record: fewer of them than a program asks for. */
const pageSize = 20;

/** The entry of an operation. */
export function operationEntry(app: App, registered: RegisteredOperation, face: ToolFace): Entry {
  const { operation, method, reads } = registered;
  const input = operation.input as TObject;
  const fillLimit = Number(input.properties.limit?.default) > pageSize;
  return {
    ...facts(face, {
      summary: operation.summary,
      description: operation.description,
      scope: operation.scope,
      reads,
      destructive: method === "DELETE",
      idempotent: reads || method === "PUT" || method === "DELETE",
      input: fillLimit ? withLimit(input) : input,
      output: operation.output as TSchema,
    }),
    async run(args, how) {
      const given = fillLimit ? { limit: pageSize, ...args } : args;
      const options = optionsOf(registered, how, [face.name, given]);
      return ranOf(await execute(app, registered, given, how.caller, options));
    },
  };
}

/** The entry of a tool that a plugin makes of several operations. */
export function toolEntry(app: App, tool: AnyTool): Entry {
  const check = checker(tool.input as TObject);
  return {
    ...facts(tool, {
      summary: tool.summary,
      description: undefined,
      scope: tool.scope,
      reads: tool.read_only,
      destructive: false,
      idempotent: tool.read_only,
      input: tool.input as TObject,
      output: tool.output as TSchema,
    }),
    async run(args, how) {
      const details = check.faults(args);
      if (details.length > 0) {
        throw new Problem("validation_failed", details.map(({ message }) => message).join("; "), {
          details,
        });
      }
      const asked = canonical([args]);
      let done = 0;
      const call: Call = async (operation, input) => {
        const registered = app.registry.operations.get(operation.name);
        if (registered === undefined)
          throw new Error(`The tool "${tool.name}" calls "${operation.name}", which is not loaded`);
        const own = { ...(input as Record<string, unknown>) };
        // Each operation keeps its own answer: the tool, repeated, goes on where it was cut off.
        const key =
          how.idempotency_key === undefined ? undefined : `${how.idempotency_key} ${done}`;
        const request = [tool.name, operation.name, asked];
        const options = optionsOf(registered, { ...how, idempotency_key: key }, request);
        const { value } = ranOf(await execute(app, registered, own, how.caller, options));
        how.progress(++done);
        return value;
      };
      return { value: (await tool.handler(args, call)) as unknown, replayed: false };
    },
  };
}

interface Facts {
  readonly summary: string;
  readonly description: string | undefined;
  readonly scope: Scope | null;
  readonly reads: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly input: TSchema;
  readonly output: TSchema;
}

function facts(face: ToolFace, about: Facts): Omit<Entry, "run"> {
  const { name, title, toolset, open_world = false } = face;
  const { summary, description, scope, reads, destructive, idempotent } = about;
  const output = outputSchema(about.output);
  const wire: WireTool = {
    name,
    title,
    description: description === undefined ? summary : `${summary} ${description}`,
    inputSchema: inputSchema(about.input, reads ? {} : writing),
    ...(output === undefined ? {} : { outputSchema: output }),
    // All of them, always: where one is missing, clients assume the worst.
    annotations: {
      title,
      readOnlyHint: reads,
      destructiveHint: !reads && (destructive || face.destructive === true),
      idempotentHint: idempotent,
      openWorldHint: open_world,
    },
    _meta: { "innkeep/toolset": toolset, "innkeep/scope": scope },
  };
  return { name, toolset, scope, reads, line: face.line, wire };
}

function withLimit(input: TObject): TSchema {
  const limit = { ...input.properties.limit, default: pageSize };
  return { ...input, properties: { ...input.properties, limit } };
}

function optionsOf(
  { reads }: RegisteredOperation,
  { request_id, dry_run, idempotency_key: key }: RunOptions,
  request: readonly unknown[],
): CallOptions {
  const idempotency =
    reads || key === undefined
      ? undefined
      : // In one order of keys: a model that repeats a call may well turn them round.
        { key, request: sha256(canonical(request)) };
  return { surface: "mcp", request_id, dry_run: dry_run && !reads, idempotency };
}

/** One text for the same arguments. Those that have no canonical form, such as 1e400, are refused by the check. */
function canonical(request: readonly unknown[]): string {
  try {
    return canonicalize(request) ?? "";
  } catch {
    return "";
  }
}

function ranOf({ value, replay }: CallResult): Ran {
  return replay === undefined
    ? { value, replayed: false }
    : { value: JSON.parse(replay) as unknown, replayed: true };
}
