/**
 * Toolsets: which tools a client sees. A model chooses best among few: without a word it is offered the daily ones.
 *
 * @module
 */

import { invalid, Problem } from "../plugin/problem.ts";
import type { Toolset } from "../plugin/types.ts";

/** What each toolset is for, in the order in which tools are listed. */
export const toolsets: Readonly<Record<Toolset, string>> = {
  core: "the daily work: listings, calendar, stays, guests' messages, tasks, cleanings",
  finance: "expenses and owner statements",
  pricing: "prices and the rules that make them",
  guests: "guests and their check-in forms",
  team: "the team and its chat",
  approvals: "what waits for a person's word",
  crm: "owners to win: contacts and opportunities",
  recruiting: "jobs and applications",
  devices: "locks, codes and sensors",
  admin: "webhooks, the audit log and other matters of the account",
  meta: "Innkeep itself",
};

/** The toolsets by name, in order. */
export const toolsetNames = Object.keys(toolsets) as Toolset[];

/** What a client wants to see. */
export interface Choice {
  /** In order, each once. */
  readonly toolsets: readonly Toolset[];
  readonly read_only: boolean;
}

const known = ["toolsets", "readonly"];

/** Reads the choice from the address (`?toolsets=core,admin&readonly=1`) or from `X-MCP-Toolsets`. */
export function readChoice({ url, headers }: Request): Choice {
  const { searchParams } = new URL(url);
  // A misspelt "readonly" must not go unnoticed: it would leave the writing tools in.
  const unknown = [...searchParams.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const message = `Unknown: ${unknown.join(", ")}. The address may have: ${known.join(", ")}`;
    throw new Problem("unknown_parameter", message);
  }
  const wanted = searchParams.get("toolsets") ?? headers.get("x-mcp-toolsets");
  return { toolsets: readToolsets(wanted), read_only: readFlag(searchParams.get("readonly")) };
}

function readToolsets(text: string | null): readonly Toolset[] {
  const names = (text ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length === 0) return ["core"];
  const unknown = names.filter((name) => name !== "all" && !Object.hasOwn(toolsets, name));
  if (unknown.length > 0) {
    const message = `Unknown toolsets: ${unknown.join(", ")}. There are: all, ${toolsetNames.join(", ")}`;
    throw invalid("toolsets", "not_allowed", message);
  }
  return names.includes("all") ? toolsetNames : toolsetNames.filter((name) => names.includes(name));
}

function readFlag(text: string | null): boolean {
  if (text === null || text === "0" || text === "false") return false;
  if (text === "" || text === "1" || text === "true") return true;
  throw invalid("readonly", "wrong_type", '"readonly" must be 1 or 0');
}
