import type { QuotaData } from '../../generated/types.ts';

/**
 * Requests left this month; `undefined` if the plan has no numeric limit. The value for the Unlimited plan is not
 * documented, so text, null, absence, negative numbers, and its 0 all count as no limit.
 */
export function remainingOf({ plan, monthly_limit: limit, monthly_used: used }: QuotaData): number | undefined {
  const count = typeof limit === 'string' && /^\d+$/.test(limit) ? Number(limit) : limit;
  if (typeof count !== 'number' || count < 0 || (count === 0 && plan === 'unlimited')) return undefined;
  return Math.max(0, count - used);
}

/** Whether the monthly quota is exhausted. */
export function isExhausted(quota: QuotaData): boolean {
  return remainingOf(quota) === 0;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNIT_MS = new Map([
  ...['s', 'sec', 'secs', 'second', 'seconds'].map((unit) => [unit, SECOND_MS] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((unit) => [unit, MINUTE_MS] as const),
  ...['h', 'hr', 'hrs', 'hour', 'hours'].map((unit) => [unit, HOUR_MS] as const),
  ...['d', 'day', 'days'].map((unit) => [unit, DAY_MS] as const),
]);

/**
 * Returns the milliseconds of a `snapshot_granularity`; `undefined` if it cannot be parsed. The service documents `5min`
 * only, so similar spellings are accepted too.
 *
 * @example granularityMs('5min') // 300_000
 */
export function granularityMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)\s*([a-z]+)$/.exec(text.trim().toLowerCase()) ?? [];
  const ms = Number(count) * (UNIT_MS.get(unit) ?? Number.NaN);
  return ms > 0 && Number.isSafeInteger(ms) ? ms : undefined;
}
