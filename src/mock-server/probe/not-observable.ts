import type { SwitchName } from '../behaviour/switches.ts';

const OF_DASHBOARD = 'it shows in the dashboard alone';
const NOT_REACHED = 'the budget was spent before it was looked at';
const NEEDS_LIMIT = 'no refusal of the per-minute limit was met';

/** Why a switch is not observed when no step says anything else. A probe never guesses. */
export const USUAL_REASONS: Readonly<Record<SwitchName, string>> = {
  rateWindow: 'it takes several minutes at the limit to tell',
  rejectedCountsTowardRate: 'it takes several minutes at the limit to tell',
  quotaEndpointBucket: NEEDS_LIMIT,
  rateHeaders: NOT_REACHED,
  retryAfterUnit: NEEDS_LIMIT,
  retryAfterFormat: NEEDS_LIMIT,
  retryAfterRounding: 'the clock of the service is not known to the millisecond',
  retryAfterMin: 'the clock of the service is not known to the millisecond',
  retryAfterValue: NEEDS_LIMIT,
  checkOrder: 'both limits would have to be used up',
  quotaChargesOn: NOT_REACHED,
  quotaPeriod: NOT_REACHED,
  quotaExhausted: 'the month is not used up',
  quotaRetryAfter: 'the month is not used up',
  unlimitedFairUse: 'the threshold would have to be reached',
  unlimitedAs: NOT_REACHED,
  snapshotGranularity: NOT_REACHED,
  missingKey: NOT_REACHED,
  malformedKey: NOT_REACHED,
  unknownKey: NOT_REACHED,
  revokedKey: 'a key would have to be revoked',
  severalCredentials: NOT_REACHED,
  wwwAuthenticate: 'no answer was a 401',
  revocationDelayMs: 'a key would have to be revoked',
  freeMaxActiveKeys: OF_DASHBOARD,
  keyLimitReached: OF_DASHBOARD,
  unconfirmedEmail: OF_DASHBOARD,
  planChange: OF_DASHBOARD,
  overCapKeys: OF_DASHBOARD,
  keyPrefix: 'the key in use has not the documented form',
  unknownRoute: NOT_REACHED,
  methodNotAllowed: NOT_REACHED,
  headRequests: NOT_REACHED,
  optionsRequests: NOT_REACHED,
  badParameter: NOT_REACHED,
  cors: NOT_REACHED,
  etag: NOT_REACHED,
};
