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

/** By the first letter of its name. */
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
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
