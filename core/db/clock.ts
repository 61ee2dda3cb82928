/**
 * The clock. Nothing else in the server asks what time it is, so that tests and sandbox accounts can move it.
 *
 * @module
 */

import { instantOf } from "./time.ts";

/** Tells the time, for the whole server or as one account sees it. */
export interface Clock {
  /** Milliseconds since 1970. */
  ms(account_id?: string): number;
  /** The same as `YYYY-MM-DDTHH:MM:SSZ`. */
  now(account_id?: string): string;
}

/** The machine's clock. */
export function systemClock(): Clock {
  return { ms: () => Date.now(), now: () => instantOf(Date.now()) };
}

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  set(ms: number): void;
  advance(ms: number): void;
}

/** A clock for tests. */
export function fakeClock(start: number): FakeClock {
  let ms = start;
  return {
    ms: () => ms,
    now: () => instantOf(ms),
    set(to) {
      ms = to;
    },
    advance(by) {
      ms += by;
    },
  };
}
