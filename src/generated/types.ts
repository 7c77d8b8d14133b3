// Generated from openapi.yaml by npm run generate. Do not edit.

/** The latest rates. The service does not document the fields. */
export interface LatestData {
  readonly [field: string]: unknown;
}

/** Success envelope of `latest`. */
export interface LatestResponse {
  /** `true` on success. */
  readonly success: true;
  /** The latest rates. */
  readonly data: LatestData;
  readonly [field: string]: unknown;
}

/** The limits of the account's plan, and the usage. */
export interface QuotaData {
  /** Name of the plan in lower case. */
  readonly plan: 'free' | 'developer' | 'unlimited' | (string & {});
  /** Requests counted against the quota of the current month. */
  readonly monthly_used: number;
  /**
   * Monthly quota of the plan. The value for the Unlimited plan is not documented, so a number, text, null and
   * absence are all accepted.
   */
  readonly monthly_limit?: number | string | null;
  /** Requests per minute that the plan allows. */
  readonly rate_limit_per_minute: number;
  /** Interval between rate snapshots, such as `5min`. Other values are not documented. */
  readonly snapshot_granularity: string;
  /** Days of history that the plan includes. */
  readonly historical_days: number;
  /** Time at which the monthly quota resets, in UTC, with milliseconds and a `Z`. */
  readonly resets_at: string;
  readonly [field: string]: unknown;
}

/** Success envelope of `quota`. */
export interface QuotaResponse {
  /** `true` on success. */
  readonly success: true;
  /** The quota record. */
  readonly data: QuotaData;
  readonly [field: string]: unknown;
}

/** The error of a failed request. */
export interface ErrorDetail {
  /** Error code for programs. Codes other than `rate_limited` are not documented. */
  readonly code: 'rate_limited' | (string & {});
  /** Error message for people. */
  readonly message: string;
  /** HTTP status of the response. */
  readonly status: number;
  readonly [field: string]: unknown;
}

/** Error envelope. */
export interface ErrorResponse {
  /** `false` on error. */
  readonly success: false;
  /** The error. */
  readonly error: ErrorDetail;
  readonly [field: string]: unknown;
}

/** Free-form query of `latest`; the service does not show its parameters. A list is sent as repeated names. */
export interface LatestQuery {
  readonly [field: string]: string | number | boolean | readonly (string | number | boolean)[] | undefined;
}
