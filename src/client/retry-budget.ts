const CAPACITY = 100;
const COST_OF_RETRY = 5;
const GAIN_OF_SUCCESS = 1;

/**
 * Retries that a key may spend while the service fails: twenty in a row, then one for every five successes. Without it
 * every call of a busy process would triple its requests just when the service is down.
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
