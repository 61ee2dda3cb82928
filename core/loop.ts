/**
 * A loop: looks for work, works, waits, and looks again; sooner where it is woken.
 *
 * @module
 */

/** A loop at rest or at work. */
export interface Loop {
  start(): void;
  /** There may be work: look now, or again once this look is over. */
  wake(): void;
  /** Ends the loop and waits for the look under way. */
  stop(): Promise<void>;
  /** Waits until the look under way, and those asked for meanwhile, are over. */
  idle(): Promise<void>;
}

/** Makes a loop of `look`, which answers how many milliseconds to wait before the next. */
export function createLoop(look: () => Promise<number>, failed: (error: unknown) => void): Loop {
  let running = false;
  let looking: Promise<void> | undefined;
  let again = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const afterFailure = 1000;

  const turn = async (): Promise<void> => {
    let wait = afterFailure;
    do {
      again = false;
      try {
        wait = await look();
      } catch (error) {
        failed(error);
        wait = afterFailure;
      }
      // Woken while looking: what came in meanwhile must not wait for the timer.
    } while (again && running);
    looking = undefined;
    if (running) timer = setTimeout(wake, wait);
  };

  const wake = (): void => {
    if (!running) return;
    again = true;
    if (looking !== undefined) return;
    clearTimeout(timer);
    looking = turn();
  };

  return {
    wake,
    start() {
      running = true;
      wake();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await looking;
    },
    async idle() {
      while (looking !== undefined) await looking;
    },
  };
}
