import { plans } from '../../generated/service.ts';
import { type QuotaPeriod, quotaPeriod } from './quota-period.ts';
import type { AccountRecord, KeyRecord, ServiceContext } from './service-state.ts';

type UsageContext = Pick<ServiceContext, 'behaviour' | 'now'>;

/** The quota period of a key that is running now. */
export function currentPeriod({ behaviour, now }: UsageContext, key: KeyRecord): QuotaPeriod {
  return quotaPeriod(behaviour.use('quotaPeriod'), now(), {
    createdAt: key.account.createdAt,
    usedFrom: key.usedFrom,
  });
}

/** Requests of a key counted in the running period. */
export function usedInPeriod(context: UsageContext, key: KeyRecord): number {
  return key.used > 0 && key.usedFrom === currentPeriod(context, key).start ? key.used : 0;
}

/** Counts one request in the running period. */
export function chargeQuota(context: UsageContext, key: KeyRecord): void {
  const { start } = currentPeriod(context, key);
  key.used = (key.usedFrom === start ? key.used : 0) + 1;
  key.usedFrom = start;
}

/** Requests per month a plan allows; `null` for any number. */
export function monthlyLimit({ plan }: AccountRecord, { behaviour }: UsageContext): number | null {
  return plans[plan].monthlyLimit ?? behaviour.use('unlimitedFairUse');
}
