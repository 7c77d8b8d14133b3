// Generated from openapi.yaml by npm run generate. Do not edit.

export interface Operation {
  readonly id: string;
  readonly method: 'GET';
  /** `/v1/rates/{date}`: the names in braces are parameters. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  /** 'free-form' sends any parameters as they are; 'named' takes those of `parameters` alone. */
  readonly query: 'none' | 'free-form' | 'named';
  readonly parameters: readonly Parameter[];
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** A whole 200 answer with its envelope; undefined when there is none. */
  readonly example: unknown;
  /** What a 200 answer looks like, where there is no example. */
  readonly sample?: Sample;
  readonly errors: readonly ErrorResponseSpec[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly deprecated?: boolean;
  /** For help: 'string', 'date', 'integer', 'asc|desc', … */
  readonly type: string;
  /** JSON types of one value. */
  readonly types: readonly ('string' | 'integer' | 'number' | 'boolean')[];
  /** The only values there are; absent when there are others. */
  readonly choices?: readonly (string | number | boolean)[];
  /** How several values are written, `a=1,2` or `a=1&a=2`; absent for one value. */
  readonly list?: 'comma' | 'repeated';
  /** What the service assumes without the parameter. */
  readonly default?: unknown;
  /** A valid value; undefined when none is known. */
  readonly example: unknown;
}

export interface ErrorResponseSpec {
  readonly status: number | '4XX' | '5XX' | 'default';
  /** `error.code`; undefined when the service does not show it. */
  readonly code: string | undefined;
  readonly headers: readonly string[];
  /** A whole answer with its envelope; undefined when there is none. */
  readonly example: unknown;
}

/** A schema without references, from which an answer can be made. */
export type Sample =
  /** One of these values. */
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'number'; readonly from: number; readonly to: number; readonly step: number }
  /** An item each. */
  | { readonly kind: 'list'; readonly items: readonly Sample[] }
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, Sample>> };

/** The operations of the service, by name. */
export const operations = {
  latest: {
    id: 'latest',
    method: 'GET',
    path: '/api/v1/latest',
    summary: 'Latest exchange rates',
    description:
      'The service does not show the parameters or the fields of this endpoint, so nothing about them is checked or changed.',
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
      'Never consumes quota and keeps working when the monthly quota is exhausted. It can be rate-limited like any other request.',
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
