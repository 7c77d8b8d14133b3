const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;
const FIRST_WITHOUT_HINT_MS = 5000;
const LONGEST_WITHOUT_HINT_MS = 60_000;
const SHORTEST_SPREAD_MS = 250;
const LONGEST_SPREAD_MS = 1000;

/**
 * Milliseconds before retry number `retry` (0 for the first): 0.5 s · 2^n, at most 8 s, equal jitter. Full jitter can
 * be close to zero, and all retries could then fall into one outage.
 */
export function backoffMs(retry: number, random: () => number): number {
  return equalJitter(Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retry), random);
}

/** Milliseconds to wait after a 429 without Retry-After: 5 s · 2^n, at most 60 s, equal jitter. */
export function unhintedLimitMs(refusals: number, random: () => number): number {
  return equalJitter(Math.min(LONGEST_WITHOUT_HINT_MS, FIRST_WITHOUT_HINT_MS * 2 ** refusals), random);
}

/**
 * Milliseconds to wait after a 429 with Retry-After: never less, and a random time more, so that clients with the same
 * Retry-After do not retry at the same moment.
 */
export function hintedLimitMs(hintMs: number, random: () => number): number {
  const spreadMs = Math.min(LONGEST_SPREAD_MS, Math.max(SHORTEST_SPREAD_MS, hintMs / 10));
  return Math.ceil(Math.max(hintMs, SHORTEST_SPREAD_MS) + random() * spreadMs);
}

function equalJitter(ms: number, random: () => number): number {
  return Math.ceil(ms / 2 + (random() * ms) / 2);
}
