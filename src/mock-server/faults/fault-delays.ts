import type { Clock } from '../clock/clock.ts';

/** The waits that faults cause, by the mock's clock. They end early when nobody waits any more, or the mock is closed. */
export class FaultDelays {
  readonly #clock: Clock;
  readonly #waiting = new Set<AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Infinity waits for the end. Says whether the whole time has passed. */
  async wait(ms: number, gone: AbortSignal | undefined): Promise<boolean> {
    const end = new AbortController();
    const stop = () => end.abort();
    if (gone?.aborted) return false;
    gone?.addEventListener('abort', stop, { once: true });
    this.#waiting.add(end);
    try {
      await (ms === Number.POSITIVE_INFINITY ? aborted(end.signal) : this.#clock.sleep(ms, end.signal));
      return !end.signal.aborted;
    } catch (error) {
      if (end.signal.aborted) return false;
      throw error;
    } finally {
      gone?.removeEventListener('abort', stop);
      this.#waiting.delete(end);
    }
  }

  endAll(): void {
    for (const end of this.#waiting) end.abort();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
