/**
 * The declarations that plugins write and core reads. Nothing in this file runs.
 *
 * @module
 */

import type { App } from "../app.ts";
import type { Config } from "../config/mod.ts";
import type { Access } from "../db/access.ts";
import type { Migrations } from "../db/migrate.ts";
import type { Database } from "../db/mod.ts";
import type { Egress } from "../egress/mod.ts";
import type { Secrets } from "../secrets/mod.ts";
import type { ProblemCode } from "./problem.ts";
import type { Static, TObject, TSchema } from "./schema.ts";

/** Who is asking: a credential, a person at the dashboard, the command line, or the server itself. */
export interface Actor {
  readonly kind: "api_key" | "oauth" | "session" | "cli" | "system";
  /** The credential's id; null for a session, the command line and the system, which are never echo-guarded. */
  readonly credential_id: string | null;
  readonly user_id: string | null;
  /** A name for people: a key's label, a person's name. */
  readonly label: string;
}

/** What a credential may do. `resource:action`; `*` stands for all, on either side of the colon too. */
export type Scope = "*" | `${string}:${string}`;

/** A fact that has happened. It is emitted in the transaction that made it true. */
export interface EventType<Name extends string = string, Payload extends TObject = TObject> {
  readonly name: Name;
  readonly summary: string;
  /** Counted up only when a payload changes in a way that breaks its readers. */
  readonly schema_version?: number;
  /** Needed to subscribe to it and to read it; null where everybody with `webhooks:*` may. */
  readonly scope: Scope | null;
  readonly payload: Payload;
  /** Which payload field holds the id of the listing concerned; null where there is none. */
  readonly listing: string | null;
  /** Which payload field names the one subscription that is told; all that want it are told where absent. */
  readonly only?: string;
  /** Is it kept from the subscriptions of the credential that caused it? */
  readonly echo_guarded?: boolean;
}

/** Takes note of an event. It is checked at once and stored just before the commit: nothing to await or to forget. */
export type Emit<Emits extends EventType = EventType> = <E extends Emits>(
  event: E,
  payload: Static<E["payload"]>,
) => void;

/** What a handler may use. There is no other way out. */
export interface Context<Emits extends EventType = EventType> {
  /** The unit of a write, or a read-only snapshot. It dies with the call. */
  readonly db: Database;
  /** Whose rows may be touched: the first argument of every store function. */
  readonly access: Access;
  readonly actor: Actor;
  /** What the caller's credential grants. */
  readonly scopes: readonly string[];
  /** The instant of this call, `YYYY-MM-DDTHH:MM:SSZ`, by the account's clock. */
  readonly now: string;
  readonly emit: Emit<Emits>;
  /** Every scope that some operation or event asks for. */
  readonly known_scopes: readonly string[];
  /** All events that the loaded plugins declare, by name. */
  readonly events: ReadonlyMap<string, EventType>;
  /** Compares the version that the caller expects (`If-Match`) with the record's; throws `version_mismatch`. */
  readonly expect: (record: { readonly version: number }) => void;
}

/** Method and path below `/v1`. `GET` reads, `DELETE` destroys, every other method writes. */
export type OperationRoute = `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

/** Groups of tools that an MCP client may choose from. */
export type Toolset =
  | "core"
  | "finance"
  | "pricing"
  | "guests"
  | "team"
  | "approvals"
  | "crm"
  | "recruiting"
  | "devices"
  | "admin"
  | "meta";

/** How an operation shows itself to MCP clients. Reading, destroying and repeating follow from its method. */
export interface ToolFace {
  /** `verb_noun`. */
  readonly name: string;
  readonly title: string;
  readonly toolset: Toolset;
  /** Which fields of a record make the line that a list shows of it; all that there is room for where absent. */
  readonly line?: readonly string[];
  /** Can it not be undone? A `DELETE` is so anyway. */
  readonly destructive?: boolean;
  /** Does it reach beyond this server, to guests or channels? */
  readonly open_world?: boolean;
}

/** One thing that the server can do. REST, OpenAPI, MCP, command line, audit, replay and limits follow from it. */
export interface Operation<
  Input extends TObject = TObject,
  Output extends TSchema = TSchema,
  Emits extends EventType = EventType,
  Prepared = unknown,
> {
  /** `<plugin>.<export>`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly route: OperationRoute;
  /** Null where any valid credential will do. */
  readonly scope: Scope | null;
  /** Not for credentials that are restricted to listings: what it touches belongs to none. */
  readonly whole_account?: true;
  /** The account's plan that is needed at least. */
  readonly plan?: "free" | "pro" | "enterprise";
  /** Path, query and body in one object; where each field comes from follows from the route. */
  readonly input: Input;
  readonly output: Output;
  /** The status of success; 200 where absent. */
  readonly status?: 200 | 201 | 202;
  readonly emits?: readonly Emits[];
  /** Problems beyond those that every operation may meet. */
  readonly problems?: readonly ProblemCode[];
  readonly tool?: ToolFace;
  /** May be called without a body though fields exist. */
  readonly body?: "optional";
  /** Work that needs the network, a hash or an image: it runs before the unit, without a database. */
  prepare?(input: Static<Input>, services: Services): Promise<Prepared>;
  handler(
    input: Static<Input>,
    context: Context<Emits>,
    prepared: Prepared,
  ): Promise<Static<Output>>;
}

/** What core lends to a `prepare`, an Effect or a Route: all that may reach out of a transaction. */
export interface Services {
  readonly config: Config;
  readonly egress: Egress;
  readonly secrets: Secrets;
}

/** Work that follows an event, once, in a transaction of its own. */
export interface Reaction<On extends EventType = EventType, Emits extends EventType = EventType> {
  /** `<plugin>.<export>`. */
  readonly name: string;
  readonly on: On;
  readonly emits?: readonly Emits[];
  handler(payload: Static<On["payload"]>, context: Context<Emits>): Promise<void>;
}

/** What a job may use: all accounts, and a context of one of them where it writes. */
export interface JobContext<Emits extends EventType = EventType> {
  readonly db: Database;
  readonly now: string;
  /** The context of one account, in the same unit. */
  as(account_id: string): Context<Emits>;
}

/** Work on a schedule. Each due time is worked off once, in one unit, however often the server restarts. */
export interface Job<Emits extends EventType = EventType> {
  /** `<plugin>.<export>`. */
  readonly name: string;
  readonly summary: string;
  /** A cron pattern in UTC; with six fields the first one is seconds. */
  readonly schedule: string;
  readonly emits?: readonly Emits[];
  /** Asked on a read-only connection first: false saves the commit of an idle run. */
  pending?(db: Database, now: string): Promise<boolean>;
  /** A slice of the work; true asks to be called again at once. */
  handler(context: JobContext<Emits>): Promise<boolean | void>;
}

/** Network work after the commit, at least once, on the same durable lanes as webhooks. */
export interface Effect<On extends EventType = EventType> {
  /** `<plugin>.<export>`. */
  readonly name: string;
  readonly on: On;
  handler(payload: Static<On["payload"]>, services: Services): Promise<void>;
}

/** What a raw route is given. */
export interface RouteContext {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly app: App;
}

/** A path that is no operation: uploads, calendar files, event streams, pages drawn by the server. */
export interface Route {
  /** `<plugin>.<export>`. */
  readonly name: string;
  readonly summary: string;
  readonly route: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  /** `public` where no credential is asked for. */
  readonly scope: Scope | "public";
  handler(context: RouteContext): Promise<Response> | Response;
}

/** Looks at an operation of another plugin before it runs, in its unit, and may refuse it. */
export interface Guard<Input extends TObject = TObject> {
  /** `<plugin>.<export>`. */
  readonly name: string;
  readonly on: Operation<Input, TSchema, never, never>;
  /** Throws a `Problem` to refuse. */
  check(input: Static<Input>, context: Context): Promise<void>;
}

/** A tool made of several operations. */
export interface Tool<
  Input extends TObject = TObject,
  Output extends TObject = TObject,
> extends ToolFace {
  readonly summary: string;
  readonly scope: Scope;
  readonly read_only: boolean;
  readonly input: Input;
  readonly output: Output;
  /** `call` runs an operation with the caller's own rights. */
  handler(input: Static<Input>, call: Call): Promise<Static<Output>>;
}

/** Runs an operation with the rights of the caller at hand. */
export type Call = <I extends TObject, O extends TSchema, E extends EventType, P>(
  operation: Operation<I, O, E, P>,
  input: Asked<I>,
) => Promise<Static<O>>;

/** An input as a caller gives it: what has a default may be left out. */
export type Asked<I extends TObject> = Partial<Static<I>>;

/** What a plugin makes its part of the demo account with. */
export interface DemoKit {
  readonly call: Call;
  /** `YYYY-MM-DD`. */
  readonly today: string;
}

/** A page of the dashboard. */
export interface Page {
  readonly path: string;
  readonly title: string;
  readonly group: "today" | "stays" | "inbox" | "operations" | "growth" | "settings";
  readonly scope: Scope;
}

/** A typed setting of an account. */
export interface Setting<Value extends TSchema = TSchema> {
  readonly name: string;
  readonly summary: string;
  readonly value: Value;
  readonly secret?: boolean;
}

/** A source of ⌘K. */
export interface Search {
  readonly name: string;
  readonly scope: Scope;
  find(
    text: string,
    context: Context,
  ): Promise<readonly { title: string; subtitle: string; path: string }[]>;
}

type Named<T> = Readonly<Record<string, T>>;

/** A domain. `name` is its folder, and the beginning of all that it declares. */
export interface Plugin {
  readonly name: string;
  readonly summary: string;
  readonly needs?: readonly Plugin[];
  readonly operations?: Named<AnyOperation>;
  readonly events?: Named<EventType>;
  readonly reactions?: Named<AnyReaction>;
  readonly jobs?: Named<AnyJob>;
  readonly effects?: Named<AnyEffect>;
  readonly routes?: Named<Route>;
  readonly guards?: Named<AnyGuard>;
  readonly tools?: Named<AnyTool>;
  readonly pages?: readonly Page[];
  readonly settings?: Named<Setting>;
  readonly search?: Named<Search>;
  readonly migrations?: Migrations;
  /** For each record that others refer to by id: the operation that makes one. Tests make strangers' records by it. */
  readonly records?: Named<AnyOperation>;
  /** Makes this domain's part of the demo account; run again, it changes nothing. */
  demo?(kit: DemoKit): Promise<void>;
}

/* eslint-disable @typescript-eslint/no-explicit-any -- a list of operations of different types has no narrower type. */
export type AnyOperation = Operation<any, any, any, any>;
export type AnyReaction = Reaction<any, any>;
export type AnyJob = Job<any>;
export type AnyEffect = Effect<any>;
export type AnyGuard = Guard<any>;
export type AnyTool = Tool<any, any>;
