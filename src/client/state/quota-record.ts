import type { QuotaData } from '../../generated/types.ts';

/** A quota record, of which any field may have another type: each decision reads the fields that it needs. */
export type LooseQuota = Readonly<Partial<Record<keyof QuotaData, unknown>>>;

/**
 * Requests left this month; `undefined` if the plan has no numeric limit. The value for the Unlimited plan is not
 * documented, so text, null, absence, negative numbers, and its 0 all count as no limit.
 */
export function remainingOf({ plan, monthly_limit, monthly_used }: LooseQuota): number | undefined {
  const limit = integerIn(monthly_limit);
  const used = integerIn(monthly_used); // negative after a credit
  if (limit === undefined || used === undefined || limit < 0 || (limit === 0 && plan === 'unlimited')) return undefined;
  return Math.max(0, limit - used);
}

/** Requests per minute that the plan allows; `undefined` if the record has no such number. */
export function perMinuteIn({ rate_limit_per_minute }: LooseQuota): number | undefined {
  const count = integerIn(rate_limit_per_minute);
  return count !== undefined && count >= 1 ? count : undefined;
}

/** Time of the reset, in milliseconds since the Unix epoch; `undefined` if it cannot be parsed. */
export function resetsAtMsIn({ resets_at }: LooseQuota): number | undefined {
  const ms = typeof resets_at === 'string' ? Date.parse(resets_at) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Also a number that is written as text. A client cannot reach a larger one. */
function integerIn(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : undefined;
}

/** Whether the monthly quota is exhausted. */
export function isExhausted(quota: LooseQuota): boolean {
  return remainingOf(quota) === 0;
}

const DAY_MS = 86_400_000;

/** By the first letter of its name. */
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };
const GRANULARITY = /^(\d+)\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/;

/**
 * Returns the milliseconds of a `snapshot_granularity`; `undefined` if it cannot be parsed. The service documents `5min`
 * only, so similar spellings are accepted too.
 *
 * @example granularityMs('5min') // 300_000
 */
export function granularityMs(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const [, count, unit = ''] = GRANULARITY.exec(text.trim().toLowerCase()) ?? [];
  const ms = Number(count) * (UNIT_MS[unit.charAt(0)] ?? Number.NaN);
  return ms > 0 && Number.isSafeInteger(ms) ? ms : undefined;
}

/** Forecast of a key's quota, from the average of this period. */
export interface QuotaForecast {
  /** Requests left; `undefined` if the plan has no numeric limit. */
  readonly remaining: number | undefined;
  /** Assumed start of the period: one calendar month before `resetsAt`, or now if that is earlier. The service does not document its length. */
  readonly periodStart: Date;
  /** Time at which the quota resets. */
  readonly resetsAt: Date;
  /** Elapsed share of the period, from 0 to 1. */
  readonly elapsed: number;
  /** Average requests per day; `undefined` at the very start of the period. */
  readonly perDay: number | undefined;
  /** Projected number of requests at the reset; `undefined` if `perDay` is. */
  readonly usedAtReset: number | undefined;
  /** Projected time at which the quota runs out; `undefined` if it lasts until the reset. */
  readonly exhaustsAt: Date | undefined;
  /** Requests per day with which the quota lasts until the reset; `undefined` if the plan has no numeric limit. */
  readonly safePerDay: number | undefined;
  /** Interval in milliseconds with which the quota lasts until the reset; `undefined` without a limit or without requests left. */
  readonly safeIntervalMs: number | undefined;
  /** `'low'` in the first day of the period, and below 20 requests; else `'ok'`. */
  readonly confidence: 'ok' | 'low';
}

const SETTLED_AFTER_MS = DAY_MS;
const SETTLED_AFTER_REQUESTS = 20;

/**
 * Projects the use of a quota until its reset, from the average of this period.
 *
 * @param now a `Date`, or milliseconds since the Unix epoch
 * @returns the forecast; `undefined` if `resets_at` is not after `now`
 * @example forecastQuota(await fx.quota(), new Date())?.exhaustsAt
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
  const outAtMs = nowMs + lastsMs(remaining, perMs);
  return {
    remaining,
    periodStart: new Date(startMs),
    resetsAt: new Date(resetsAtMs),
    elapsed,
    perDay: perMs === undefined ? undefined : perMs * DAY_MS,
    usedAtReset: perMs === undefined ? undefined : Math.round(used + perMs * leftMs),
    exhaustsAt: outAtMs < resetsAtMs ? new Date(outAtMs) : undefined,
    safePerDay: remaining === undefined ? undefined : remaining / (leftMs / DAY_MS),
    safeIntervalMs: remaining ? Math.ceil(leftMs / remaining) : undefined,
    confidence: elapsedMs >= SETTLED_AFTER_MS && used >= SETTLED_AFTER_REQUESTS ? 'ok' : 'low',
  };
}

/** Milliseconds for which the requests last at this rate. */
function lastsMs(requests = Number.POSITIVE_INFINITY, perMs = 0): number {
  return requests === 0 ? 0 : requests / Math.max(0, perMs);
}

/** One calendar month earlier in UTC; the 31st becomes the last day of a shorter month. */
function monthBefore(atMs: number): number {
  const at = new Date(atMs);
  const day = at.getUTCDate();
  at.setUTCMonth(at.getUTCMonth() - 1);
  if (at.getUTCDate() !== day) at.setUTCDate(0);
  return at.getTime();
}
