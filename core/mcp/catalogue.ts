/**
 * The catalogue: all tools of the server, and what each client may see of them.
 *
 * @module
 */

import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";

import type { App } from "../app.ts";
import { covers } from "../identity/scopes.ts";
import { RegistryError } from "../plugin/registry.ts";
import { instructions } from "./instructions.ts";
import { type Entry, operationEntry, toolEntry } from "./tool.ts";
import { type Choice, toolsetNames } from "./toolset.ts";

/** The tools as one client may see them. */
export interface View {
  /** Those that its scopes cover, in the form of the wire. */
  readonly listed: WireTool[];
  readonly instructions: string;
  /** A tool of the chosen ones, also where its scope is lacking. */
  find(name: string): Entry | undefined;
  /** Why a tool cannot be found, and what to do. */
  missing(name: string): string;
}

/** Shows the tools. */
export type Catalogue = (choice: Choice, scopes: readonly string[]) => View;

/** More than these a model does not keep apart. */
const mostInCore = 24;

const mostViews = 500;

/** Collects the tools of all plugins. Throws where the plugins offer too many of them in `core`. */
export function createCatalogue(app: App): Catalogue {
  const entries = collect(app);
  const core = entries.filter(({ toolset }) => toolset === "core");
  if (core.length > mostInCore) {
    throw new RegistryError([
      `The toolset "core" may have ${mostInCore} tools and has ${core.length}: move some into another toolset`,
    ]);
  }
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  // Views differ by scopes, and many credentials have the same: each is made once.
  const views = new LRUCache<string, View>({ max: mostViews });

  return (choice, scopes) => {
    const key = `${choice.read_only} ${choice.toolsets.join()} ${scopes.join(" ")}`;
    let view = views.get(key);
    if (view === undefined) {
      view = show(entries, byName, choice, scopes);
      views.set(key, view);
    }
    return view;
  };
}

function collect(app: App): Entry[] {
  const { operations, tools } = app.registry;
  const entries = [...tools.values()].map((tool) => toolEntry(app, tool));
  for (const registered of operations.values()) {
    const face = registered.operation.tool;
    if (face !== undefined) entries.push(operationEntry(app, registered, face));
  }
  // Always in one order: clients keep lists, and models what they read at the beginning.
  return entries.sort((a, b) => place(a) - place(b) || (a.name < b.name ? -1 : 1));
}

const place = ({ toolset }: Entry): number => toolsetNames.indexOf(toolset);

function show(
  entries: readonly Entry[],
  byName: ReadonlyMap<string, Entry>,
  choice: Choice,
  scopes: readonly string[],
): View {
  const chosen = ({ toolset, reads }: Entry): boolean =>
    choice.toolsets.includes(toolset) && (reads || !choice.read_only);
  const may = ({ scope }: Entry): boolean => scope === null || covers(scopes, scope);
  const others = new Set(
    entries
      .filter((entry) => may(entry) && !choice.toolsets.includes(entry.toolset))
      .map(({ toolset }) => toolset),
  );
  return {
    listed: entries.filter((entry) => chosen(entry) && may(entry)).map(({ wire }) => wire),
    instructions: instructions(choice, others),
    find(name) {
      const entry = byName.get(name);
      return entry !== undefined && chosen(entry) ? entry : undefined;
    },
    missing(name) {
      const entry = byName.get(name);
      if (entry === undefined) return `There is no tool "${name}": see tools/list`;
      if (!choice.toolsets.includes(entry.toolset)) {
        return `The tool "${name}" is in the toolset "${entry.toolset}", which was not chosen: add it to ?toolsets= in the server's address`;
      }
      return `The tool "${name}" writes, and this connection is read-only: remove ?readonly= from the server's address`;
    },
  };
}
