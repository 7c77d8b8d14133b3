import { plans } from '../../generated/service.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { quotaPeriod } from './quota-period.ts';
import type { KeyRecord } from './service-state.ts';

/** How much of its monthly quota a key has used at one moment. */
export interface QuotaUse {
  /** `null` for any number. */
  readonly limit: number | null;
  readonly used: number;
  /** Start and end of the running period, in milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly resetsAt: number;
}

export function quotaUse(key: KeyRecord, at: number, behaviour: Behaviour): QuotaUse {
  const { account, usedFrom } = key;
  const period = quotaPeriod(behaviour.use('quotaPeriod'), at, { createdAt: account.createdAt, usedFrom });
  return {
    limit: plans[account.plan].monthlyLimit ?? behaviour.use('unlimitedFairUse'),
    used: usedFrom === period.start ? key.used : 0,
    startedAt: period.start,
    resetsAt: period.end,
  };
}

/** Counts one request in the period of `quota`; gives the use after it. */
export function chargeQuota(key: KeyRecord, quota: QuotaUse): QuotaUse {
  key.used = quota.used + 1;
  key.usedFrom = quota.startedAt;
  return { ...quota, used: key.used };
}
