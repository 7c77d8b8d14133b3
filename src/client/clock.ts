/** A source of time. Tests pass one that they control. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Returns milliseconds since any fixed moment, unaffected by changes of the system clock. The client measures durations
   * with it. If omitted, it uses `now()`, and a step forward counts as elapsed time.
   */
  monotonicNow?(): number;
}

/** Node fires a longer timer after 1 ms, which would turn a long wait into a hot loop. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own time. */
export const realClock: Clock = {
  // biome-ignore lint/plugin: this is the real clock
  now: () => Date.now(),
  // biome-ignore lint/plugin: this is the real clock
  monotonicNow: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      // biome-ignore lint/plugin: this is the real clock
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
        Math.min(Math.max(ms, 0), LONGEST_TIMER_MS),
      );
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
