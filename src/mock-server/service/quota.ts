import * as z from 'zod';
import { plans } from '../../generated/service.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import type { KeyRecord } from './service-state.ts';

export const monthUsage = z.object({
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
export type QuotaUse = Readonly<z.output<typeof monthUsage>>;

export function quotaUse(key: KeyRecord, at: number, behaviour: Switches): QuotaUse {
  const { account, usedFrom } = key;
  const period = quotaPeriod(behaviour.use('quotaPeriod'), at, { createdAt: account.createdAt, usedFrom });
  return {
    limit: plans[account.plan].monthlyLimit ?? behaviour.use('unlimitedFairUse'),
    used: usedFrom === period.start ? key.used : 0,
    startedAt: period.start,
    resetsAt: period.end,
  };
}

/** Counts one request in the period of `quota`. Returns the usage after it. */
export function chargeQuota(key: KeyRecord, quota: QuotaUse): QuotaUse {
  key.used = quota.used + 1;
  key.usedFrom = quota.startedAt;
  const { limit, startedAt, resetsAt } = quota;
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
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
}

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
