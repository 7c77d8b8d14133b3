import { enumSwitch, numberSwitch, textSwitch } from './switch.ts';

const NEEDS_LIMIT = 'no request exceeded the per-minute limit';

/** Undocumented behaviour of the per-minute limit. */
export const rateSwitches = {
  /** Kind of the per-minute window. Default: 'sliding-log'. */
  rateWindow: enumSwitch(['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'], {
    lenient: 'token-bucket',
    hostile: 'sliding-log',
    notShown: 'rate-window',
    notObserved: 'this needs several minutes at the limit',
    why: 'A sliding log is the strictest reading of "per minute".',
  }),
  /** Whether a refused request counts toward the per-minute limit. Default: false. */
  rejectedCountsTowardRate: enumSwitch([false, true], {
    lenient: false,
    // A client that retries too early stays refused for longer.
    hostile: true,
    notShown: 'rate-window',
    notObserved: 'this needs several minutes at the limit',
    why: 'Most services do not count refused requests toward the limit.',
  }),
  /** Whether `quota` shares the per-minute limit of `latest`, or has a limit of its own. Default: 'shared'. */
  quotaEndpointBucket: enumSwitch(['shared', 'separate'], {
    lenient: 'separate',
    hostile: 'shared',
    notShown: 'rate-window',
    notObserved: NEEDS_LIMIT,
    why: 'The documentation says that quota "can be rate-limited like any other request".',
  }),
  /** Headers about the per-minute limit, in each response after the check of that limit. Default: 'none'. */
  rateHeaders: enumSwitch(['none', 'x-ratelimit', 'ietf-draft'], {
    lenient: 'x-ratelimit',
    hostile: 'none',
    notShown: 'rate-headers',
    why: 'Retry-After is the only documented header about limits.',
  }),
  /** Unit of Retry-After. Default: 'seconds'. */
  retryAfterUnit: enumSwitch(['seconds', 'milliseconds'], {
    lenient: 'seconds',
    hostile: 'milliseconds',
    notShown: 'retry-after-format',
    notObserved: NEEDS_LIMIT,
    why: 'RFC 9110 §10.2.3 defines Retry-After in seconds.',
  }),
  /** Whether Retry-After is a whole number or has up to three decimals. Default: 'integer'. */
  retryAfterFormat: enumSwitch(['integer', 'decimal'], {
    lenient: 'integer',
    hostile: 'decimal',
    notShown: 'retry-after-format',
    notObserved: NEEDS_LIMIT,
    why: 'RFC 9110 §10.2.3 allows whole seconds only; the documentation says "a number".',
  }),
  /** How the wait is rounded for Retry-After. Default: 'up'. */
  retryAfterRounding: enumSwitch(['up', 'nearest', 'down'], {
    lenient: 'up',
    hostile: 'down',
    notShown: 'retry-after-format',
    notObserved: 'the clock of the service is not known to the millisecond',
    why: 'If the wait is rounded up, a client that waits exactly that long is served.',
  }),
  /** Value of Retry-After if the wait is rounded to 0. Default: 1. */
  retryAfterMin: enumSwitch([1, 0], {
    lenient: 1,
    hostile: 0,
    notShown: 'retry-after-format',
    notObserved: 'the clock of the service is not known to the millisecond',
    why: 'With a Retry-After of 0, many clients retry immediately.',
  }),
  /** Whether Retry-After is the remaining wait, or always 60 seconds. Default: 'rest-of-wait'. */
  retryAfterValue: enumSwitch(['rest-of-wait', 'whole-minute'], {
    lenient: 'rest-of-wait',
    hostile: 'rest-of-wait',
    notShown: 'retry-after-format',
    notObserved: NEEDS_LIMIT,
    why: 'The remaining wait is the shortest correct value; some services always send the whole window.',
  }),
} as const;

/** Undocumented behaviour of the monthly quota and the quota record. */
export const quotaSwitches = {
  /** Which limit refuses a request that exceeds both. Default: 'rate-then-quota'. */
  checkOrder: enumSwitch(['rate-then-quota', 'quota-then-rate'], {
    lenient: 'rate-then-quota',
    hostile: 'quota-then-rate',
    notShown: 'check-order',
    notObserved: 'this needs both limits to be used up',
    why: 'The per-minute limit applies to every request, the quota only to some.',
  }),
  /** Which responses count toward the monthly quota. Default: 'accepted'. */
  quotaChargesOn: enumSwitch(['accepted', 'success', 'non-5xx'], {
    lenient: 'success',
    hostile: 'accepted',
    notShown: 'quota-charge',
    why: '429 rate_limited is the only response documented as free.',
  }),
  /** When the monthly quota resets. Default: 'calendar-month-utc'. */
  quotaPeriod: enumSwitch(['calendar-month-utc', 'rolling-30d', 'anniversary'], {
    lenient: 'calendar-month-utc',
    hostile: 'rolling-30d',
    notShown: 'quota-period',
    why: 'resets_at is in UTC, and most monthly quotas follow the calendar month.',
  }),
  /** Status and error code if the monthly quota is used up. Default: '429 quota_exceeded'. */
  quotaExhausted: enumSwitch(['429 quota_exceeded', '402 quota_exceeded', '403 quota_exceeded'], {
    lenient: '402 quota_exceeded',
    // Looks like the per-minute limit, but lasts for weeks.
    hostile: '429 quota_exceeded',
    notShown: 'quota-exhausted-response',
    notObserved: 'the monthly quota is not used up',
    why: 'Most metered services send 429 when a quota is exhausted.',
  }),
  /** Whether the refusal for a used-up quota has Retry-After. Default: 'absent'. */
  quotaRetryAfter: enumSwitch(['absent', 'until-reset'], {
    lenient: 'absent',
    hostile: 'until-reset',
    notShown: 'quota-exhausted-response',
    notObserved: 'the monthly quota is not used up',
    why: 'Retry-After is documented for 429 rate_limited only.',
  }),
  /** Requests per month above which the Unlimited plan is refused; `null` for no threshold. Default: null. */
  unlimitedFairUse: numberSwitch<number | null>([null, 1_000_000], {
    min: 0,
    lenient: null,
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
