import type { PlanName } from '../../generated/service.ts';
import { keysAboveCap, revoke } from './key-cap.ts';
import type { AccountRecord, ServiceContext } from './service-state.ts';

/** Moves an account to `plan`; the switches say what becomes of usage and of keys above the new cap. */
export function applyPlanChange({ behaviour, now }: ServiceContext, account: AccountRecord, plan: PlanName): void {
  account.plan = plan;
  if (behaviour.use('planChange') === 'reset') {
    for (const key of account.keys) key.used = 0;
  }
  if (behaviour.use('overCapKeys') !== 'revoke-newest') return;
  for (const key of keysAboveCap(account, behaviour)) revoke(key, now());
}
