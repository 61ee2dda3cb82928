/**
 * Texts: what a tool answers in words, short enough to be read and plain enough to act on.
 *
 * @module
 */

import type { Problem, ProblemCode } from "../plugin/problem.ts";

/** What else is to be said of a success. */
export interface ResultNotes {
  readonly dry_run: boolean;
  readonly replayed: boolean;
  /** The fields that a record's line is made of. */
  readonly line: readonly string[] | undefined;
}

/** The text of a success: of a page its count and a line for each record, of everything else its JSON. */
export function resultText(value: unknown, { dry_run, replayed, line }: ResultNotes): string {
  const text = isPage(value) ? pageText(value, line) : JSON.stringify(value);
  if (dry_run) return `Dry run: this would come of it; nothing was changed.\n${text}`;
  return replayed
    ? `Done before with this idempotency_key; nothing was done again.\n${text}`
    : text;
}

interface PageValue {
  readonly data: readonly unknown[];
  readonly page: { readonly next_cursor: string | null };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isPage = (value: unknown): value is PageValue =>
  isRecord(value) && Array.isArray(value.data) && isRecord(value.page);

function pageText(
  { data, page: { next_cursor } }: PageValue,
  fields: readonly string[] | undefined,
): string {
  if (data.length === 0) return "No records.";
  const count = data.length === 1 ? "1 record" : `${data.length} records`;
  const more = next_cursor === null ? "" : `, and more with cursor ${JSON.stringify(next_cursor)}`;
  return [
    `${count}${more}:`,
    ...data.map((record) => `- ${fields === undefined ? line(record) : lineOf(record, fields)}`),
  ].join("\n");
}

const nameFields = ["title", "full_name", "name", "label", "subject", "code", "event"];

// Of no use to a reader who has the record's name and id.
const dull = new Set(["id", "account_id", "created_at", "updated_at", "version"]);

const mostLine = 200;

/** A record in a line: its name, its id, and of its fields as many as there is room for. */
function line(record: unknown): string {
  if (!isRecord(record)) return short(record);
  const nameField = nameFields.find((field) => isName(record[field]));
  const head = [
    nameField === undefined ? [] : [short(record[nameField])],
    isName(record.id) ? [nameField === undefined ? record.id : `(${record.id})`] : [],
  ].flat();
  let text = head.join(" ");
  for (const [field, value] of Object.entries(record)) {
    if (field === nameField || dull.has(field)) continue;
    const fact = factOf(value);
    if (fact === undefined) continue;
    const longer = `${text}${text === "" ? "" : ", "}${field} ${fact}`;
    if (longer.length > mostLine) break;
    text = longer;
  }
  return text === "" ? short(JSON.stringify(record)) : text;
}

/** A record in a line of chosen fields, with its id at the end. */
function lineOf(record: unknown, fields: readonly string[]): string {
  if (!isRecord(record)) return short(record);
  const facts = fields.map((field) => factOf(record[field])).filter((fact) => fact !== undefined);
  return `${facts.join(", ")} (${String(record.id)})`;
}

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";

function factOf(value: unknown): string | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  if (!isRecord(value)) return Array.isArray(value) ? undefined : short(value);
  const name = nameFields.map((field) => value[field]).find(isName);
  return name === undefined ? undefined : short(name);
}

const mostValue = 60;

// One line each: a text from a stranger must not look like a line of ours.
function short(value: unknown): string {
  const text = String(value).replaceAll(/[\s\p{Cc}]+/gu, " ");
  return text.length <= mostValue ? text : `${text.slice(0, mostValue - 1)}…`;
}

const advice: Partial<Record<ProblemCode, string>> = {
  validation_failed: "Correct the arguments named here and call again.",
  invalid_cursor: "Leave the cursor out to begin at the first page.",
  not_found: "Find the id with a list or search tool; do not guess it.",
  duplicate: "Use the record that is there already, or choose another value.",
  dates_unavailable: "Choose other dates, or another listing.",
  invalid_transition: "Read the record to see its present state.",
  insufficient_scope: "Tell the user which scope is missing; you cannot add it yourself.",
  listing_not_permitted: "Tell the user; this credential covers other listings only.",
  plan_upgrade_required: "Tell the user, with the billing_url.",
  idempotency_key_in_use: "Wait a moment, then repeat the same call.",
  maintenance: "Repeat the same call in a few seconds.",
  internal: "Try once more; if it fails again, tell the user the request id.",
};

/** The text of a failure: what happened, what to do, and the whole error as JSON. */
export function problemText(problem: Problem, request_id: string): string {
  const { code, message, details } = problem;
  const named = details.filter((detail) => !message.includes(detail.message));
  const lines = [
    `${message}. (${code})`.replace(/([.!?])\. \(/, "$1 ("),
    ...named.map((detail) => `- ${detail.field}: ${detail.message}`),
    ...(advice[code] === undefined ? [] : [advice[code]]),
    JSON.stringify(problem.body(request_id)),
  ];
  return lines.join("\n");
}
