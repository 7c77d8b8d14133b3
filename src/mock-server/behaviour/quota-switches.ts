import { enumSwitch, numberSwitch, textSwitch } from './switch.ts';

/** What is not shown about the monthly quota and the quota record. */
export const quotaSwitches = {
  checkOrder: enumSwitch(['rate-then-quota', 'quota-then-rate'], {
    notShown: 'check-order',
    why: 'When both limits are reached, which of the two refusals is sent is not shown.',
  }),
  quotaChargesOn: enumSwitch(['accepted', 'success', 'non-5xx'], {
    notShown: 'quota-charge',
    why: 'Only 429 rate_limited is documented as free; whether other failed requests count is not shown.',
  }),
  quotaPeriod: enumSwitch(['calendar-month-utc', 'rolling-30d', 'anniversary'], {
    notShown: 'quota-period',
    why: 'resets_at is in UTC, but where the month begins is not shown.',
  }),
  quotaExhausted: enumSwitch(['429 quota_exceeded', '402 quota_exceeded', '403 quota_exceeded'], {
    notShown: 'quota-exhausted-response',
    why: 'The answer to a used-up month is not shown; 429 is what most metered services send.',
  }),
  quotaRetryAfter: enumSwitch(['absent', 'until-reset'], {
    notShown: 'quota-exhausted-response',
    why: 'Retry-After is documented for 429 rate_limited alone.',
  }),
  unlimitedFairUse: numberSwitch<number | null>([null, 1_000_000], {
    min: 0,
    notShown: 'unlimited-fair-use',
    why: 'The threshold is not shown; null never refuses, a number of requests per month refuses like a quota.',
  }),
  unlimitedAs: enumSwitch([null, -1, 'unlimited', 'omitted'], {
    notShown: 'unlimited-monthly-limit',
    why: 'How monthly_limit is written for the Unlimited plan is not shown.',
  }),
  snapshotGranularity: textSwitch(['5min', '1min', '60min'], {
    pattern: /^[1-9]\d*[a-z]+$/,
    notShown: 'snapshot-granularity-values',
    why: '5min is the only value shown.',
  }),
} as const;
