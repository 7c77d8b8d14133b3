import { plans } from '../../generated/service.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { AccountRecord, KeyRecord } from './service-state.ts';

/** How many keys of the account may be active at once; `null` for any number. */
export function maxActiveKeys(account: AccountRecord, behaviour: Behaviour): number | null {
  return plans[account.plan].maxActiveKeys ?? behaviour.use('freeMaxActiveKeys');
}

/** Ends a key for good; once more changes nothing. */
export function revoke(key: KeyRecord, now: number): void {
  if (key.revokedAt !== undefined) return;
  key.revokedAt = now;
  key.account.activeKeys -= 1;
}

/** Active keys that have no place in the account's plan, because it was larger once; the oldest keep theirs. */
export function keysAboveCap(account: AccountRecord, behaviour: Behaviour): readonly KeyRecord[] {
  // One key has a place in every plan; most accounts have one.
  if (account.activeKeys <= 1) return [];
  const cap = maxActiveKeys(account, behaviour);
  if (cap === null || account.activeKeys <= cap) return [];
  return account.keys.filter((key) => key.revokedAt === undefined).slice(cap);
}
