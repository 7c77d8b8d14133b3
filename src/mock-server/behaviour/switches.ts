import { enumSwitch, numberSwitch, textSwitch } from './switch.ts';

const NEEDS_LIMIT = 'no request exceeded the per-minute limit';

/** Undocumented behaviour of the per-minute limit. */
const rateSwitches = {
  /** Kind of the per-minute window. Default: 'sliding-log'. */
  rateWindow: enumSwitch(['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'], {
    lenient: 'token-bucket',
    notShown: 'rate-window',
    notObserved: 'this needs several minutes at the limit',
    why: 'A sliding log is the strictest reading of "per minute".',
  }),
  /** Whether a refused request counts toward the per-minute limit. Default: false. */
  rejectedCountsTowardRate: enumSwitch([false, true], {
    // A client that retries too early stays refused for longer.
    hostile: true,
    notShown: 'rate-window',
    notObserved: 'this needs several minutes at the limit',
    why: 'Most services do not count refused requests toward the limit.',
  }),
  /** Whether `quota` shares the per-minute limit of `latest`, or has a limit of its own. Default: 'shared'. */
  quotaEndpointBucket: enumSwitch(['shared', 'separate'], {
    lenient: 'separate',
    notShown: 'rate-window',
    notObserved: NEEDS_LIMIT,
    why: 'The documentation says that quota "can be rate-limited like any other request".',
  }),
  /** Headers about the per-minute limit, in each response after the check of that limit. Default: 'none'. */
  rateHeaders: enumSwitch(['none', 'x-ratelimit', 'ietf-draft'], {
    lenient: 'x-ratelimit',
    notShown: 'rate-headers',
    why: 'Retry-After is the only documented header about limits.',
  }),
  /** Unit of Retry-After. Default: 'seconds'. */
  retryAfterUnit: enumSwitch(['seconds', 'milliseconds'], {
    hostile: 'milliseconds',
    notShown: 'retry-after-format',
    notObserved: NEEDS_LIMIT,
    why: 'RFC 9110 §10.2.3 defines Retry-After in seconds.',
  }),
  /** Whether Retry-After is a whole number or has up to three decimals. Default: 'integer'. */
  retryAfterFormat: enumSwitch(['integer', 'decimal'], {
    hostile: 'decimal',
    notShown: 'retry-after-format',
    notObserved: NEEDS_LIMIT,
    why: 'RFC 9110 §10.2.3 allows whole seconds only; the documentation says "a number".',
  }),
  /** How the wait is rounded for Retry-After. Default: 'up'. */
  retryAfterRounding: enumSwitch(['up', 'nearest', 'down'], {
    hostile: 'down',
    notShown: 'retry-after-format',
    notObserved: 'the clock of the service is not known to the millisecond',
    why: 'If the wait is rounded up, a client that waits exactly that long is served.',
  }),
  /** Value of Retry-After if the wait is rounded to 0. Default: 1. */
  retryAfterMin: enumSwitch([1, 0], {
    hostile: 0,
    notShown: 'retry-after-format',
    notObserved: 'the clock of the service is not known to the millisecond',
    why: 'With a Retry-After of 0, many clients retry immediately.',
  }),
  /** Whether Retry-After is the remaining wait, or always 60 seconds. Default: 'rest-of-wait'. */
  retryAfterValue: enumSwitch(['rest-of-wait', 'whole-minute'], {
    notShown: 'retry-after-format',
    notObserved: NEEDS_LIMIT,
    why: 'The remaining wait is the shortest correct value; some services always send the whole window.',
  }),
} as const;

/** Undocumented behaviour of the monthly quota and the quota record. */
const quotaSwitches = {
  /** Which limit refuses a request that exceeds both. Default: 'rate-then-quota'. */
  checkOrder: enumSwitch(['rate-then-quota', 'quota-then-rate'], {
    hostile: 'quota-then-rate',
    notShown: 'check-order',
    notObserved: 'this needs both limits to be used up',
    why: 'The per-minute limit applies to every request, the quota only to some.',
  }),
  /** Which responses count toward the monthly quota. Default: 'accepted'. */
  quotaChargesOn: enumSwitch(['accepted', 'success', 'non-5xx'], {
    lenient: 'success',
    notShown: 'quota-charge',
    why: '429 rate_limited is the only response documented as free.',
  }),
  /** When the monthly quota resets. Default: 'calendar-month-utc'. */
  quotaPeriod: enumSwitch(['calendar-month-utc', 'rolling-30d', 'anniversary'], {
    hostile: 'rolling-30d',
    notShown: 'quota-period',
    why: 'resets_at is in UTC, and most monthly quotas follow the calendar month.',
  }),
  /** Status and error code if the monthly quota is used up. Default: '429 quota_exceeded'. */
  quotaExhausted: enumSwitch(['429 quota_exceeded', '402 quota_exceeded', '403 quota_exceeded'], {
    lenient: '402 quota_exceeded',
    // The default is also hostile: it looks like the per-minute limit, but lasts for weeks.
    notShown: 'quota-exhausted-response',
    notObserved: 'the monthly quota is not used up',
    why: 'Most metered services send 429 when a quota is exhausted.',
  }),
  /** Whether the refusal for a used-up quota has Retry-After. Default: 'absent'. */
  quotaRetryAfter: enumSwitch(['absent', 'until-reset'], {
    hostile: 'until-reset',
    notShown: 'quota-exhausted-response',
    notObserved: 'the monthly quota is not used up',
    why: 'Retry-After is documented for 429 rate_limited only.',
  }),
  /** Requests per month above which the Unlimited plan is refused; `null` for no threshold. Default: null. */
  unlimitedFairUse: numberSwitch<number | null>([null, 1_000_000], {
    min: 0,
    hostile: 1_000_000,
    notShown: 'unlimited-fair-use',
    notObserved: 'this needs more requests than the threshold',
    why: 'No threshold is documented, so by default the mock never refuses the Unlimited plan for its quota.',
  }),
  /** Value of `monthly_limit` on the Unlimited plan. Default: null. */
  unlimitedAs: enumSwitch([null, -1, 0, 'unlimited', 'omitted'], {
    lenient: 'unlimited',
    hostile: 'omitted',
    notShown: 'unlimited-monthly-limit',
    why: 'null is the usual JSON value for "no limit".',
  }),
  /** Value of `snapshot_granularity`, and the interval at which invented rates change. Default: '5min'. */
  snapshotGranularity: textSwitch(['5min', '1min', '60min'], {
    pattern: /^[1-9]\d*[a-z]+$/,
    lenient: '1min',
    hostile: '60min',
    notShown: 'snapshot-granularity-values',
    why: '5min is the only documented value.',
  }),
} as const;

const OF_DASHBOARD = 'it is visible only in the dashboard';

const REFUSALS = ['401 unauthorized', '403 forbidden', '401 invalid_api_key', '403 invalid_api_key'] as const;

/** Undocumented behaviour of authentication. */
const authenticationSwitches = {
  /** Status and error code for a request without a key. Default: '401 unauthorized'. */
  missingKey: enumSwitch([...REFUSALS, '401 missing_api_key'], {
    lenient: '401 missing_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for missing credentials.',
  }),
  /** Status and error code for a credential that does not look like an API key. Default: '401 unauthorized'. */
  malformedKey: enumSwitch([...REFUSALS, '400 invalid_api_key'], {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for invalid credentials.',
  }),
  /** Status and error code for a key that was never created. Default: '401 unauthorized'. */
  unknownKey: enumSwitch(REFUSALS, {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for invalid credentials; the response does not reveal which keys exist.',
  }),
  /** Status and error code for a revoked key. Default: '401 unauthorized'. */
  revokedKey: enumSwitch([...REFUSALS, '401 key_revoked', '403 key_revoked'], {
    lenient: '401 key_revoked',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    notObserved: 'this needs a revoked key',
    why: 'The documentation says that a revoked key fails; 401 is the usual status for an invalid credential.',
  }),
  /** Which credential applies if a request has one in the header and one in the query. Default: 'header'. */
  severalCredentials: enumSwitch(['header', 'query', 'refused'], {
    hostile: 'refused',
    notShown: 'several-credentials',
    why: 'The Authorization header is the documented preferred form.',
  }),
  /** Whether a 401 has the header WWW-Authenticate. Default: 'bearer'. */
  wwwAuthenticate: enumSwitch(['bearer', 'absent'], {
    hostile: 'absent',
    notShown: 'authentication-failure',
    notObserved: 'no response was a 401',
    why: 'RFC 9110 §11.6.1 requires the header with every 401; not every service sends it.',
  }),
} as const;

/** Undocumented behaviour of accounts, keys and plans. */
const accountSwitches = {
  /** Number of active keys that the Free plan allows; `null` for no limit. Default: 1. */
  freeMaxActiveKeys: numberSwitch<number | null>([1, 2, 3, null], {
    min: 1,
    lenient: null,
    notShown: 'free-key-cap',
    notObserved: OF_DASHBOARD,
    why: 'One is the lowest cap with which the plan is usable.',
  }),
  /** Status and error code if the plan allows no more active keys. Default: '409 key_limit_reached'. */
  keyLimitReached: enumSwitch(['409 key_limit_reached', '403 key_limit_reached', '422 key_limit_reached'], {
    hostile: '422 key_limit_reached',
    notShown: 'key-cap-response',
    notObserved: OF_DASHBOARD,
    why: '409 is the usual status for a conflict with the current state.',
  }),
  /**
   * Status and error code if an account creates a key before it confirmed its e-mail address.
   * Default: '403 email_not_confirmed'.
   */
  unconfirmedEmail: enumSwitch(['403 email_not_confirmed', '409 email_not_confirmed', '422 email_not_confirmed'], {
    lenient: '409 email_not_confirmed',
    hostile: '422 email_not_confirmed',
    notShown: 'key-cap-response',
    notObserved: OF_DASHBOARD,
    why: '403 is the usual status for an account that is not yet allowed to do something.',
  }),
  /** Whether a plan change resets the usage of the month. Default: 'keep'. */
  planChange: enumSwitch(['keep', 'reset'], {
    lenient: 'reset',
    notShown: 'plan-change',
    notObserved: OF_DASHBOARD,
    why: 'If usage is kept, a client cannot rely on a plan change to free quota.',
  }),
  /** Effect of a plan change on the keys above the new cap. Default: 'keep'. */
  overCapKeys: enumSwitch(['keep', 'revoke-newest', 'block'], {
    hostile: 'revoke-newest',
    notShown: 'plan-change',
    notObserved: OF_DASHBOARD,
    why: 'The documentation does not say that a plan change revokes keys.',
  }),
  /** Prefix of new keys. It ends in `_live_`. Default: 'fx_live_'. */
  keyPrefix: textSwitch(['fx_live_', 'rates_live_'], {
    pattern: /^[\w-]+_live_$/,
    hostile: 'rates_live_',
    notShown: 'key-prefix',
    why: 'The documentation shows only that the prefix ends with _live_.',
  }),
} as const;

/** Undocumented behaviour of requests other than the two documented ones. */
const httpSwitches = {
  /** Whether an unknown path gets a 404 before or after the key is checked. Default: '404 before authentication'. */
  unknownRoute: enumSwitch(['404 before authentication', '404 after authentication'], {
    hostile: '404 after authentication',
    notShown: 'other-endpoints',
    why: 'The response is then the same with and without a key. An unknown path never uses quota.',
  }),
  /** Status and error code for methods other than GET. Default: '405 method_not_allowed'. */
  methodNotAllowed: enumSwitch(['405 method_not_allowed', '404 not_found'], {
    hostile: '404 not_found',
    notShown: 'error-codes',
    why: 'Only GET is documented; RFC 9110 §15.5.6 defines 405 for other methods.',
  }),
  /** Response to HEAD requests. Default: 'like-get'. */
  headRequests: enumSwitch(['like-get', 'refused'], {
    hostile: 'refused',
    notShown: 'other-endpoints',
    why: 'RFC 9110 §9.1 requires HEAD wherever GET is supported.',
  }),
  /** Response to OPTIONS requests. Default: 'refused'. */
  optionsRequests: enumSwitch(['refused', 'allow-header'], {
    lenient: 'allow-header',
    notShown: 'other-endpoints',
    why: 'OPTIONS is not documented, and the service is not meant for browsers.',
  }),
  /**
   * Status and error code for a parameter that the contract does not allow, or an unknown currency; `'ignored'` serves the
   * request. Default: '400 invalid_parameter'.
   */
  badParameter: enumSwitch(['400 invalid_parameter', '422 invalid_parameter', 'ignored'], {
    lenient: 'ignored',
    hostile: '422 invalid_parameter',
    notShown: 'latest-parameters',
    why: '400 is the usual status for an invalid parameter.',
  }),
  /** Response to a request with a parameter that the operation or its invented rates do not know. Default: 'served'. */
  unknownParameters: enumSwitch(['served', '400'], {
    hostile: '400',
    notShown: 'latest-parameters',
    notObserved: 'the documentation names no parameter of latest',
    why: 'The parameters of latest are not documented. The journal names those that the mock does not know.',
  }),
  /** Whether web pages of other origins can read responses. Default: 'absent'. */
  cors: enumSwitch(['absent', 'any-origin'], {
    lenient: 'any-origin',
    notShown: 'cross-origin',
    why: 'The API key must stay on a server, so the service needs no CORS headers. Swagger UI needs them.',
  }),
  /** Whether successful responses have an ETag, and of which kind. Default: 'absent'. */
  etag: enumSwitch(['absent', 'strong', 'weak'], {
    lenient: 'strong',
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

/** Name of a switch. */
export type SwitchName = keyof typeof switches;

/** The value of every switch. */
export type BehaviourValues = { readonly [Name in keyof typeof switches]: (typeof switches)[Name]['default'] };

export const SWITCH_NAMES = Object.keys(switches) as readonly SwitchName[];
