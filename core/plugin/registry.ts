/**
 * The registry: all that the plugins declare, checked at start. Every fault is reported at once.
 *
 * @module
 */

import { Cron } from "croner";

import { type Checker, checker, eachField, inner, type TObject, type TSchema } from "./schema.ts";
import type {
  AnyGuard,
  AnyJob,
  AnyOperation,
  AnyReaction,
  AnyTool,
  EventType,
  Plugin,
  Route,
  ToolFace,
} from "./types.ts";

/** Where an operation's fields come from. */
export type Origin = "path" | "query" | "body";

/** An operation as core uses it: taken apart and compiled. */
export interface RegisteredOperation {
  readonly operation: AnyOperation;
  readonly plugin: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/v1`, with `:name` parameters. */
  readonly path: string;
  readonly reads: boolean;
  readonly origins: Readonly<Record<string, Origin>>;
  readonly check: Checker<Record<string, unknown>>;
}

/** All that is declared, by name. */
export interface Registry {
  readonly plugins: readonly Plugin[];
  readonly operations: ReadonlyMap<string, RegisteredOperation>;
  readonly events: ReadonlyMap<string, EventType>;
  readonly reactions: ReadonlyMap<string, readonly AnyReaction[]>;
  /** By the name of the operation that they look at. */
  readonly guards: ReadonlyMap<string, readonly AnyGuard[]>;
  readonly jobs: readonly AnyJob[];
  readonly routes: readonly Route[];
  readonly tools: ReadonlyMap<string, AnyTool>;
  /** The operation that makes a record, by the record's name. */
  readonly records: ReadonlyMap<string, AnyOperation>;
  /** Every scope that some operation, route or event asks for, sorted. */
  readonly scopes: readonly string[];
}

/** All that is wrong with the plugins. */
export class RegistryError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `Cannot start: ${faults.length} fault(s) in the plugins\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.name = "RegistryError";
    this.faults = faults;
  }
}

const words = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const scopeForm = /^([a-z_]+:[a-z_]+)$/;
const sentence = /^[A-Z].*\.$/s;
const toolName = /^[a-z]+(_[a-z]+)+$/;
const mostToolName = 40;

/** Collects and checks. Throws a `RegistryError` that names every fault. */
export function createRegistry(plugins: readonly Plugin[]): Registry {
  const faults: string[] = [];
  const say = (fault: string): void => void faults.push(fault);
  const operations = new Map<string, RegisteredOperation>();
  const events = new Map<string, EventType>();
  const reactions = new Map<string, AnyReaction[]>();
  const guards = new Map<string, AnyGuard[]>();
  const tools = new Map<string, AnyTool>();
  const records = new Map<string, AnyOperation>();
  const jobs: AnyJob[] = [];
  const routes: Route[] = [];
  const paths = new Map<string, string>();
  const toolNames = new Map<string, string>();

  const named = (plugin: Plugin, kind: string, key: string, name: string): void => {
    if (name !== `${plugin.name}.${key}`)
      say(`${kind} "${name}" must be named "${plugin.name}.${key}" after its export`);
  };
  const summed = (name: string, summary: string): void => {
    if (!sentence.test(summary))
      say(`The summary of "${name}" must be a sentence that ends with a period`);
  };
  const scoped = (name: string, scope: string | null): void => {
    if (scope !== null && scope !== "public" && !scopeForm.test(scope))
      say(`"${name}" has the scope "${scope}": resource:action`);
  };
  const placed = (name: string, route: string): void => {
    const shape = route.replaceAll(/:\w+/g, ":");
    const other = paths.get(shape);
    if (other !== undefined) say(`"${name}" and "${other}" have the same route ${route}`);
    paths.set(shape, name);
  };
  const faced = (name: string, face: ToolFace): void => {
    const other = toolNames.get(face.name);
    if (other !== undefined) say(`"${name}" and "${other}" have the same tool name "${face.name}"`);
    if (!toolName.test(face.name) || face.name.length > mostToolName)
      say(`The tool "${face.name}" must be named verb_noun`);
    toolNames.set(face.name, name);
  };

  for (const plugin of plugins) {
    if (!words.test(plugin.name)) say(`The plugin "${plugin.name}" must be named in snake_case`);
    if (plugins.filter(({ name }) => name === plugin.name).length > 1)
      say(`Two plugins are named "${plugin.name}"`);
    summed(plugin.name, plugin.summary);
    for (const need of plugin.needs ?? []) {
      const before = plugins.indexOf(need);
      if (before < 0) say(`"${plugin.name}" needs "${need.name}", which is not loaded`);
      else if (before > plugins.indexOf(plugin))
        say(`"${plugin.name}" needs "${need.name}", which is loaded after it`);
    }
    for (const [key, event] of Object.entries(plugin.events ?? {})) {
      if (events.has(event.name)) say(`Two events are named "${event.name}"`);
      if (!/^[a-z_]+(\.[a-z_]+)+$/.test(event.name))
        say(`The event "${event.name}" of "${plugin.name}" (${key}) must be named noun.fact`);
      if (event.listing !== null && event.payload.properties[event.listing] === undefined) {
        say(`The event "${event.name}" has no payload field "${event.listing}" for its listing`);
      }
      summed(event.name, event.summary);
      scoped(event.name, event.scope);
      events.set(event.name, event);
    }
    for (const [key, operation] of Object.entries(plugin.operations ?? {})) {
      named(plugin, "Operation", key, operation.name);
      summed(operation.name, operation.summary);
      scoped(operation.name, operation.scope);
      placed(operation.name, operation.route.replace(" ", " /v1"));
      const registered = register(plugin, operation, say);
      if (operation.tool !== undefined) faced(operation.name, operation.tool);
      operations.set(operation.name, registered);
    }
    for (const [key, reaction] of Object.entries(plugin.reactions ?? {})) {
      named(plugin, "Reaction", key, reaction.name);
      reactions.set(reaction.on.name, [...(reactions.get(reaction.on.name) ?? []), reaction]);
    }
    for (const [key, guard] of Object.entries(plugin.guards ?? {})) {
      named(plugin, "Guard", key, guard.name);
      const registered = operations.get(guard.on.name);
      if (registered === undefined)
        say(`"${guard.name}" guards "${guard.on.name}", which is not declared before it`);
      else if (registered.reads) say(`"${guard.name}" guards "${guard.on.name}", which only reads`);
      guards.set(guard.on.name, [...(guards.get(guard.on.name) ?? []), guard]);
    }
    for (const [key, job] of Object.entries(plugin.jobs ?? {})) {
      named(plugin, "Job", key, job.name);
      summed(job.name, job.summary);
      if (!isCron(job.schedule))
        say(`The job "${job.name}" has the schedule "${job.schedule}", which is no cron pattern`);
      jobs.push(job);
    }
    for (const [key, route] of Object.entries(plugin.routes ?? {})) {
      named(plugin, "Route", key, route.name);
      summed(route.name, route.summary);
      scoped(route.name, route.scope);
      placed(route.name, route.route);
      routes.push(route);
    }
    for (const [key, tool] of Object.entries(plugin.tools ?? {})) {
      faced(`${plugin.name}.${key}`, tool);
      summed(tool.name, tool.summary);
      tools.set(tool.name, tool);
    }
    for (const [record, operation] of Object.entries(plugin.records ?? {}))
      records.set(record, operation);
    for (const name of Object.keys(plugin.migrations ?? {})) {
      if (!/^\d{4}_[a-z0-9_]+$/.test(name))
        say(`The migration "${plugin.name}/${name}" must be named 0001_what_it_does`);
    }
  }

  for (const { operation } of operations.values()) {
    for (const event of operation.emits ?? []) {
      if (events.get(event.name) !== event)
        say(`"${operation.name}" emits "${event.name}", which no plugin declares`);
    }
    eachField(operation.input as TObject, (path, field) => {
      const record = field["x-record"] as string | undefined;
      if (record !== undefined && !records.has(record)) {
        say(
          `"${operation.name}" refers by "${path}" to a "${record}", of which no plugin declares how to make one`,
        );
      }
    });
  }
  for (const [name, list] of reactions) {
    for (const reaction of list) {
      if (events.get(name) !== reaction.on)
        say(`"${reaction.name}" follows "${name}", which no plugin declares`);
    }
  }
  if (faults.length > 0) throw new RegistryError(faults);

  const scopes = new Set<string>();
  for (const { operation } of operations.values())
    if (operation.scope !== null) scopes.add(operation.scope);
  for (const event of events.values()) if (event.scope !== null) scopes.add(event.scope);
  for (const { scope } of routes) if (scope !== "public") scopes.add(scope);
  return {
    plugins,
    operations,
    events,
    reactions,
    guards,
    jobs,
    routes,
    tools,
    records,
    scopes: [...scopes].sort(),
  };
}

function register(
  plugin: Plugin,
  operation: AnyOperation,
  say: (fault: string) => void,
): RegisteredOperation {
  const [method, path] = operation.route.split(" ") as [RegisteredOperation["method"], string];
  const { properties } = operation.input as TObject;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  const reads = method === "GET";
  const origins: Record<string, Origin> = {};
  for (const name of Object.keys(properties)) {
    origins[name] = inPath.includes(name)
      ? "path"
      : reads || method === "DELETE"
        ? "query"
        : "body";
  }
  for (const name of inPath) {
    if (properties[name] === undefined)
      say(`"${operation.name}" has no input field for ":${name}" of its route`);
  }
  for (const name of ["dry_run", "idempotency_key", "fields"]) {
    if (properties[name] !== undefined)
      say(`"${operation.name}" has the input field "${name}", which core itself reads`);
  }
  for (const [name, origin] of Object.entries(origins)) {
    if (!words.test(name))
      say(`"${operation.name}" has the input field "${name}", which is not snake_case`);
    if (origin === "query" && !fromText(properties[name] as TSchema)) {
      say(
        `"${operation.name}" takes "${name}" from the query, which can hold texts, numbers, words and lists of them only`,
      );
    }
  }
  if (reads && (operation.emits ?? []).length > 0)
    say(`"${operation.name}" reads, so it cannot emit`);
  if (reads && operation.prepare !== undefined)
    say(`"${operation.name}" reads, so it has nothing to prepare`);
  return {
    operation,
    plugin: plugin.name,
    method,
    path,
    reads,
    origins,
    check: checker(operation.input),
  };
}

/** Can the field stand in a query? */
function fromText(schema: TSchema): boolean {
  const bare = inner(schema);
  if (bare.type === "array") return fromText(bare.items as TSchema);
  return ["string", "integer", "number", "boolean"].includes(bare.type as string);
}

function isCron(pattern: string): boolean {
  try {
    return new Cron(pattern, { paused: true, timezone: "UTC" }).nextRun() !== null;
  } catch {
    return false;
  }
}
