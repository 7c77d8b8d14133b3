import { type AcceptedLog, WINDOW_MS } from './accepted-log.ts';

/**
 * A second limit that some servers have in addition to that per minute: a number of requests per second or per ten
 * seconds.
 */
export interface BurstLimit {
  /** Requests per `periodMs`; Infinity for no such limit. */
  readonly calls: number;
  readonly periodMs: number;
  /** The learned number. `calls` grows beyond it, to test whether the limit is higher. */
  readonly proven: number;
  readonly growsAt: number;
  readonly pauseMs: number;
}

/** A longer period is the window of the minute, or what other users have left of it. */
const LONGEST_PERIOD_MS = 45_000;
const SHORTEST_PERIOD_MS = 1_000;
/** After a refusal, the limit does not grow for so many periods; each further refusal doubles this. */
const FIRST_PAUSE_PERIODS = 4;
const LONGEST_PAUSE_MS = 2 * WINDOW_MS;
/** Hints are rounded up to seconds. */
const ROUNDING_MS = 1_000;
/** Without a refusal, the limit grows by this part per period, at least by one request. */
const GROWTH = 0.1;

export const NO_BURST_LIMIT: BurstLimit = {
  calls: Number.POSITIVE_INFINITY,
  periodMs: SHORTEST_PERIOD_MS,
  proven: Number.POSITIVE_INFINITY,
  growsAt: 0,
  pauseMs: 0,
};

export function isBurstPeriod(periodMs: number): boolean {
  return periodMs <= LONGEST_PERIOD_MS;
}

export function hasBurstLimit({ calls }: BurstLimit): boolean {
  return calls !== Number.POSITIVE_INFINITY;
}

/** The used part of the limit: a part of `LimiterState`. */
export interface BurstUsage {
  readonly burst: BurstLimit;
  readonly log: AcceptedLog;
  readonly inFlight: number;
}

/** Number of requests that the limit allows now. */
export function burstSlots({ burst, log, inFlight }: BurstUsage, now: number): number {
  return hasBurstLimit(burst) ? burst.calls - log.acceptedSince(now - burst.periodMs) - inFlight : burst.calls;
}

/** Time at which the oldest request leaves the period; `undefined` without one: a response must arrive first. */
export function burstSlotAt({ burst: { periodMs }, log }: BurstUsage, now: number): number | undefined {
  const expiresAt = log.expiresAt(log.size - log.acceptedSince(now - periodMs));
  return expiresAt === undefined ? undefined : expiresAt - WINDOW_MS + periodMs;
}

/** The server refused more than `calls` in `periodMs`. */
export function learnBurstLimit(
  burst: BurstLimit,
  { calls, periodMs, now }: { readonly calls: number; readonly periodMs: number; readonly now: number },
): BurstLimit {
  const known = hasBurstLimit(burst) && burst.periodMs <= 2 * periodMs && periodMs <= 2 * burst.periodMs;
  const period = Math.max(SHORTEST_PERIOD_MS, known ? Math.min(burst.periodMs, periodMs) : periodMs);
  const pauseMs = known ? Math.min(LONGEST_PAUSE_MS, 2 * burst.pauseMs) : FIRST_PAUSE_PERIODS * period;
  const atMost = known ? Math.min(calls, burst.calls) : calls;
  const proven = Math.max(1, atMost);
  return { calls: proven, proven, periodMs: period, growsAt: now + pauseMs, pauseMs };
}

/** Whether the limit predicts a refusal: the period has as many accepted requests as the limit allows. */
export function isBurstRefusal(
  { burst, log }: Omit<BurstUsage, 'inFlight'>,
  { now, hintMs }: { readonly now: number; readonly hintMs: number | undefined },
): boolean {
  if (hintMs === undefined || hintMs > burst.periodMs + ROUNDING_MS) return false;
  return log.acceptedSince(now - burst.periodMs) >= burst.proven;
}

/** Raises the limit when its pause has ended: the learned number may have been a temporary share. */
export function growBurstLimit(burst: BurstLimit, log: AcceptedLog, now: number): BurstLimit {
  if (now < burst.growsAt || !hasBurstLimit(burst)) return burst;
  const isUsedUp = log.acceptedSince(now - burst.periodMs) >= burst.calls;
  if (!isUsedUp) return burst;
  const calls = burst.calls + Math.max(1, Math.floor(GROWTH * burst.calls));
  return { ...burst, calls, proven: burst.calls, growsAt: now + burst.periodMs };
}
