import type { QuotaData } from '../../generated/types.ts';

/**
 * Requests left this month; `undefined` when the plan has no number for its limit. How the Unlimited plan writes it is
 * not shown, so text, null, absence and negative numbers all mean that.
 */
export function remainingOf({ monthly_limit: limit, monthly_used: used }: QuotaData): number | undefined {
  const count = typeof limit === 'string' && /^\d+$/.test(limit) ? Number(limit) : limit;
  if (typeof count !== 'number' || count < 0) return undefined;
  return Math.max(0, count - used);
}

/** Whether the month is used up. */
export function isExhausted(quota: QuotaData): boolean {
  return remainingOf(quota) === 0;
}
