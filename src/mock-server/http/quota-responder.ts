import { type PlanName, plans } from '../../generated/service.ts';
import type { QuotaData } from '../../generated/types.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { Responder } from './responder.ts';
import { successResponse } from './service-response.ts';

/** `GET /api/v1/quota`: the record as documented (docs/facts.md), from what the key has really used. */
export const quotaResponder: Responder = ({ key, quota }, { behaviour }) => {
  const { plan } = key.account;
  const record: QuotaData = {
    plan,
    monthly_used: quota.used,
    ...monthlyLimitField(plan, behaviour),
    rate_limit_per_minute: plans[plan].rateLimitPerMinute,
    snapshot_granularity: behaviour.use('snapshotGranularity'),
    historical_days: INVENTED_HISTORICAL_DAYS[plan],
    resets_at: isoTime(quota.resetsAt),
  };
  return successResponse(record);
};

/** The service shows the field, not its values. */
const INVENTED_HISTORICAL_DAYS: Readonly<Record<PlanName, number>> = { free: 90, developer: 365, unlimited: 3650 };

function monthlyLimitField(plan: PlanName, behaviour: Behaviour): Pick<QuotaData, 'monthly_limit'> {
  const limit = plans[plan].monthlyLimit;
  if (limit !== null) return { monthly_limit: limit };
  const unlimited = behaviour.use('unlimitedAs');
  return unlimited === 'omitted' ? {} : { monthly_limit: unlimited };
}

// Kept, because nearly all keys share the end of their month.
let lastIso = { at: 0, text: '' };

function isoTime(at: number): string {
  if (at !== lastIso.at) lastIso = { at, text: new Date(at).toISOString() };
  return lastIso.text;
}
