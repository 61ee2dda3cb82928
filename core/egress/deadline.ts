import { Fault } from "./fault.ts";

/** The one time limit of a request, ended early by the caller's signal. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whole milliseconds since it started. */
  elapsed(): number;
  /** The fault to report once it has ended; undefined while it runs. */
  fault(): Fault | undefined;
  /** Lets go of timer and signal. `cut` also closes a connection still in use. */
  stop(cut: boolean): void;
}

// A longer timer would fire at once.
const LONGEST_MS = 2 ** 31 - 1;

/** Starts a deadline now. */
export function startDeadline(ms: number, outer: AbortSignal | undefined): Deadline {
  const started = performance.now();
  const controller = new AbortController();
  let fault: Fault | undefined;
  const end = (reason: Fault): void => {
    fault ??= reason;
    controller.abort();
  };
  const onAbort = (): void => end(new Fault("aborted", "it was stopped before an answer came"));
  const timer = setTimeout(
    () => end(new Fault("timeout", `no answer came within ${ms} ms`)),
    Math.min(ms, LONGEST_MS),
  );
  if (outer?.aborted === true) onAbort();
  else outer?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    elapsed: () => Math.round(performance.now() - started),
    fault: () => fault,
    stop: (cut) => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
      if (cut) controller.abort();
    },
  };
}
