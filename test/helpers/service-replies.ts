import type { QuotaData } from '../../src/client/index.ts';

/** A key of the documented form that no service has issued. */
export const API_KEY = `fx_live_${'0123456789abcdef'.repeat(3)}`;

/** Responses of the service, according to the contract. */
export function success(data: unknown = { base: 'USD', rates: { EUR: 0.92 } }) {
  return { status: 200, body: { success: true, data } };
}

export function failure(status: number, { code = 'some_code', message = 'Some text.', headers = {} } = {}) {
  return { status, headers, body: { success: false, error: { code, message, status } } };
}

/** A 429 for the per-minute limit. */
export function rateLimited(retryAfter?: string, headers: Record<string, string> = {}) {
  const all = retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter };
  return failure(429, { code: 'rate_limited', message: 'Too many requests.', headers: all });
}

/** The error of a `fetch` for an error of the system. */
export function failedFetch(code: string): Error {
  return Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) });
}

export function quotaRecord(changes: Partial<QuotaData> = {}): QuotaData {
  return {
    plan: 'free',
    monthly_used: 742,
    monthly_limit: 1000,
    rate_limit_per_minute: 30,
    snapshot_granularity: '5min',
    historical_days: 90,
    resets_at: '2026-02-01T00:00:00.000Z',
    ...changes,
  };
}

/** A quota record with no requests left in the month. */
export function exhaustedQuota(): QuotaData {
  return quotaRecord({ monthly_used: 1000 });
}
