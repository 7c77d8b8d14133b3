// Generated from openapi.yaml by npm run generate. Do not edit.

/** Latest rates. The service does not show the fields. */
export interface LatestData {
  readonly [field: string]: unknown;
}

/** Success envelope of `latest`. */
export interface LatestResponse {
  /** `true` on success. */
  readonly success: true;
  readonly data: LatestData;
  readonly [field: string]: unknown;
}

/** What the account's plan allows, and how much of it is used. */
export interface QuotaData {
  /** Lowercase plan name. */
  readonly plan: 'free' | 'developer' | 'unlimited' | (string & {});
  /** Requests counted against the current monthly quota. */
  readonly monthly_used: number;
  /**
   * Monthly quota of the plan. How the Unlimited plan shows it is not shown: a number, text, null and absence are
   * all taken.
   */
  readonly monthly_limit?: number | string | null;
  /** Requests per minute the plan allows. */
  readonly rate_limit_per_minute: number;
  /** Interval between rate snapshots, written like `5min`. Other values are not shown. */
  readonly snapshot_granularity: string;
  /** Days of history the plan includes. */
  readonly historical_days: number;
  /** When the monthly quota resets; UTC, with milliseconds and a `Z`. */
  readonly resets_at: string;
  readonly [field: string]: unknown;
}

/** Success envelope of `quota`. */
export interface QuotaResponse {
  /** `true` on success. */
  readonly success: true;
  readonly data: QuotaData;
  readonly [field: string]: unknown;
}

/** What went wrong. */
export interface ErrorDetail {
  /** Machine-readable error code. Codes other than `rate_limited` are not shown. */
  readonly code: 'rate_limited' | (string & {});
  /** Text for people. */
  readonly message: string;
  /** The HTTP status code of the response. */
  readonly status: number;
  readonly [field: string]: unknown;
}

/** Error envelope. */
export interface ErrorResponse {
  /** `false` on error. */
  readonly success: false;
  readonly error: ErrorDetail;
  readonly [field: string]: unknown;
}

/** Free-form query of `latest`; the service does not show its parameters. A list is sent as repeated names. */
export interface LatestQuery {
  readonly [field: string]: string | number | boolean | readonly (string | number | boolean)[] | undefined;
}
