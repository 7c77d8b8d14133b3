import { enumSwitch } from './switch.ts';

/** What is not shown about the per-minute limit. */
export const rateSwitches = {
  rateWindow: enumSwitch(['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'], {
    notShown: 'rate-window',
    why: 'The kind of window is not shown; a sliding log is the strictest reading of "per minute".',
  }),
  rejectedCountsTowardRate: enumSwitch([false, true], {
    notShown: 'rate-window',
    why: 'Whether a refused request counts in the window is not shown; most services do not count it.',
  }),
  quotaEndpointBucket: enumSwitch(['shared', 'separate'], {
    notShown: 'rate-window',
    why: 'The quota endpoint "can be rate-limited like any other request"; whether in the same window is not shown.',
  }),
  rateHeaders: enumSwitch(['none', 'x-ratelimit', 'ietf-draft'], {
    notShown: 'rate-headers',
    why: 'No header about limits is shown apart from Retry-After.',
  }),
  retryAfterUnit: enumSwitch(['seconds', 'milliseconds'], {
    notShown: 'retry-after-format',
    why: 'The unit is not shown; RFC 9110 §10.2.3 means seconds.',
  }),
  retryAfterFormat: enumSwitch(['integer', 'decimal'], {
    notShown: 'retry-after-format',
    why: 'The value is a number; whether a whole one is not shown, RFC 9110 has whole ones only.',
  }),
  retryAfterRounding: enumSwitch(['up', 'nearest', 'down'], {
    notShown: 'retry-after-format',
    why: 'Rounded up, a client that obeys exactly is served; services that round down refuse it once more.',
  }),
  retryAfterMin: enumSwitch([1, 0], {
    notShown: 'retry-after-format',
    why: 'The least last digit: a value rounded to 0 invites a retry at once.',
  }),
  retryAfterValue: enumSwitch(['rest-of-wait', 'whole-minute'], {
    notShown: 'retry-after-format',
    why: 'What the number counts is not shown; some services always name the whole window.',
  }),
} as const;
