import type { QuotaData } from '../../client/index.ts';
import { grouped } from '../terminal/text.ts';

/** Forecast of a key's quota, from the average of this period. */
export type QuotaForecast = Readonly<NonNullable<ReturnType<typeof forecastQuota>>>;

const DAY_MS = 86_400_000;
const SETTLED_AFTER_MS = DAY_MS;
const SETTLED_AFTER_REQUESTS = 20;

/** The use of a quota until its reset, from the average of this period; `undefined` if `resets_at` is not after `at`. */
export function forecastQuota(quota: QuotaData, at: number) {
  const nowMs = Math.floor(at);
  const resetsAtMs = Date.parse(quota.resets_at);
  if (!(resetsAtMs > nowMs)) return undefined;
  const startMs = Math.min(monthBefore(resetsAtMs), nowMs); // assumed: the service does not document the length
  const elapsedMs = nowMs - startMs;
  const leftMs = resetsAtMs - nowMs;
  const elapsed = elapsedMs / (resetsAtMs - startMs);
  const used = quota.monthly_used;
  const perMs = elapsedMs > 0 ? used / elapsedMs : undefined;
  const remaining = remainingOf(quota);
  const outAtMs = nowMs + lastsMs(remaining, perMs);
  const isSettled = elapsedMs >= SETTLED_AFTER_MS && used >= SETTLED_AFTER_REQUESTS;
  return {
    /** `undefined` if the plan has no numeric limit, as are `safePerDay` and `safeIntervalMs`. */
    remaining,
    periodStart: new Date(startMs),
    resetsAt: new Date(resetsAtMs),
    /** Share of the period, from 0 to 1. */
    elapsed,
    /** `undefined` at the very start of the period, as is `usedAtReset`. */
    perDay: perMs === undefined ? undefined : perMs * DAY_MS,
    usedAtReset: perMs === undefined ? undefined : Math.round(used + perMs * leftMs),
    /** `undefined` if the quota lasts until the reset. */
    exhaustsAt: outAtMs < resetsAtMs ? new Date(outAtMs) : undefined,
    /** With which the quota lasts until the reset; no interval without requests left. */
    safePerDay: remaining === undefined ? undefined : remaining / (leftMs / DAY_MS),
    safeIntervalMs: remaining ? Math.ceil(leftMs / remaining) : undefined,
    confidence: isSettled ? ('ok' as const) : ('low' as const),
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

/** The monthly limit; `undefined` if the plan has none. The service does not document how the Unlimited plan says so. */
export function limitOf({ plan, monthly_limit: limit }: QuotaData): number | undefined {
  const count = typeof limit === 'string' && /^\d+$/.test(limit) ? Number(limit) : limit;
  const isNone =
    typeof count !== 'number' || !Number.isFinite(count) || count < 0 || (count === 0 && plan === 'unlimited');
  return isNone ? undefined : count;
}

/** Requests left of the month, at least 0; `undefined` if the plan has no limit. */
export function remainingOf(quota: QuotaData): number | undefined {
  const limit = limitOf(quota);
  return limit === undefined ? undefined : Math.max(0, limit - quota.monthly_used);
}

/** ` of 1,000`. */
export function ofLimit(limit: number | undefined): string {
  return limit === undefined ? '' : ` of ${grouped(limit)}`;
}
