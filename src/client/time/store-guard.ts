import { abortable, type Cancellation } from './abort.ts';
import type { SteadyTime } from './clock.ts';

/** Pause between two tries of a store that is away. */
const PAUSE_MS = 1_000;
/** A call waits for a store for a part of its remaining time, and long enough for one that is far away. */
const PATIENCE = { part: 0.2, leastMs: 25 };

export interface StoreGuardOptions {
  readonly time: SteadyTime;
  /** A use of the store that takes longer has failed. */
  readonly timeoutMs: number;
  /** Called once per outage, with its number from 1. */
  readonly onOutage: (error: unknown, outage: number) => void;
}

/**
 * Measures the uses of a store, independent of the calls that wait for them. From the first use that fails or takes too long,
 * the store is away until a use succeeds: calls do without it, and it is tried again in the background.
 */
export class StoreGuard {
  readonly #options: StoreGuardOptions;
  /** When a store that is away may be tried again, in the dated time. */
  #tryAgainAt: number | undefined;
  #outages = 0;

  constructor(options: StoreGuardOptions) {
    this.#options = options;
  }

  /** The time of the next try of a store that is away; `undefined` if it works, as far as is known. */
  get awayUntil(): number | undefined {
    return this.#tryAgainAt;
  }

  /** Uses the store. Rejects if that fails or takes too long. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    const { time, timeoutMs } = this.#options;
    // One try at a time.
    if (this.#tryAgainAt !== undefined) this.#tryAgainAt = time.datedNow() + timeoutMs + PAUSE_MS;
    try {
      const result = await time.withTimeout((cancellation) => abortable(work(), cancellation), {
        afterMs: timeoutMs,
        errorOf: () => new Error(`no response within ${timeoutMs} ms`),
      });
      this.#tryAgainAt = undefined;
      return result;
    } catch (error) {
      throw this.failed(error);
    }
  }

  /**
   * Uses the store for a call, which waits for a part of its remaining time. `undefined` if the store is away, fails or takes
   * longer; the use itself is measured to its end. Rejects if the call is cancelled.
   */
  async useFor<T>(
    { signal, deadlineAt }: { readonly signal: Cancellation; readonly deadlineAt: number },
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    const { time } = this.#options;
    const now = time.now();
    const isAway = this.#tryAgainAt !== undefined;
    if (this.#tryAgainAt !== undefined && time.datedNow() < this.#tryAgainAt) return undefined;
    const used = this.use(work).catch(() => undefined);
    if (isAway) return undefined;
    const afterMs = patienceEnd(now, deadlineAt) - now;
    if (afterMs === Number.POSITIVE_INFINITY) return abortable(used, signal);
    const options = { afterMs, signal, errorOf: () => undefined };
    const waited = time.withTimeout((patience) => abortable(used, patience), options);
    return waited.catch(() => {
      if (signal.aborted) throw signal.reason;
      return undefined;
    });
  }

  /** The store is away. Returns the error. */
  failed(error: unknown): unknown {
    const isNew = this.#tryAgainAt === undefined;
    this.#tryAgainAt = this.#options.time.datedNow() + PAUSE_MS;
    if (isNew) {
      this.#outages += 1;
      this.#options.onOutage(error, this.#outages);
    }
    return error;
  }
}

/** Time until which a call with this deadline waits for a use of a store that started at `startedAt`. */
export function patienceEnd(startedAt: number, deadlineAt: number): number {
  return startedAt + Math.max(PATIENCE.leastMs, PATIENCE.part * (deadlineAt - startedAt));
}
