import { documented, enumSwitch, numberSwitch, textSwitch } from './switch.ts';

/** Undocumented behaviour of the per-minute limit. */
const rateSwitches = {
  rateWindow: enumSwitch(['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'], {
    lenient: 'token-bucket',
    hostile: 'sliding-log',
    notShown: 'rate-window',
    why: 'A sliding log is the strictest reading of "per minute".',
  }),
  rejectedCountsTowardRate: enumSwitch([false, true], {
    lenient: false,
    // A client that retries too early stays refused for longer.
    hostile: true,
    notShown: 'rate-window',
    why: 'Most services do not count refused requests toward the limit.',
  }),
  quotaEndpointBucket: enumSwitch(['shared', 'separate'], {
    lenient: 'separate',
    hostile: 'shared',
    notShown: 'rate-window',
    why: 'The documentation says that quota "can be rate-limited like any other request".',
  }),
  rateHeaders: enumSwitch(['none', 'x-ratelimit', 'ietf-draft'], {
    lenient: 'x-ratelimit',
    hostile: 'none',
    notShown: 'rate-headers',
    why: 'Retry-After is the only documented header about limits.',
  }),
  retryAfterUnit: enumSwitch(['seconds', 'milliseconds'], {
    lenient: 'seconds',
    hostile: 'milliseconds',
    notShown: 'retry-after-format',
    why: 'RFC 9110 §10.2.3 defines Retry-After in seconds.',
  }),
  retryAfterFormat: enumSwitch(['integer', 'decimal'], {
    lenient: 'integer',
    hostile: 'decimal',
    notShown: 'retry-after-format',
    why: 'RFC 9110 §10.2.3 allows whole seconds only; the documentation says "a number".',
  }),
  retryAfterRounding: enumSwitch(['up', 'nearest', 'down'], {
    lenient: 'up',
    hostile: 'down',
    notShown: 'retry-after-format',
    why: 'If the wait is rounded up, a client that waits exactly that long is served.',
  }),
  retryAfterMin: enumSwitch([1, 0], {
    lenient: 1,
    hostile: 0,
    notShown: 'retry-after-format',
    why: 'A Retry-After of 0 invites clients to retry immediately.',
  }),
  retryAfterValue: enumSwitch(['rest-of-wait', 'whole-minute'], {
    lenient: 'rest-of-wait',
    hostile: 'rest-of-wait',
    notShown: 'retry-after-format',
    why: 'The remaining wait is the shortest correct value; some services always send the whole window.',
  }),
} as const;

/** Undocumented behaviour of the monthly quota and the quota record. */
const quotaSwitches = {
  checkOrder: enumSwitch(['rate-then-quota', 'quota-then-rate'], {
    lenient: 'rate-then-quota',
    hostile: 'quota-then-rate',
    notShown: 'check-order',
    why: 'The per-minute limit applies to every request, the quota only to some.',
  }),
  quotaChargesOn: enumSwitch(['accepted', 'success', 'non-5xx'], {
    lenient: 'success',
    hostile: 'accepted',
    notShown: 'quota-charge',
    why: '429 rate_limited is the only answer documented as free.',
  }),
  quotaPeriod: enumSwitch(['calendar-month-utc', 'rolling-30d', 'anniversary'], {
    lenient: 'calendar-month-utc',
    hostile: 'rolling-30d',
    notShown: 'quota-period',
    why: 'resets_at is in UTC, and most monthly quotas follow the calendar month.',
  }),
  quotaExhausted: enumSwitch(['429 quota_exceeded', '402 quota_exceeded', '403 quota_exceeded'], {
    lenient: '402 quota_exceeded',
    // Looks like the per-minute limit, but lasts for weeks.
    hostile: '429 quota_exceeded',
    notShown: 'quota-exhausted-response',
    why: 'Most metered services answer 429 when a quota is exhausted.',
  }),
  quotaRetryAfter: enumSwitch(['absent', 'until-reset'], {
    lenient: 'absent',
    hostile: 'until-reset',
    notShown: 'quota-exhausted-response',
    why: 'Retry-After is documented for 429 rate_limited only.',
  }),
  unlimitedFairUse: numberSwitch<number | null>([null, 1_000_000], {
    min: 0,
    lenient: null,
    hostile: 1_000_000,
    notShown: 'unlimited-fair-use',
    why: 'No threshold is documented, so by default the mock never refuses the Unlimited plan for its quota.',
  }),
  unlimitedAs: enumSwitch([null, -1, 'unlimited', 'omitted'], {
    lenient: 'unlimited',
    hostile: 'omitted',
    notShown: 'unlimited-monthly-limit',
    why: 'null is the usual JSON value for "no limit".',
  }),
  snapshotGranularity: textSwitch(['5min', '1min', '60min'], {
    pattern: /^[1-9]\d*[a-z]+$/,
    lenient: '1min',
    hostile: '60min',
    notShown: 'snapshot-granularity-values',
    why: '5min is the only documented value.',
  }),
} as const;

const REFUSALS = ['401 unauthorized', '403 forbidden', '401 invalid_api_key', '403 invalid_api_key'] as const;

/** Undocumented behaviour of authentication. */
const authenticationSwitches = {
  missingKey: enumSwitch([...REFUSALS, '401 missing_api_key'], {
    lenient: '401 missing_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for missing credentials.',
  }),
  malformedKey: enumSwitch([...REFUSALS, '400 invalid_api_key'], {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for invalid credentials.',
  }),
  unknownKey: enumSwitch(REFUSALS, {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for invalid credentials; the answer does not reveal which keys exist.',
  }),
  revokedKey: enumSwitch([...REFUSALS, '401 key_revoked', '403 key_revoked'], {
    lenient: '401 key_revoked',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'A revoked key is documented to fail; 401 is the usual status for an invalid credential.',
  }),
  severalCredentials: enumSwitch(['header', 'query', 'refused'], {
    lenient: 'header',
    hostile: 'refused',
    notShown: 'several-credentials',
    why: 'The Authorization header is the documented preferred form.',
  }),
  wwwAuthenticate: enumSwitch(['bearer', 'absent'], {
    lenient: 'bearer',
    hostile: 'absent',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §11.6.1 requires the header with every 401; not every service sends it.',
  }),
  revocationDelayMs: documented(
    numberSwitch([0, 60_000], {
      min: 0,
      lenient: 0,
      hostile: 0,
      notShown: 'authentication-failure',
      why: 'The next request of a revoked key is documented to fail; a delay emulates a cache inside the service.',
    }),
  ),
} as const;

/** Undocumented behaviour of accounts, keys and plans. */
const accountSwitches = {
  freeMaxActiveKeys: numberSwitch<number | null>([1, 2, 3, null], {
    min: 1,
    lenient: null,
    hostile: 1,
    notShown: 'free-key-cap',
    why: 'One is the lowest cap with which the plan is usable.',
  }),
  keyLimitReached: enumSwitch(['409 key_limit_reached', '403 key_limit_reached', '422 key_limit_reached'], {
    lenient: '409 key_limit_reached',
    hostile: '422 key_limit_reached',
    notShown: 'key-cap-response',
    why: '409 is the usual status for a conflict with the current state.',
  }),
  unconfirmedEmail: enumSwitch(['403 email_not_confirmed', '409 email_not_confirmed', '422 email_not_confirmed'], {
    lenient: '409 email_not_confirmed',
    hostile: '422 email_not_confirmed',
    notShown: 'key-cap-response',
    why: '403 is the usual status for an account that is not yet allowed to do something.',
  }),
  planChange: enumSwitch(['keep', 'reset'], {
    lenient: 'reset',
    hostile: 'keep',
    notShown: 'plan-change',
    why: 'If usage is kept, a client cannot rely on a plan change to free quota.',
  }),
  overCapKeys: enumSwitch(['keep', 'revoke-newest', 'block'], {
    lenient: 'keep',
    hostile: 'revoke-newest',
    notShown: 'plan-change',
    why: 'The documentation does not say that a plan change revokes keys.',
  }),
  keyPrefix: textSwitch(['fx_live_', 'rates_live_'], {
    pattern: /^[A-Za-z0-9]+_live_$/,
    lenient: 'fx_live_',
    hostile: 'rates_live_',
    notShown: 'key-prefix',
    why: 'Only the ending _live_ of the prefix is documented.',
  }),
} as const;

/** Undocumented behaviour of requests other than the two documented ones. */
const httpSwitches = {
  unknownRoute: enumSwitch(['404 before authentication', '404 after authentication'], {
    lenient: '404 before authentication',
    hostile: '404 after authentication',
    notShown: 'other-endpoints',
    why: 'The answer is then the same with and without a key. An unknown path never uses quota.',
  }),
  methodNotAllowed: enumSwitch(['405 method_not_allowed', '404 not_found'], {
    lenient: '405 method_not_allowed',
    hostile: '404 not_found',
    notShown: 'error-codes',
    why: 'Only GET is documented; RFC 9110 §15.5.6 defines 405 for other methods.',
  }),
  headRequests: enumSwitch(['like-get', 'refused'], {
    lenient: 'like-get',
    hostile: 'refused',
    notShown: 'other-endpoints',
    why: 'RFC 9110 §9.1 requires HEAD wherever GET is supported.',
  }),
  optionsRequests: enumSwitch(['refused', 'allow-header'], {
    lenient: 'allow-header',
    hostile: 'refused',
    notShown: 'other-endpoints',
    why: 'OPTIONS is not documented, and the service is not meant for browsers.',
  }),
  badParameter: enumSwitch(['400 invalid_parameter', '422 invalid_parameter', 'ignored'], {
    lenient: 'ignored',
    hostile: '422 invalid_parameter',
    notShown: 'latest-parameters',
    why: '400 is the usual status for an invalid parameter.',
  }),
  cors: enumSwitch(['absent', 'any-origin'], {
    lenient: 'any-origin',
    hostile: 'absent',
    notShown: 'cross-origin',
    why: 'The API key must stay on a server, so the service needs no CORS headers. Swagger UI needs them.',
  }),
  etag: enumSwitch(['absent', 'strong', 'weak'], {
    lenient: 'strong',
    hostile: 'absent',
    notShown: 'entity-tags',
    why: 'No ETag is documented. A 304 counts toward the month as quotaChargesOn defines.',
  }),
} as const;

/** Switches by topic, as the control panel and docs/switches.md group them. */
export const SWITCH_GROUPS = {
  'Per-minute limit': rateSwitches,
  'Monthly quota': quotaSwitches,
  Authentication: authenticationSwitches,
  'Accounts and keys': accountSwitches,
  HTTP: httpSwitches,
} as const;

/** All switches by name. */
export const switches = {
  ...rateSwitches,
  ...quotaSwitches,
  ...authenticationSwitches,
  ...accountSwitches,
  ...httpSwitches,
} as const;

export type SwitchName = keyof typeof switches;

/** The value of every switch. */
export type BehaviourValues = { readonly [Name in SwitchName]: (typeof switches)[Name]['default'] };

export const SWITCH_NAMES = Object.keys(switches) as readonly SwitchName[];
