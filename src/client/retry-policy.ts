const FIRST_MS = 500;
const LONGEST_MS = 8000;
const FIRST_WITHOUT_HINT_MS = 5000;
const LONGEST_WITHOUT_HINT_MS = 60_000;
const SHORTEST_SPREAD_MS = 250;
const LONGEST_SPREAD_MS = 1000;

/**
 * Milliseconds before retry number `retry` (0 for the first): 0.5 s · 2^n, at most 8 s, equal jitter. Full jitter can
 * come near zero and burn every retry inside one outage.
 */
export function backoffMs(retry: number, random: () => number): number {
  return equalJitter(Math.min(LONGEST_MS, FIRST_MS * 2 ** retry), random);
}

/** The same for a 429 that does not say when: 5 s · 2^n, at most 60 s, because a per-minute limit cannot clear in half a second. */
export function unhintedLimitMs(refusals: number, random: () => number): number {
  return equalJitter(Math.min(LONGEST_WITHOUT_HINT_MS, FIRST_WITHOUT_HINT_MS * 2 ** refusals), random);
}

/**
 * The same for a 429 that says when: never earlier than that, and a little later at random, so that clients with
 * the same Retry-After do not come back in the same moment.
 */
export function hintedLimitMs(hintMs: number, random: () => number): number {
  const spreadMs = Math.min(LONGEST_SPREAD_MS, Math.max(SHORTEST_SPREAD_MS, hintMs / 10));
  return Math.ceil(Math.max(hintMs, SHORTEST_SPREAD_MS) + random() * spreadMs);
}

function equalJitter(ms: number, random: () => number): number {
  return Math.ceil(ms / 2 + (random() * ms) / 2);
}

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
