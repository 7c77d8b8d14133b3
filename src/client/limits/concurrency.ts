import { hasConfiguredLimit, type LimiterState } from './limiter-state.ts';

/**
 * How many requests may be in flight at once. The number grows while the service responds fast and shrinks when it
 * fails (additive increase, multiplicative decrease, as RFC 5681 defines for TCP). A fast service is then not idle, and
 * a slow one not overloaded.
 */
export interface Concurrency {
  readonly limit: number;
  readonly atMost: number;
  /** Below this, the limit grows with every response, above it once per round trip. */
  readonly threshold: number;
  /** Failures of requests sent before this time are already counted. */
  readonly staleBefore: number;
  /** The shortest round trip of the current and of the last period. */
  readonly shortestMs: number;
  readonly lastShortestMs: number;
  readonly periodEndsAt: number;
  /** The moving average of the round trips; 0 before the first. */
  readonly averageMs: number;
  /** Time of the last response, and time at which the latest request with a response was sent. */
  readonly respondedAt: number;
  readonly respondedSentAt: number;
}

/** More requests in flight do not speed up a limit per minute; documented in `RateLimitOptions`. */
export const LARGEST_CONCURRENCY = 256;
const FIRST = 4;
/** Up to this number, only a wide bound for round trips applies. */
const MODEST = 16;
const MODEST_ROUND_TRIPS = 10;
const SHORT_ROUND_TRIPS = 2;
/** Round trips over loopback or with a busy event loop vary by this much. */
const NOISE_MS = 25;
const AVERAGE_WEIGHT = 1 / 8;
/** A request that takes so many average round trips, while later ones have responses, is probably lost. */
const LOST_ROUND_TRIPS = 8;
export const LOST_AFTER_MS = 1_000;
/** After this time without a response, one more request is sent, because all in flight may be lost. */
const SILENCE_MS = 2_500;
/** Most requests in flight while the window is unknown: bounds the cost of the first refusal. */
const FIRST_BURST = 8;
/**
 * A large limit allows a sixteenth of it, but at most a seventh of the accepted requests, because a configured limit
 * may be wrong.
 */
const FIRST_BURST_PART = 16;
const ACCEPTED_PER_CALL = 7;
/** After this time without a response, the service and its limit may have changed: slow start again (RFC 5681 §4.1). */
const IDLE_MS = 10_000;
/** A network path can change: its shortest round trip is forgotten after two periods. */
const PERIOD_MS = 60_000;

/** `maxConcurrent`: the option; a number is both the starting value and the upper bound. */
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
    respondedAt: Number.NEGATIVE_INFINITY,
    respondedSentAt: Number.NEGATIVE_INFINITY,
  };
}

/** Number of further requests that may be sent; requests that are probably lost do not count. */
export function concurrencyRoom(
  { limit, atMost, averageMs, respondedAt, respondedSentAt }: Concurrency,
  { now, inFlight, limiter }: RoomOptions,
): number {
  const requests = inFlight.size;
  const isAdaptive = atMost === LARGEST_CONCURRENCY;
  const allowed = Math.floor(isAdaptive ? Math.min(limit, firstBurst(limiter)) : limit);
  if (requests < allowed || requests >= atMost) return Math.min(allowed, atMost) - requests;
  const lostBefore = Math.min(respondedSentAt, now - Math.max(LOST_AFTER_MS, LOST_ROUND_TRIPS * averageMs));
  let lost = 0;
  let youngest = Number.NEGATIVE_INFINITY;
  for (const { sentAt } of inFlight) {
    if (sentAt < lostBefore) lost += 1;
    youngest = sentAt;
  }
  const isSilent = now - Math.max(respondedAt, youngest) >= SILENCE_MS;
  return Math.min(atMost - requests, Math.max(isSilent ? 1 : 0, allowed - (requests - lost)));
}

/** After an idle time, the limit starts small again and grows with each response up to its old value. */
export function concurrencyAfterIdle(state: Concurrency, now: number): Concurrency {
  const isIdle = now - state.respondedAt >= IDLE_MS && state.atMost === LARGEST_CONCURRENCY;
  return isIdle && state.limit > FIRST ? { ...state, limit: FIRST, threshold: state.limit } : state;
}

interface RoomOptions {
  readonly now: number;
  /** The requests in flight, in the order in which they were sent. */
  readonly inFlight: ReadonlySet<{ readonly sentAt: number }>;
  readonly limiter: LimiterState;
}

/** While the window of a configured limit is unknown, fewer requests may be in flight. */
function firstBurst(limiter: LimiterState): number {
  const { phase, configured, log } = limiter;
  if (phase !== 'unknown' || !hasConfiguredLimit(limiter)) return Number.POSITIVE_INFINITY;
  return Math.min(Math.max(FIRST_BURST, configured / FIRST_BURST_PART), FIRST_BURST + log.size / ACCEPTED_PER_CALL);
}

/** A response arrived; `wasFull`: as many requests were in flight as the limit allows. */
export function concurrencyResponded(
  before: Concurrency,
  { now, sentAt, wasFull }: { readonly now: number; readonly sentAt: number; readonly wasFull: boolean },
): Concurrency {
  const { limit, atMost, threshold, staleBefore } = before;
  const tookMs = now - sentAt;
  const averageMs = before.averageMs || tookMs;
  const isNewPeriod = now >= before.periodEndsAt;
  const shortestMs = isNewPeriod ? tookMs : Math.min(before.shortestMs, tookMs);
  const lastShortestMs = isNewPeriod ? before.shortestMs : before.lastShortestMs;
  const factor = limit < MODEST ? MODEST_ROUND_TRIPS : SHORT_ROUND_TRIPS;
  const isFast = tookMs <= factor * Math.min(shortestMs, lastShortestMs) + NOISE_MS;
  const grown = wasFull && isFast ? limit + (limit < threshold ? 1 : 1 / limit) : limit;
  // Written out: this runs once per call, and a spread costs more than the rest.
  return {
    limit: Math.min(atMost, grown),
    atMost,
    threshold,
    staleBefore,
    shortestMs,
    lastShortestMs,
    periodEndsAt: isNewPeriod ? now + PERIOD_MS : before.periodEndsAt,
    averageMs: averageMs + AVERAGE_WEIGHT * (tookMs - averageMs),
    respondedAt: now,
    respondedSentAt: Math.max(before.respondedSentAt, sentAt),
  };
}

/**
 * A timeout, a 5xx or a broken connection. Halves the limit if the failure indicates overload: during an outage, or if
 * round trips have grown. Occasional losses do not. Halves it once for all requests that were in flight together.
 */
export function concurrencyFailed(
  state: Concurrency,
  { now, sentAt, isOutage }: { readonly now: number; readonly sentAt: number; readonly isOutage: boolean },
): Concurrency {
  if (sentAt < state.staleBefore) return state;
  const shortestMs = Math.min(state.shortestMs, state.lastShortestMs);
  const isSlow = state.averageMs > SHORT_ROUND_TRIPS * shortestMs + NOISE_MS;
  if (!isOutage && !isSlow) return state;
  const limit = Math.max(1, state.limit / 2);
  return { ...state, limit, threshold: limit, staleBefore: now };
}
