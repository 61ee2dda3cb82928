/**
 * What a handler is given, and what it has emitted.
 *
 * @module
 */

import type { Access, Database } from "../db/mod.ts";
import { type Emitted, wellFormed } from "../outbox/mod.ts";
import { Problem } from "../plugin/problem.ts";
import { type Checker, checker, close } from "../plugin/schema.ts";
import type { Actor, Context, Emit, EventType } from "../plugin/types.ts";

/** A context, and the events that were emitted through it. */
export interface Collecting {
  readonly context: Context;
  readonly emitted: readonly Emitted[];
}

/** What a context is made of. */
export interface ContextOptions {
  readonly db: Database;
  readonly access: Access;
  readonly actor: Actor;
  readonly scopes: readonly string[];
  readonly now: string;
  readonly events: ReadonlyMap<string, EventType>;
  readonly known_scopes: readonly string[];
  /** What may be emitted. */
  readonly emits: readonly EventType[];
  /** The version that the caller expects, from `If-Match`. */
  readonly ifMatch?: string | undefined;
}

const checkers = new WeakMap<EventType, Checker<unknown>>();

/** Makes a context that collects what is emitted. */
export function collectingContext({ emits, ifMatch, ...rest }: ContextOptions): Collecting {
  const emitted: Emitted[] = [];
  const emit: Emit = (event, payload) => {
    if (!emits.includes(event))
      throw new Error(`"${event.name}" was emitted but is not declared in \`emits\``);
    const data = wellFormed(payload) as Record<string, unknown>;
    const check = checkerOf(event);
    if (!check.fits(data)) {
      const faults = check.faults(data).map(({ message }) => message);
      throw new Error(`The payload of "${event.name}" is wrong: ${faults.join("; ")}`);
    }
    emitted.push({ event, payload: data });
  };
  const expect = ({ version }: { readonly version: number }): void => {
    if (
      ifMatch === undefined ||
      ifMatch === "*" ||
      ifMatch.split(/\s*,\s*/).includes(etag(version))
    )
      return;
    throw new Problem(
      "version_mismatch",
      `The record has changed since you read it: its version is ${version} now. Read it again and repeat`,
      { extra: { current_version: version } },
    );
  };
  return { context: { ...rest, emit, expect }, emitted };
}

/** The entity tag of a version (RFC 9110 §8.8.3). */
export const etag = (version: number): string => `"${version}"`;

function checkerOf(event: EventType): Checker<unknown> {
  let found = checkers.get(event);
  if (found === undefined) {
    found = checker(close(event.payload));
    checkers.set(event, found);
  }
  return found;
}
