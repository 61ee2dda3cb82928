/**
 * What a plugin calls to declare something. Each keeps the exact types of what it is given; none of them does anything.
 *
 * @module
 */

import { close, type Static, type TObject, type TSchema } from "./schema.ts";
import type {
  AnyGuard,
  Context,
  EventType,
  Job,
  Operation,
  Plugin,
  Reaction,
  Route,
  Tool,
} from "./types.ts";

type Field<Payload extends TObject> = keyof Payload["properties"] & string;

/** Declares an event. */
export function defineEvent<const Name extends string, Payload extends TObject>(
  event: EventType<Name, Payload> & { listing: Field<Payload> | null; only?: Field<Payload> },
): EventType<Name, Payload> {
  return event;
}

/** Declares an operation. Its input is closed: what it does not name is refused. */
export function defineOperation<
  Input extends TObject,
  Output extends TSchema,
  Emits extends EventType = never,
  Prepared = undefined,
>(operation: Operation<Input, Output, Emits, Prepared>): Operation<Input, Output, Emits, Prepared> {
  return { ...operation, input: close(operation.input) };
}

/** Declares a reaction to an event of this plugin or of one that it needs. */
export function defineReaction<On extends EventType, Emits extends EventType = never>(
  reaction: Reaction<On, Emits>,
): Reaction<On, Emits> {
  return reaction;
}

/** Declares a guard of an operation of a plugin that this one needs. */
export function defineGuard<
  Input extends TObject,
  Output extends TSchema,
  Emits extends EventType,
>(guard: {
  readonly name: string;
  readonly on: Operation<Input, Output, Emits, undefined>;
  check(input: Static<Input>, context: Context): Promise<void>;
}): AnyGuard {
  return guard as unknown as AnyGuard;
}

/** Declares a job. */
export function defineJob<Emits extends EventType = never>(job: Job<Emits>): Job<Emits> {
  return job;
}

/** Declares a raw route. */
export function defineRoute(route: Route): Route {
  return route;
}

/** Declares a tool of several operations. */
export function defineTool<Input extends TObject, Output extends TObject>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return { ...tool, input: close(tool.input) };
}

/** Declares a plugin. */
export function definePlugin<const P extends Plugin>(plugin: P): P {
  return plugin;
}
