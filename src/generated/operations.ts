// Generated from openapi.yaml by npm run generate. Do not edit.

import type { Operation } from '../operation.ts';

/** The operations of the service, by name. */
export const operations = {
  latest: {
    id: 'latest',
    method: 'GET',
    path: '/api/v1/latest',
    summary: 'Latest exchange rates',
    description:
      'The service does not document the parameters and the fields of this endpoint, so they are neither checked nor changed.',
    query: 'free-form',
    parameters: [],
    consumesQuota: true,
    worksWhenQuotaExhausted: false,
    example: {
      success: true,
      data: { base: 'USD', timestamp: '2026-01-21T14:20:00.000Z', rates: { EUR: 0.9214, GBP: 0.789 } },
    },
    errors: [
      {
        status: 429,
        code: 'rate_limited',
        headers: ['Retry-After'],
        example: { success: false, error: { code: 'rate_limited', message: 'Too many requests.', status: 429 } },
      },
      { status: 'default', code: undefined, headers: [], example: undefined },
    ],
  },
  quota: {
    id: 'quota',
    method: 'GET',
    path: '/api/v1/quota',
    summary: 'Plan, usage, limits and reset time of the key',
    description:
      'Never consumes quota, and works when the monthly quota is exhausted. It can be rate-limited like any other request.',
    query: 'none',
    parameters: [],
    consumesQuota: false,
    worksWhenQuotaExhausted: true,
    example: {
      success: true,
      data: {
        plan: 'free',
        monthly_used: 742,
        monthly_limit: 1000,
        rate_limit_per_minute: 30,
        snapshot_granularity: '5min',
        historical_days: 90,
        resets_at: '2026-02-01T00:00:00.000Z',
      },
    },
    errors: [
      {
        status: 429,
        code: 'rate_limited',
        headers: ['Retry-After'],
        example: { success: false, error: { code: 'rate_limited', message: 'Too many requests.', status: 429 } },
      },
      { status: 'default', code: undefined, headers: [], example: undefined },
    ],
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;
