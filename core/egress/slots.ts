/** A counting semaphore, first come, first served. */
export interface Slots {
  /** Waits for a slot. False where the signal ended the wait: then no slot is held. */
  take(signal: AbortSignal | undefined): Promise<boolean>;
  /** Gives a slot back. */
  release(): void;
}

/** Makes a semaphore of `max` slots. */
export function createSlots(max: number): Slots {
  if (!Number.isInteger(max) || max < 1) {
    throw new RangeError(`Cannot run ${max} requests at once: give a whole number from 1`);
  }
  let free = max;
  const waiting = new Set<() => void>();
  return {
    take(signal) {
      if (signal?.aborted === true) return Promise.resolve(false);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const settle = (held: boolean): void => {
          waiting.delete(onSlot);
          signal?.removeEventListener("abort", onAbort);
          resolve(held);
        };
        const onSlot = (): void => settle(true);
        const onAbort = (): void => settle(false);
        waiting.add(onSlot);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    release() {
      const [next] = waiting;
      if (next === undefined) free += 1;
      else next();
    },
  };
}
