const CAPACITY = 200;
const COST_OF_RETRY = 2;
const GAIN_OF_SUCCESS = 1;

/**
 * Retries that a key may spend while the service fails now and then: a hundred in a row, then one for every two
 * successes, which one failure in three does not exhaust. While the service is down, the limiter holds the calls back.
 */
export class RetryBudget {
  #tokens = CAPACITY;

  /** Takes one retry; false when there is none left. */
  take(): boolean {
    if (this.#tokens < COST_OF_RETRY) return false;
    this.#tokens -= COST_OF_RETRY;
    return true;
  }

  succeeded(): void {
    this.#tokens = Math.min(CAPACITY, this.#tokens + GAIN_OF_SUCCESS);
  }
}
