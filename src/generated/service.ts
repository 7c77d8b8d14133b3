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
export const apiKeyPattern = '^[A-Za-z0-9]+_live_[0-9a-fA-F]{48}$';

/** What the service's specification leaves open, by name. */
export const notShown = {
  host: 'The host of the service; `{base_url}` is all that is given.',
  'key-prefix': 'What stands before `_live_` in a key, and the case of its hexadecimal digits.',
  'latest-parameters': 'Query parameters of `latest`.',
  'latest-fields': 'Fields of latest-rate records, and what rate data contains.',
  'snapshot-granularity-values': 'Values of `snapshot_granularity` other than `5min`.',
  'unlimited-monthly-limit': 'How `monthly_limit` is written for the Unlimited plan.',
  'unlimited-fair-use': 'The fair-use threshold of the Unlimited plan, and what happens beyond it.',
  'free-key-cap': 'How many active keys the Free plan allows.',
  'key-cap-response':
    'What the dashboard answers when the cap of active keys is reached, or the e-mail address is not confirmed.',
  'revoked-exits': 'Whether a revoked key can leave that state; no move is shown.',
  'other-states': 'States of resources other than API keys.',
  'other-endpoints': 'Endpoints other than `latest` and `quota`.',
  'authentication-failure': 'Status and code for a missing, malformed or revoked key.',
  'several-credentials': 'Which credential counts when a request carries more than one.',
  'error-codes': 'Error codes other than `rate_limited`.',
  'quota-exhausted-response': 'Status, code and headers when the monthly quota is exhausted.',
  'quota-charge':
    'Which answered requests count toward the monthly quota, apart from those refused with 429 `rate_limited`.',
  'quota-period': 'Whether the quota month is the calendar month.',
  'check-order': 'Which limit is looked at first when both are exhausted.',
  'retry-after-format': 'Unit and exact format of `Retry-After`; it is a number.',
  'rate-window': 'Whether the per-minute window is fixed or sliding, and whether refused requests count in it.',
  'rate-headers': 'Whether answers carry headers about the limits.',
  'cross-origin': 'Whether pages of other origins may read answers (CORS).',
  'entity-tags': 'Whether answers carry an ETag, and whether a 304 counts toward the monthly quota.',
  'plan-change': 'What a change of plan does to usage and to keys above the new cap.',
  events: 'Events, callbacks and webhooks.',
  deprecation: 'Deprecation policy and the lifecycle of versions.',
} as const satisfies Record<string, string>;

export type NotShown = keyof typeof notShown;
