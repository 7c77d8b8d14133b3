import { documented, enumSwitch, numberSwitch, textSwitch } from './switch.ts';

/** What is not shown about the per-minute limit. */
const rateSwitches = {
  rateWindow: enumSwitch(['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'], {
    lenient: 'token-bucket',
    hostile: 'sliding-log',
    notShown: 'rate-window',
    why: 'The kind of window is not shown; a sliding log is the strictest reading of "per minute".',
  }),
  rejectedCountsTowardRate: enumSwitch([false, true], {
    lenient: false,
    // Who asks again too early is kept out for longer.
    hostile: true,
    notShown: 'rate-window',
    why: 'Whether a refused request counts in the window is not shown; most services do not count it.',
  }),
  quotaEndpointBucket: enumSwitch(['shared', 'separate'], {
    lenient: 'separate',
    hostile: 'shared',
    notShown: 'rate-window',
    why: 'The quota endpoint "can be rate-limited like any other request"; whether in the same window is not shown.',
  }),
  rateHeaders: enumSwitch(['none', 'x-ratelimit', 'ietf-draft'], {
    lenient: 'x-ratelimit',
    hostile: 'none',
    notShown: 'rate-headers',
    why: 'No header about limits is shown apart from Retry-After.',
  }),
  retryAfterUnit: enumSwitch(['seconds', 'milliseconds'], {
    lenient: 'seconds',
    hostile: 'milliseconds',
    notShown: 'retry-after-format',
    why: 'The unit is not shown; RFC 9110 §10.2.3 means seconds.',
  }),
  retryAfterFormat: enumSwitch(['integer', 'decimal'], {
    lenient: 'integer',
    hostile: 'decimal',
    notShown: 'retry-after-format',
    why: 'The value is a number; whether a whole one is not shown, RFC 9110 has whole ones only.',
  }),
  retryAfterRounding: enumSwitch(['up', 'nearest', 'down'], {
    lenient: 'up',
    hostile: 'down',
    notShown: 'retry-after-format',
    why: 'Rounded up, a client that obeys exactly is served; services that round down refuse it once more.',
  }),
  retryAfterMin: enumSwitch([1, 0], {
    lenient: 1,
    hostile: 0,
    notShown: 'retry-after-format',
    why: 'The least last digit: a value rounded to 0 invites a retry at once.',
  }),
  retryAfterValue: enumSwitch(['rest-of-wait', 'whole-minute'], {
    lenient: 'rest-of-wait',
    hostile: 'rest-of-wait',
    notShown: 'retry-after-format',
    why: 'What the number counts is not shown; some services always name the whole window.',
  }),
} as const;

/** What is not shown about the monthly quota and the quota record. */
const quotaSwitches = {
  checkOrder: enumSwitch(['rate-then-quota', 'quota-then-rate'], {
    lenient: 'rate-then-quota',
    hostile: 'quota-then-rate',
    notShown: 'check-order',
    why: 'When both limits are reached, which of the two refusals is sent is not shown.',
  }),
  quotaChargesOn: enumSwitch(['accepted', 'success', 'non-5xx'], {
    lenient: 'success',
    hostile: 'accepted',
    notShown: 'quota-charge',
    why: 'Only 429 rate_limited is documented as free; whether other failed requests count is not shown.',
  }),
  quotaPeriod: enumSwitch(['calendar-month-utc', 'rolling-30d', 'anniversary'], {
    lenient: 'calendar-month-utc',
    hostile: 'rolling-30d',
    notShown: 'quota-period',
    why: 'resets_at is in UTC, but where the month begins is not shown.',
  }),
  quotaExhausted: enumSwitch(['429 quota_exceeded', '402 quota_exceeded', '403 quota_exceeded'], {
    lenient: '402 quota_exceeded',
    // Looks like the minute's limit, and asks for weeks.
    hostile: '429 quota_exceeded',
    notShown: 'quota-exhausted-response',
    why: 'The answer to a used-up month is not shown; 429 is what most metered services send.',
  }),
  quotaRetryAfter: enumSwitch(['absent', 'until-reset'], {
    lenient: 'absent',
    hostile: 'until-reset',
    notShown: 'quota-exhausted-response',
    why: 'Retry-After is documented for 429 rate_limited alone.',
  }),
  unlimitedFairUse: numberSwitch<number | null>([null, 1_000_000], {
    min: 0,
    lenient: null,
    hostile: 1_000_000,
    notShown: 'unlimited-fair-use',
    why: 'The threshold is not shown; null never refuses, a number of requests per month refuses like a quota.',
  }),
  unlimitedAs: enumSwitch([null, -1, 'unlimited', 'omitted'], {
    lenient: 'unlimited',
    hostile: 'omitted',
    notShown: 'unlimited-monthly-limit',
    why: 'How monthly_limit is written for the Unlimited plan is not shown.',
  }),
  snapshotGranularity: textSwitch(['5min', '1min', '60min'], {
    pattern: /^[1-9]\d*[a-z]+$/,
    lenient: '1min',
    hostile: '60min',
    notShown: 'snapshot-granularity-values',
    why: '5min is the only value shown.',
  }),
} as const;

const REFUSALS = ['401 unauthorized', '403 forbidden', '401 invalid_api_key', '403 invalid_api_key'] as const;

/** What is not shown about authentication. */
const authenticationSwitches = {
  missingKey: enumSwitch([...REFUSALS, '401 missing_api_key'], {
    lenient: '401 missing_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'Status and code for a missing key are not shown.',
  }),
  malformedKey: enumSwitch([...REFUSALS, '400 invalid_api_key'], {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'Status and code for a malformed key are not shown.',
  }),
  unknownKey: enumSwitch(REFUSALS, {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'Status and code for a key that was never given out are not shown.',
  }),
  revokedKey: enumSwitch([...REFUSALS, '401 key_revoked', '403 key_revoked'], {
    lenient: '401 key_revoked',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'That a revoked key fails is documented; with which status and code is not shown.',
  }),
  severalCredentials: enumSwitch(['header', 'query', 'refused'], {
    lenient: 'header',
    hostile: 'refused',
    notShown: 'several-credentials',
    why: 'Which one counts is not shown; the header is the preferred form. Refused answers as a malformed key.',
  }),
  wwwAuthenticate: enumSwitch(['bearer', 'absent'], {
    lenient: 'bearer',
    hostile: 'absent',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §11.6.1 wants the header on every 401; not every service sends it.',
  }),
  revocationDelayMs: documented(
    numberSwitch([0, 60_000], {
      min: 0,
      lenient: 0,
      hostile: 0,
      notShown: 'authentication-failure',
      why: 'Documented: the next request of a revoked key fails. A delay shows what a cache in the service would do.',
    }),
  ),
} as const;

/** What is not shown about accounts, keys and plans. */
const accountSwitches = {
  freeMaxActiveKeys: numberSwitch<number | null>([1, 2, 3, null], {
    min: 1,
    lenient: null,
    hostile: 1,
    notShown: 'free-key-cap',
    why: 'Caps are shown for Developer and Unlimited only; one is the least that works.',
  }),
  keyLimitReached: enumSwitch(['409 key_limit_reached', '403 key_limit_reached', '422 key_limit_reached'], {
    lenient: '409 key_limit_reached',
    hostile: '422 key_limit_reached',
    notShown: 'key-cap-response',
    why: 'What the dashboard answers above the cap is not shown.',
  }),
  unconfirmedEmail: enumSwitch(['403 email_not_confirmed', '409 email_not_confirmed', '422 email_not_confirmed'], {
    lenient: '409 email_not_confirmed',
    hostile: '422 email_not_confirmed',
    notShown: 'key-cap-response',
    why: 'What the dashboard answers before the e-mail address is confirmed is not shown.',
  }),
  planChange: enumSwitch(['keep', 'reset'], {
    lenient: 'reset',
    hostile: 'keep',
    notShown: 'plan-change',
    why: 'Whether a change of plan keeps the used part of the month is not shown.',
  }),
  overCapKeys: enumSwitch(['keep', 'revoke-newest', 'block'], {
    lenient: 'keep',
    hostile: 'revoke-newest',
    notShown: 'plan-change',
    why: 'What happens to keys above the cap of a smaller plan is not shown; blocked ones work again with more room.',
  }),
  keyPrefix: textSwitch(['fx_live_', 'rates_live_'], {
    pattern: /^[A-Za-z0-9]+_live_$/,
    lenient: 'fx_live_',
    hostile: 'rates_live_',
    notShown: 'key-prefix',
    why: 'Only its ending, _live_, is shown.',
  }),
} as const;

/** What is not shown about requests outside the two documented ones. */
const httpSwitches = {
  unknownRoute: enumSwitch(['404 before authentication', '404 after authentication'], {
    lenient: '404 before authentication',
    hostile: '404 after authentication',
    notShown: 'other-endpoints',
    why: 'Whether an unknown path asks for a key, and counts in the minute, is not shown. It never uses quota.',
  }),
  methodNotAllowed: enumSwitch(['405 method_not_allowed', '404 not_found'], {
    lenient: '405 method_not_allowed',
    hostile: '404 not_found',
    notShown: 'error-codes',
    why: 'Only GET is shown; the answer to another method is not.',
  }),
  headRequests: enumSwitch(['like-get', 'refused'], {
    lenient: 'like-get',
    hostile: 'refused',
    notShown: 'other-endpoints',
    why: 'HEAD is not shown; RFC 9110 §9.1 wants it wherever GET is. It counts as the GET would.',
  }),
  optionsRequests: enumSwitch(['refused', 'allow-header'], {
    lenient: 'allow-header',
    hostile: 'refused',
    notShown: 'other-endpoints',
    why: 'OPTIONS is not shown, and the service is not meant for browsers.',
  }),
  badParameter: enumSwitch(['400 invalid_parameter', '422 invalid_parameter', 'ignored'], {
    lenient: 'ignored',
    hostile: '422 invalid_parameter',
    notShown: 'latest-parameters',
    why: 'The answer to a parameter that cannot be is not shown.',
  }),
  cors: enumSwitch(['absent', 'any-origin'], {
    lenient: 'any-origin',
    hostile: 'absent',
    notShown: 'cross-origin',
    why: 'Without CORS headers no page of another origin can read an answer; with them tools such as Swagger UI work.',
  }),
  etag: enumSwitch(['absent', 'strong', 'weak'], {
    lenient: 'strong',
    hostile: 'absent',
    notShown: 'entity-tags',
    why: 'No ETag is shown. With one, If-None-Match gets a 304, which counts in the month as quotaChargesOn says.',
  }),
} as const;

/** The switches by what they are about, as the control panel shows them. */
export const SWITCH_GROUPS = {
  'Per-minute limit': rateSwitches,
  'Monthly quota': quotaSwitches,
  Authentication: authenticationSwitches,
  'Accounts and keys': accountSwitches,
  HTTP: httpSwitches,
} as const;

/** Every behaviour the service does not show, by name. What it documents has no switch. */
export const switches = {
  ...rateSwitches,
  ...quotaSwitches,
  ...authenticationSwitches,
  ...accountSwitches,
  ...httpSwitches,
} as const;

export type SwitchName = keyof typeof switches;

/** A value for every switch. */
export type BehaviourValues = { readonly [Name in SwitchName]: (typeof switches)[Name]['default'] };

export const SWITCH_NAMES = Object.keys(switches) as readonly SwitchName[];
