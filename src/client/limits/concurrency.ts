/**
 * How many requests may be in flight at once. The number grows while the service answers fast and shrinks when it fails
 * (additive increase, multiplicative decrease; RFC 5681 has the same for TCP), so that neither a fast service is left
 * idle nor a slow one drowned.
 */
export interface Concurrency {
  readonly limit: number;
  readonly atMost: number;
  /** Below this the limit grows with every answer, above it once per round trip. */
  readonly threshold: number;
  /** Failures of requests sent before this time have been counted. */
  readonly staleBefore: number;
  /** The shortest round trip of the current and of the last period. */
  readonly shortestMs: number;
  readonly lastShortestMs: number;
  readonly periodEndsAt: number;
  /** The moving average of the round trips. */
  readonly averageMs: number;
}

/** More do not make a per-minute limit any faster; documented in `RateLimitOptions`. */
export const LARGEST_CONCURRENCY = 256;
const FIRST = 4;
/** Up to here round trips only have to stay within a wide bound. */
const MODEST = 16;
const MODEST_ROUND_TRIPS = 10;
const SHORT_ROUND_TRIPS = 2;
/** Loopback and busy event loops vary by this much for no reason. */
const NOISE_MS = 25;
const AVERAGE_WEIGHT = 1 / 8;
/** A network path changes: its shortest round trip is forgotten after two of these. */
const PERIOD_MS = 60_000;

/** `maxConcurrent`: the option; a number is an upper bound, and the limit starts there. */
export function initialConcurrency(maxConcurrent: 'adapt' | number): Concurrency {
  const atMost = maxConcurrent === 'adapt' ? LARGEST_CONCURRENCY : maxConcurrent;
  return {
    limit: maxConcurrent === 'adapt' ? FIRST : atMost,
    atMost,
    threshold: atMost,
    staleBefore: Number.NEGATIVE_INFINITY,
    shortestMs: Number.POSITIVE_INFINITY,
    lastShortestMs: Number.POSITIVE_INFINITY,
    periodEndsAt: Number.NEGATIVE_INFINITY,
    averageMs: 0,
  };
}

/** An answer came; `wasFull`: as many requests were in flight as the limit allows. */
export function concurrencyAnswered(
  before: Concurrency,
  { now, sentAt, wasFull }: { readonly now: number; readonly sentAt: number; readonly wasFull: boolean },
): Concurrency {
  const tookMs = now - sentAt;
  const state = observeRoundTrip(before, tookMs, now);
  const { limit, atMost, threshold } = state;
  if (!wasFull || limit >= atMost) return state;
  const factor = limit < MODEST ? MODEST_ROUND_TRIPS : SHORT_ROUND_TRIPS;
  if (tookMs > factor * shortestRoundTrip(state) + NOISE_MS) return state;
  const grown = limit + (limit < threshold ? 1 : 1 / limit);
  return { ...state, limit: Math.min(atMost, grown) };
}

/**
 * A timeout, a 5xx or a broken connection. Halves the limit if that is a sign of overload: an outage, or round trips that
 * have grown; losses by chance are none. Once for all requests that were in flight together.
 */
export function concurrencyFailed(
  state: Concurrency,
  { now, sentAt, isOutage }: { readonly now: number; readonly sentAt: number; readonly isOutage: boolean },
): Concurrency {
  if (sentAt < state.staleBefore) return state;
  const isSlow = state.averageMs > SHORT_ROUND_TRIPS * shortestRoundTrip(state) + NOISE_MS;
  if (!isOutage && !isSlow) return state;
  const limit = Math.max(1, state.limit / 2);
  return { ...state, limit, threshold: limit, staleBefore: now };
}

function shortestRoundTrip({ shortestMs, lastShortestMs }: Concurrency): number {
  return Math.min(shortestMs, lastShortestMs);
}

function observeRoundTrip(state: Concurrency, tookMs: number, now: number): Concurrency {
  const averageMs = state.averageMs + AVERAGE_WEIGHT * (tookMs - state.averageMs);
  if (now < state.periodEndsAt) return { ...state, averageMs, shortestMs: Math.min(state.shortestMs, tookMs) };
  return { ...state, averageMs, shortestMs: tookMs, lastShortestMs: state.shortestMs, periodEndsAt: now + PERIOD_MS };
}
