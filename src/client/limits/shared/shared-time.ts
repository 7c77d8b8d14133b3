/** A difference this large is no jitter: one of the clocks was set. */
const CLOCK_WAS_SET_MS = 1_000;

/**
 * The store's time, told from the limiter's own: processes on several machines must mean the same moment. What the
 * store said is always a little old when it arrives, so the largest difference seen is the best, and time never goes
 * back between two exchanges.
 */
export class SharedTime {
  #aheadMs: number | undefined;

  /** How far the store's clock is ahead of ours; 0 while unknown. */
  get aheadMs(): number {
    return this.#aheadMs ?? 0;
  }

  observe(storeNowMs: number, localNowMs: number): void {
    const aheadMs = storeNowMs - localNowMs;
    const known = this.#aheadMs ?? aheadMs;
    this.#aheadMs = aheadMs < known - CLOCK_WAS_SET_MS ? aheadMs : Math.max(known, aheadMs);
  }

  fromLocal(localMs: number): number {
    return localMs + this.aheadMs;
  }

  toLocal(sharedMs: number): number {
    return sharedMs - this.aheadMs;
  }
}
