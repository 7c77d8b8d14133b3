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
 * The same for a 429 that says when: never earlier than that, and a little later by chance, so that a crowd that was
 * told the same does not come back in the same moment.
 */
export function hintedLimitMs(hintMs: number, random: () => number): number {
  const spreadMs = Math.min(LONGEST_SPREAD_MS, Math.max(SHORTEST_SPREAD_MS, hintMs / 10));
  return Math.max(hintMs, SHORTEST_SPREAD_MS) + random() * spreadMs;
}

function equalJitter(ms: number, random: () => number): number {
  return ms / 2 + (random() * ms) / 2;
}

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
