import * as z from 'zod';
import { plans } from '../../generated/service.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import { plainObject, type ValueOf } from '../input/checked-input.ts';
import { type RateLimit, type RateWindow, rateLimitOf, rateWindows } from './rate-windows.ts';
import type { KeyRecord } from './service-state.ts';

export const monthUsage = plainObject({
  /** Requests per quota period; `null` for no limit. */
  limit: z.int().nullable(),
  /** Requests counted in the current period. */
  used: z.int(),
  /** Start of the current period, in milliseconds since the Unix epoch. */
  startedAt: z.number(),
  /** End of the current period, in milliseconds since the Unix epoch. */
  resetsAt: z.number(),
});

/** Usage of a key's monthly quota at one moment. */
export interface QuotaUse extends ValueOf<typeof monthUsage> {}

export function quotaUse(key: KeyRecord, at: number, switches: Switches): QuotaUse {
  const { account, usedFrom } = key;
  const period = quotaPeriod(switches.use('quotaPeriod'), at, { createdAt: account.createdAt, usedFrom });
  return {
    limit: monthlyLimitOf(key) ?? switches.use('unlimitedFairUse'),
    used: usedFrom === period.start ? key.used : 0,
    startedAt: period.start,
    resetsAt: period.end,
  };
}

/** The monthly quota of a key: its own, or that of its plan; `null` for no limit. */
export function monthlyLimitOf({ account, limits }: KeyRecord): number | null {
  return limits?.monthly ?? plans[account.plan].monthlyLimit;
}

/** Counts one request in the period of `quota`, in which a function of a rule can have set the usage. Returns the usage after it. */
function chargeQuota(key: KeyRecord, { limit, startedAt, resetsAt }: QuotaUse): QuotaUse {
  key.used = (key.usedFrom === startedAt ? key.used : 0) + 1;
  key.usedFrom = startedAt;
  return { limit, used: key.used, startedAt, resetsAt };
}

/** One period of the monthly quota, `[start, end)`, in milliseconds since the Unix epoch. */
interface QuotaPeriod {
  readonly start: number;
  readonly end: number;
}

/** The parameters of the kinds of period, in addition to the time. */
interface PeriodAnchor {
  /** Time of creation of the account. */
  readonly createdAt: number;
  /** Start of the period of the last counted request; `undefined` before the first. */
  readonly usedFrom: number | undefined;
}

/** The period that includes `now`. */
export function quotaPeriod(kind: BehaviourValues['quotaPeriod'], now: number, anchor: PeriodAnchor): QuotaPeriod {
  switch (kind) {
    case 'calendar-month-utc':
      return calendarMonth(now);
    case 'anniversary':
      return monthFromAnniversary(now, anchor.createdAt);
    case 'rolling-30d':
      return thirtyDays(now, anchor.usedFrom);
  }
}

function calendarMonth(now: number): QuotaPeriod {
  if (now >= lastMonth.start && now < lastMonth.end) return lastMonth;
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  lastMonth = { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  return lastMonth;
}

/** Nearly all requests are in the month of the one before, and the dates took an eighth of the time of a request. */
let lastMonth: QuotaPeriod = { start: 0, end: 0 };

/** Months from the day and time at which the account was created; in a shorter month, from its last day. */
function monthFromAnniversary(now: number, createdAt: number): QuotaPeriod {
  const [date, anchor] = [new Date(now), new Date(createdAt)];
  const months = (date.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + date.getUTCMonth() - anchor.getUTCMonth();
  const thisMonths = monthsLater(anchor, months);
  return now < thisMonths
    ? { start: monthsLater(anchor, months - 1), end: thisMonths }
    : { start: thisMonths, end: monthsLater(anchor, months + 1) };
}

function monthsLater(anchor: Date, months: number): number {
  const [year, month] = [anchor.getUTCFullYear(), anchor.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const timeOfDay = anchor.getTime() % DAY_MS;
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay)) + timeOfDay;
}

/** Thirty days from the first request counted in them. */
function thirtyDays(now: number, usedFrom: number | undefined): QuotaPeriod {
  const start = usedFrom !== undefined && now < usedFrom + 30 * DAY_MS ? usedFrom : now;
  return { start, end: start + 30 * DAY_MS };
}

const DAY_MS = 86_400_000;

/** A request with a known key, before the limits are checked. */
interface MeteredRequest<Result> {
  readonly key: KeyRecord;
  /** Time for the whole decision, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** Whether it can be counted in a separate window, which the quota endpoint may have. */
  readonly hasOwnWindow: boolean;
  /** Creates the response to a request within both limits. Called at most once, before the request is counted. */
  readonly respond: (quota: QuotaUse) => Result;
}

/** The decision, with the usage of both limits. The usage includes a served request. */
export type MeteredDecision<Result> = {
  readonly limit: RateLimit;
  readonly rate: RateUse;
  readonly quota: QuotaUse;
} & (
  | { readonly kind: 'served'; readonly response: Result }
  /** A request is accepted after `waitMs`. */
  | { readonly kind: 'rate-limited'; readonly waitMs: number }
  | { readonly kind: 'quota-exhausted' }
);

export const minuteUsage = plainObject({
  /** Requests per minute, or per window of a key that has its own limits. */
  limit: z.int(),
  /** Requests counted in the window. */
  used: z.int(),
  /** Time at which the full limit is available again, in milliseconds since the Unix epoch. */
  fullAt: z.number().describe('Time at which the full limit is available again.'),
});

/** Usage of a key's per-minute limit at one moment. */
export interface RateUse extends ValueOf<typeof minuteUsage> {}

/**
 * Checks both limits and counts the request in one synchronous step. No other request can run in between, so exactly
 * the allowed number is served, and a refused request is never charged in part.
 */
export function decide<Result extends { readonly status: number }>(
  request: MeteredRequest<Result>,
  switches: Switches,
): MeteredDecision<Result> {
  const { key, at } = request;
  const window = windowOf(request, switches);
  const limit = rateLimitOf(key);
  const quota = quotaUse(key, at, switches);

  const isLimited = window.waitMs(limit, at) > 0;
  const isExhausted = !request.worksWhenQuotaExhausted && quota.limit !== null && quota.used >= quota.limit;
  const refusal = chooseRefusal([isLimited, isExhausted], switches);
  if (refusal !== undefined) {
    if (switches.use('rejectedCountsTowardRate')) window.count(limit, at);
    const uses = { limit, rate: rateUse(window, limit, at), quota };
    if (refusal === 'quota-exhausted') return { kind: refusal, ...uses };
    return { kind: refusal, waitMs: window.waitMs(limit, at), ...uses };
  }

  const response = request.respond(quota);
  const counting = windowOf(request, switches); // a function of a rule can have set it
  counting.count(limit, at);
  const { status } = response;
  // A success is always charged, so its response does not depend on the switch.
  const isCharged = request.consumesQuota && (status < 300 || charges(status, switches));
  const quotaAfter = isCharged ? chargeQuota(key, quota) : quota;
  return { kind: 'served', response, limit, rate: rateUse(counting, limit, at), quota: quotaAfter };
}

function chooseRefusal([isLimited, isExhausted]: readonly [boolean, boolean], switches: Switches) {
  if (isLimited && isExhausted) {
    return switches.use('checkOrder') === 'rate-then-quota' ? 'rate-limited' : 'quota-exhausted';
  }
  if (isLimited) return 'rate-limited';
  return isExhausted ? 'quota-exhausted' : undefined;
}

function charges(status: number, switches: Switches): boolean {
  return { accepted: true, success: false, 'non-5xx': status < 500 }[switches.use('quotaChargesOn')];
}

function windowOf({ key, hasOwnWindow }: MeteredRequest<unknown>, switches: Switches): RateWindow {
  const Window = rateWindows[switches.use('rateWindow')];
  if (hasOwnWindow && switches.use('quotaEndpointBucket') === 'separate') {
    key.quotaEndpointWindow ??= new Window();
    return key.quotaEndpointWindow;
  }
  key.window ??= new Window();
  return key.window;
}

/** The usage of a window, which counts nothing. */
export function rateUse(window: RateWindow, limit: RateLimit, at: number): RateUse {
  return { limit: limit.requests, used: window.used(limit, at), fullAt: window.fullAt(limit, at) };
}
