/** The retries of a key: so many in a row, then one for every few successes. */
export interface RetryBudgetSize {
  readonly inARow: number;
  readonly successesPerRetry: number;
}

/** With a queue, which holds the calls back while the service is down: one failure in three does not exhaust it. */
export const QUEUED_RETRIES: RetryBudgetSize = { inARow: 100, successesPerRetry: 2 };
/** Without one, every call of a busy process would triple its requests just when the service is down. */
export const UNQUEUED_RETRIES: RetryBudgetSize = { inARow: 20, successesPerRetry: 5 };

/** Retries that a key may spend while the service fails now and then. */
export class RetryBudget {
  readonly #size: RetryBudgetSize;
  /** In successes. */
  #left: number;

  constructor(size: RetryBudgetSize) {
    this.#size = size;
    this.#left = size.inARow * size.successesPerRetry;
  }

  /** Takes one retry; false if none is left. */
  take(): boolean {
    const { successesPerRetry } = this.#size;
    if (this.#left < successesPerRetry) return false;
    this.#left -= successesPerRetry;
    return true;
  }

  succeeded(): void {
    const { inARow, successesPerRetry } = this.#size;
    this.#left = Math.min(inARow * successesPerRetry, this.#left + 1);
  }
}
