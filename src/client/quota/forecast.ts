import type { QuotaData } from '../../generated/types.ts';
import { remainingOf } from './quota-ledger.ts';

/** Where a key's use of its quota is heading. An estimate: it knows this month's total, not when it was used. */
export interface QuotaForecast {
  /** Requests left; `undefined` when the plan has no numeric limit. */
  readonly remaining: number | undefined;
  /** Start of the running period, taken as one calendar month before `resetsAt` (how long it really is, is not shown). */
  readonly periodStart: Date;
  readonly resetsAt: Date;
  /** Part of the period that has passed, 0 to 1. */
  readonly elapsed: number;
  /** Requests per day so far; `undefined` at the very start of the period. */
  readonly perDay: number | undefined;
  /** Requests used when the period ends, if it goes on like this; `undefined` with `perDay`. */
  readonly usedAtReset: number | undefined;
  /** When the quota runs out, if that comes before the reset. */
  readonly exhaustsAt: Date | undefined;
  /** Requests per day that last until the reset; `undefined` without a numeric limit. */
  readonly safePerDay: number | undefined;
  /** Milliseconds between requests that last until the reset; `undefined` without a limit, or with nothing left. */
  readonly safeIntervalMs: number | undefined;
  /** `'low'` in the first day or 3 % of the period, and below 20 requests: too little to project from. */
  readonly confidence: 'ok' | 'low';
}

const DAY_MS = 86_400_000;
const SETTLED_AFTER_MS = DAY_MS;
const SETTLED_AFTER_SHARE = 0.03;
const SETTLED_AFTER_REQUESTS = 20;

/**
 * Projects the use of a quota to its reset, from this period's average.
 *
 * @param now an instant, or milliseconds since the Unix epoch
 * @returns `undefined` when `resets_at` is not after `now` (an old record, or clocks that disagree)
 */
export function forecastQuota(quota: QuotaData, now: Date | number): QuotaForecast | undefined {
  const nowMs = Math.floor(Number(now));
  const resetsAtMs = Date.parse(quota.resets_at);
  if (!(resetsAtMs > nowMs)) return undefined;
  const startMs = Math.min(monthBefore(resetsAtMs), nowMs);
  const elapsedMs = nowMs - startMs;
  const leftMs = resetsAtMs - nowMs;
  const elapsed = elapsedMs / (resetsAtMs - startMs);
  const used = quota.monthly_used;
  const perMs = elapsedMs > 0 ? used / elapsedMs : undefined;
  const remaining = remainingOf(quota);
  return {
    remaining,
    periodStart: new Date(startMs),
    resetsAt: new Date(resetsAtMs),
    elapsed,
    perDay: perMs === undefined ? undefined : perMs * DAY_MS,
    usedAtReset: perMs === undefined ? undefined : Math.round(used + perMs * leftMs),
    exhaustsAt: exhaustion({ remaining, perMs, nowMs, resetsAtMs }),
    safePerDay: remaining === undefined ? undefined : remaining / (leftMs / DAY_MS),
    safeIntervalMs: remaining === undefined || remaining === 0 ? undefined : Math.ceil(leftMs / remaining),
    confidence: isSettled({ elapsedMs, elapsed, used }) ? 'ok' : 'low',
  };
}

interface Course {
  readonly remaining: number | undefined;
  readonly perMs: number | undefined;
  readonly nowMs: number;
  readonly resetsAtMs: number;
}

function exhaustion({ remaining, perMs, nowMs, resetsAtMs }: Course): Date | undefined {
  if (remaining === undefined) return undefined;
  if (remaining === 0) return new Date(nowMs);
  if (perMs === undefined || perMs <= 0) return undefined;
  const atMs = nowMs + remaining / perMs;
  return atMs < resetsAtMs ? new Date(atMs) : undefined;
}

interface Basis {
  readonly elapsedMs: number;
  readonly elapsed: number;
  readonly used: number;
}

function isSettled({ elapsedMs, elapsed, used }: Basis): boolean {
  return elapsedMs >= SETTLED_AFTER_MS && elapsed >= SETTLED_AFTER_SHARE && used >= SETTLED_AFTER_REQUESTS;
}

/** One calendar month earlier in UTC; the 31st becomes the last day of a shorter month. */
function monthBefore(atMs: number): number {
  const at = new Date(atMs);
  const lastDayOfMonthBefore = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 0)).getUTCDate();
  const day = Math.min(at.getUTCDate(), lastDayOfMonthBefore);
  const midnight = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, day);
  return midnight + (atMs % DAY_MS);
}
