// Generated from openapi.yaml by npm run generate. Do not edit.

/** What an account plan allows. */
export interface Plan {
  readonly title: string;
  readonly rateLimitPerMinute: number;
  /** Requests per month; null for no limit. */
  readonly monthlyLimit: number | null;
  /** API keys that may be active at once; null when not shown. */
  readonly maxActiveKeys: number | null;
}

export const plans = {
  free: { title: 'Free', rateLimitPerMinute: 30, monthlyLimit: 1000, maxActiveKeys: null },
  developer: { title: 'Developer', rateLimitPerMinute: 300, monthlyLimit: 100000, maxActiveKeys: 3 },
  unlimited: { title: 'Unlimited', rateLimitPerMinute: 1000, monthlyLimit: null, maxActiveKeys: 10 },
} as const satisfies Record<string, Plan>;

/** Name of a plan. */
export type PlanName = keyof typeof plans;

/** Regular expression of an API key. */
export const apiKeyPattern = '^[\\w-]+_live_[0-9a-fA-F]{48}$';

/** What the service's specification leaves open, by name. */
export const notShown = {
  host: 'The host of the service. Only `{base_url}` is given.',
  'key-prefix': 'The part of a key before `_live_`, and the case of its hexadecimal digits.',
  'latest-parameters': 'Query parameters of `latest`.',
  'latest-fields': 'The fields of the data of `latest`.',
  'snapshot-granularity-values': 'Values of `snapshot_granularity` other than `5min`.',
  'unlimited-monthly-limit': 'The value of `monthly_limit` on the Unlimited plan.',
  'unlimited-fair-use': 'The fair-use threshold of the Unlimited plan, and the response beyond it.',
  'free-key-cap': 'The number of active keys that the Free plan allows.',
  'key-cap-response':
    'The response of the dashboard if the plan allows no more active keys, or if the e-mail address is not confirmed.',
  'revoked-exits': 'Whether a revoked key can become active again.',
  'other-states': 'States of resources other than API keys.',
  'other-endpoints': 'Endpoints other than `latest` and `quota`.',
  'authentication-failure': 'Status and code for a missing, malformed or revoked key.',
  'several-credentials': 'Which credential applies if a request has more than one.',
  'error-codes': 'Error codes other than `rate_limited`.',
  'quota-exhausted-response': 'Status, code and headers of the response if the monthly quota is exhausted.',
  'quota-charge':
    'Which requests count toward the monthly quota. Documented: a request refused with 429 `rate_limited` does not count.',
  'quota-period': 'Whether the quota month is the calendar month.',
  'check-order': 'Which limit is checked first if both are exhausted.',
  'retry-after-format': 'The unit and the exact format of `Retry-After`. Documented: it is a number.',
  'rate-window': 'Whether the per-minute window is fixed or sliding, and whether refused requests count in it.',
  'rate-headers': 'Whether responses have headers about the limits.',
  'cross-origin': 'Whether web pages of other origins can read responses (CORS).',
  'entity-tags': 'Whether responses have an ETag, and whether a 304 counts toward the monthly quota.',
  'plan-change': 'The effect of a plan change on usage and on keys above the new cap.',
  events: 'Events, callbacks and webhooks.',
  deprecation: 'Deprecation policy and the lifecycle of versions.',
} as const satisfies Record<string, string>;

export type NotShown = keyof typeof notShown;
