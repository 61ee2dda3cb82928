/**
 * What is declared wrongly is found at start, all of it at once.
 */

import { describe, expect, test } from "bun:test";

import {
  defineEvent,
  defineJob,
  defineOperation,
  definePlugin,
  defineReaction,
  defineRoute,
  defineTool,
  type Plugin,
  ref,
  t,
} from "#core";

import { declared } from "../../core/app.ts";
import { createRegistry, RegistryError } from "../../core/plugin/registry.ts";
import { plugins as allPlugins } from "../../plugins/mod.ts";
import { notesPlugin } from "./notes_plugin.ts";

const output = t.Object({ done: t.Boolean() });
const handler = async () => ({ done: true });

const operation = (more: object) =>
  defineOperation({
    name: "p.act",
    summary: "Act.",
    route: "POST /act",
    scope: "p:write",
    input: t.Object({}),
    output,
    handler,
    ...more,
  });

const event = (more: object) =>
  defineEvent({
    name: "p.acted",
    summary: "It acted.",
    scope: null,
    listing: null,
    payload: t.Object({ id: t.String() }),
    ...more,
  });

const plugin = (more: object): Plugin => ({ name: "p", summary: "A plugin.", ...more });
const acting = (more: object) => plugin({ operations: { act: operation(more) } });
const tool = (name: string) => ({ name, title: "Act", toolset: "core" });

function faultsOf(...plugins: Plugin[]): readonly string[] {
  try {
    createRegistry(plugins);
    return [];
  } catch (error) {
    if (error instanceof RegistryError) return error.faults;
    throw error;
  }
}

const get = { route: "GET /act/:id", input: t.Object({ id: t.String() }) };
const stray = event({ name: "q.stray" });
const job = (schedule: string, name = "p.tidy") =>
  plugin({
    jobs: { tidy: defineJob({ name, summary: "Tidy up.", schedule, handler: async () => {} }) },
  });
const route = (more: object) =>
  plugin({
    routes: {
      file: defineRoute({
        name: "p.file",
        summary: "A file.",
        route: "GET /file",
        scope: "public",
        handler: () => new Response(),
        ...more,
      }),
    },
  });
const combined = (name: string) =>
  plugin({
    tools: {
      all: defineTool({
        ...tool(name),
        toolset: "core",
        summary: "All.",
        scope: "p:write",
        read_only: false,
        input: t.Object({}),
        output,
        handler,
      }),
    },
  });
const guard = (on: object) =>
  plugin({
    operations: { read: operation({ name: "p.read", ...get }) },
    guards: { look: { name: "p.look", on, check: async () => {} } } as never,
  });
const reaction = (name: string, on = stray) =>
  plugin({ reactions: { follow: defineReaction({ name, on, handler: async () => {} }) } });

const faulty: Record<string, [string, ...Plugin[]]> = {
  "a plugin's name": [
    'The plugin "My-Plugin" must be named in snake_case',
    plugin({ name: "My-Plugin" }),
  ],
  "two plugins of one name": [
    'Two plugins are named "p"',
    plugin({}),
    plugin({ summary: "Another." }),
  ],
  "a plugin's summary": [
    'The summary of "p" must be a sentence',
    plugin({ summary: "no sentence" }),
  ],
  "a need that is not loaded": [
    '"p" needs "q", which is not loaded',
    plugin({ needs: [plugin({ name: "q" })] }),
  ],
  "a need that is loaded later": (() => {
    const later = plugin({ name: "q" });
    return ['"p" needs "q", which is loaded after it', plugin({ needs: [later] }), later];
  })(),
  "an operation's name": ['Operation "p.other" must be named "p.act"', acting({ name: "p.other" })],
  "an operation's summary": ['The summary of "p.act"', acting({ summary: "acts" })],
  "an operation's scope": ['"p.act" has the scope "write"', acting({ scope: "write" })],
  "a wildcard as a scope": ['"p.act" has the scope "p:*"', acting({ scope: "p:*" })],
  "two operations of one route": [
    '"p.b" and "p.a" have the same route GET /v1/act/:other',
    plugin({
      operations: {
        a: operation({ ...get, name: "p.a" }),
        b: operation({
          name: "p.b",
          route: "GET /act/:other",
          input: t.Object({ other: t.String() }),
        }),
      },
    }),
  ],
  "a path parameter without a field": [
    'no input field for ":id"',
    acting({ route: "POST /act/:id" }),
  ],
  "a field's name": [
    'the input field "camelCase"',
    acting({ input: t.Object({ camelCase: t.String() }) }),
  ],
  "an object in a query": [
    'takes "filter" from the query',
    acting({ route: "GET /act", input: t.Object({ filter: t.Object({}) }) }),
  ],
  "a read that emits": ["reads, so it cannot emit", acting({ ...get, emits: [event({})] })],
  "a read that prepares": [
    "reads, so it has nothing to prepare",
    acting({ ...get, prepare: async () => {} }),
  ],
  "an event that no plugin declares": [
    'emits "q.stray", which no plugin declares',
    acting({ emits: [stray] }),
  ],
  "an event of the same name, but another": [
    'emits "p.acted", which no plugin declares',
    plugin({
      events: { acted: event({}) },
      operations: { act: operation({ emits: [event({})] }) },
    }),
  ],
  "a record that nobody makes": [
    'refers by "who" to a "guest"',
    acting({ input: t.Object({ who: ref("guest") }) }),
  ],
  "a record deep inside": [
    'refers by "list[].who" to a "guest"',
    acting({ input: t.Object({ list: t.Array(t.Object({ who: ref("guest") })) }) }),
  ],
  "a tool's name": ['The tool "act" must be named verb_noun', acting({ tool: tool("act") })],
  "a tool's long name": [
    "must be named verb_noun",
    acting({ tool: tool(`act_${"on".repeat(20)}`) }),
  ],
  "two tools of one name": [
    'have the same tool name "act_now"',
    plugin({
      operations: { act: operation({ tool: tool("act_now") }) },
      tools: combined("act_now").tools,
    }),
  ],
  "a combined tool's name": ['The tool "All" must be named', combined("All")],
  "two events of one name": [
    'Two events are named "p.acted"',
    plugin({ events: { a: event({}), b: event({}) } }),
  ],
  "an event's name": ['The event "Acted"', plugin({ events: { a: event({ name: "Acted" }) } })],
  "an event's listing": [
    'has no payload field "listing_id"',
    plugin({ events: { a: event({ listing: "listing_id" }) } }),
  ],
  "an event's summary": [
    'The summary of "p.acted"',
    plugin({ events: { a: event({ summary: "acted" }) } }),
  ],
  "an event's scope": [
    '"p.acted" has the scope "all"',
    plugin({ events: { a: event({ scope: "all" }) } }),
  ],
  "a reaction's name": ['Reaction "p.other" must be named "p.follow"', reaction("p.other")],
  "a reaction to what no plugin declares": ['"p.follow" follows "q.stray"', reaction("p.follow")],
  "a guard of what is not there": [
    '"p.look" guards "p.act", which is not declared',
    guard(operation({})),
  ],
  "a guard of a read": [
    'guards "p.read", which only reads',
    guard(operation({ name: "p.read", ...get })),
  ],
  "a job's name": ['Job "p.other" must be named "p.tidy"', job("* * * * *", "p.other")],
  "a job's schedule": ['"now and then", which is no cron pattern', job("now and then")],
  "a job that is never due": ["which is no cron pattern", job("0 0 31 2 *")],
  "a route's name": ['Route "p.other" must be named "p.file"', route({ name: "p.other" })],
  "a route's scope": ['"p.file" has the scope "everybody"', route({ scope: "everybody" })],
  "a route's summary": ['The summary of "p.file"', route({ summary: "file" })],
  "a migration's name": [
    'The migration "p/first" must be named',
    plugin({ migrations: { first: [] } }),
  ],
};

describe("a fault is found:", () => {
  for (const [what, [fault, ...plugins]] of Object.entries(faulty)) {
    test(what, () => expect(faultsOf(...plugins).join("\n")).toContain(fault));
  }
});

test("all faults of all plugins are told in one error, each on a line of its own", () => {
  const wrong = plugin({
    summary: "wrong",
    operations: { act: operation({ name: "p.x", summary: "wrong", scope: "wrong" }) },
    migrations: { wrong: [] },
  });
  const also = job("wrong", "p.wrong");
  const faults = faultsOf(wrong, { ...also, name: "r" });
  expect(faults).toHaveLength(7);
  const error = new RegistryError(faults);
  expect(error.message).toStartWith("Cannot start: 7 fault(s) in the plugins\n  - ");
  expect(error.message.split("\n")).toHaveLength(8);
});

test("what ships has none, and neither has what is used in tests", () => {
  expect(() => declared(allPlugins)).not.toThrow();
  expect(() => declared([notesPlugin()])).not.toThrow();
  const { scopes } = declared(allPlugins);
  expect(scopes).toEqual([...new Set(scopes)].sort());
  for (const scope of scopes) expect(scope).toMatch(/^[a-z_]+:[a-z_]+$/);
});

test("a plugin stays what it was", () => {
  const own = definePlugin({ name: "p", summary: "A plugin.", operations: { act: operation({}) } });
  expect(createRegistry([own]).plugins).toEqual([own]);
  expect(createRegistry([own]).operations.get("p.act")?.operation).toBe(own.operations.act);
});
