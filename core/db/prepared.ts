/**
 * Prepared queries: built and compiled once, for the hot paths. Kysely else compiles each query anew, which costs more
 * than running it.
 *
 * @module
 */

import type { Compilable } from "kysely";

import { type Database, runCompiled } from "./handle.ts";

/** A query that was compiled once. Answers its rows. */
export interface Prepared<Parameters, Row> {
  (db: Database, parameters: Parameters): Promise<Row[]>;
}

class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Compiled {
  readonly sql: string;
  readonly slots: readonly unknown[];
}

/**
 * Declares a query by its parameters: `prepared<{ id: string }>()((db, p) => db.selectFrom(…).where("id", "=", p.id))`.
 * A parameter is a value, nothing else: it must not be looked at while the query is built.
 */
export function prepared<Parameters extends object>() {
  return <Row>(
    build: (db: Database, parameters: Parameters) => Compilable<Row>,
  ): Prepared<Parameters, Row> => {
    // One text for each database at hand: its dialect, and its plugins, may differ.
    const compiled = new WeakMap<object, Compiled>();
    const slots = new Proxy({}, { get: (_, name) => new Slot(String(name)) }) as Parameters;

    const compile = (db: Database): Compiled => {
      const { sql, parameters } = build(db, slots).compile();
      return { sql, slots: parameters };
    };

    return async (db, parameters) => {
      const { adapter } = db.getExecutor();
      let ready = compiled.get(adapter);
      if (ready === undefined) {
        ready = compile(db);
        compiled.set(adapter, ready);
      }
      const given = parameters as Record<string, unknown>;
      const values = ready.slots.map((slot) => (slot instanceof Slot ? given[slot.name] : slot));
      return (await runCompiled(db, ready.sql, values)) as Row[];
    };
  };
}

/** The named columns of a row: a prepared insert is built once, from parameters that know no names of their own. */
export function pick<Row, const Name extends keyof Row>(
  row: Row,
  names: readonly Name[],
): Pick<Row, Name> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;
}
