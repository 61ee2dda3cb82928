/**
 * A house with two accounts, in which operations are tried as their declarations say.
 *
 * @module
 */

import { fakeClock } from "../../core/db/mod.ts";
import type { ProblemCode } from "../../core/plugin/problem.ts";
import type { RegisteredOperation, Registry } from "../../core/plugin/registry.ts";
import type { TObject, TSchema } from "../../core/plugin/schema.ts";
import { type Client, type Reply, serve, type Served } from "../fixture.ts";
import { type Reference, sketch, withValue } from "./draft.ts";

/** Somebody with a key. */
export interface Party {
  readonly account_id: string;
  readonly key_id: string;
  readonly client: Client;
}

/** A record that was made, and the listings that were made for it (itself, where it is one). */
export interface Made {
  readonly id: string;
  readonly listings: readonly string[];
}

/** What takes an input: an operation, or a tool of several. */
export interface Callable {
  readonly operation: { readonly name: string; readonly input: TSchema };
}

/** A call that should succeed. */
export interface Draft {
  readonly input: Record<string, unknown>;
  readonly references: readonly Reference[];
  /** The listings that its records belong to. */
  readonly listings: readonly string[];
}

/** What goes with a call. */
export interface SendOptions {
  /** `dry_run=true` */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server, and how to try its operations. */
export interface House extends AsyncDisposable {
  readonly server: Served;
  readonly registry: Registry;
  /** A new key of the first account that may do all. */
  party(): Promise<Party>;
  /** The same of another account. */
  stranger(): Promise<Party>;
  /** Makes a record, and whatever it belongs to. */
  make(party: Party, record: string): Promise<Made>;
  /** An input whose records the party has made. */
  draft(party: Party, of: Callable, fields?: "all" | "required"): Promise<Draft>;
}

// Half a year before the dates of the samples, for good.
const today = Date.UTC(2027, 0, 10, 12);

/** Opens a house. Nothing is worked off in it: what a call has written stays as it is. */
export async function openHouse(): Promise<House> {
  const server = await serve({
    start: false,
    clock: fakeClock(today),
    env: { RATE_TIERS: "enterprise=1000000000,anonymous=1000000000" },
  });
  const { registry } = server.app;
  const other = await server.account("Stranger");

  const partyOf = async (account_id: string): Promise<Party> => {
    const { id, client } = await server.key({ account_id });
    return { account_id, key_id: id, client };
  };

  const make: House["make"] = async (party, record) => {
    const registered = registry.operations.get(registry.records.get(record)?.name ?? "");
    if (registered === undefined) throw new Error(`Nothing makes a "${record}"`);
    const { input, listings } = await draft(party, registered, "required");
    const reply = await send(party.client, registered, input);
    if (reply.status >= 300) throw new Error(`Cannot make a "${record}": ${reply.text}`);
    const id = reply.json.id as string;
    return { id, listings: record === "listing" ? [...listings, id] : listings };
  };

  const draft: House["draft"] = async (party, { operation }, fields = "all") => {
    const schema = operation.input as TObject;
    const { input, references } = sketch(schema, fields);
    // What may be named is there in any case: some operations find it by themselves.
    const wanted = fields === "all" ? references : sketch(schema, "all").references;
    const stock = new Map<string, Made[]>();
    for (const { record } of isMaking(registry, operation.name) ? references : wanted) {
      stock.set(record, [...(stock.get(record) ?? []), await make(party, record)]);
    }
    const listings = [...stock.values()].flat().flatMap((one) => one.listings);
    let filled = input;
    for (const { path, record } of references) {
      filled = withValue(filled, path, stock.get(record)?.shift()?.id);
    }
    return { input: filled, references, listings };
  };

  return {
    server,
    registry,
    party: () => partyOf(server.account_id),
    stranger: () => partyOf(other),
    make,
    draft,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Is it the operation that makes some record? Then it needs only what it must be given, or there would be no end. */
const isMaking = ({ records }: Registry, name: string): boolean =>
  records.values().some((operation) => operation.name === name);

/** Calls an operation over REST. */
export async function send(
  client: Client,
  registered: RegisteredOperation,
  input: Readonly<Record<string, unknown>>,
  { query = "", headers = {} }: SendOptions = {},
): Promise<Reply> {
  const { method, origins, operation } = registered;
  let path = registered.path;
  const search = new URLSearchParams(query);
  // Without a prototype: a field may be called `__proto__`.
  const body = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(input)) {
    const known = Object.hasOwn(origins, name) ? origins[name] : undefined;
    const origin = known ?? (registered.reads ? "query" : "body");
    if (origin === "body") body[name] = value;
    else if (origin === "query" && value !== null) search.set(name, textOf(value));
    else if (origin === "path") {
      path = path.replace(new RegExp(`:${name}\\b`), () => encodeURIComponent(textOf(value)));
    }
  }
  const takesBody = Object.values(origins).includes("body") && operation.body !== "optional";
  const given = takesBody || Object.keys(body).length > 0 ? body : undefined;
  const address = `/v1${path}${search.size > 0 ? `?${search.toString()}` : ""}`;
  const reply = await client(method, address, given, headers);
  const code = reply.json?.error?.code as ProblemCode | undefined;
  const declared = [...everywhere, ...(operation.problems ?? [])];
  if (operation.whole_account === true) declared.push("listing_not_permitted");
  if (code !== undefined && !declared.includes(code)) {
    throw new Error(`"${operation.name}" answers "${code}" and does not declare it: ${reply.text}`);
  }
  return reply;
}

/** What any operation may answer (with an empty id in its path it is another one); all else it declares. */
const everywhere: readonly ProblemCode[] = [
  "invalid_json",
  "unknown_parameter",
  "invalid_cursor",
  "missing_credential",
  "invalid_api_key",
  "invalid_token",
  "revoked",
  "insufficient_scope",
  "idempotency_key_in_use",
  "idempotency_key_reused",
  "unsupported_media_type",
  "validation_failed",
  "method_not_allowed",
];

/** A value as a path or a query has it. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The status of its success. */
export const successOf = ({ operation }: RegisteredOperation): number => operation.status ?? 200;
