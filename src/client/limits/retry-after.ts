import { parseHttpDate } from './http-date.ts';

export type RetryAfterUnit = 'seconds' | 'milliseconds';

/** A Retry-After as it was written. Only an integer leaves its unit open: the service documents just "a number". */
export type RetryAfter =
  | { readonly form: 'integer'; readonly value: number }
  | { readonly form: 'wait'; readonly ms: number }
  | { readonly form: 'moment'; readonly epochMs: number };

const NUMBER_LIST = /^\d+(\.\d+)?(\s*,\s*\d+(\.\d+)?)*$/;
/** Larger integers are no wait (30 years) but a Unix time in seconds; from 1e12 on one in milliseconds. */
const EPOCH_SECONDS_FROM = 1e9;
const EPOCH_MILLISECONDS_FROM = 1e12;

/**
 * Reads a Retry-After header: an integer, a decimal (seconds), a comma list of them (duplicates joined by HTTP; the
 * longest counts), an HTTP date or a Unix time. Anything else counts as absent.
 */
export function parseRetryAfter(text: string | undefined): RetryAfter | undefined {
  const trimmed = text?.trim() ?? '';
  const date = parseHttpDate(trimmed);
  if (date !== undefined) return { form: 'moment', epochMs: date };
  if (!NUMBER_LIST.test(trimmed)) return undefined;
  const value = Math.max(...trimmed.split(',').map(Number));
  if (value >= EPOCH_MILLISECONDS_FROM) return { form: 'moment', epochMs: value };
  if (value > EPOCH_SECONDS_FROM) return { form: 'moment', epochMs: value * 1000 };
  return Number.isInteger(value) ? { form: 'integer', value } : { form: 'wait', ms: value * 1000 };
}

/**
 * Milliseconds to wait from the answer on; `undefined` without a usable value. A moment is counted from the answer's
 * own `Date` header: the local clock may be wrong. Without that header, `serverNowMs` is the best estimate. A wait of 0
 * says nothing: the server has just refused a request.
 */
export function retryAfterMs(
  retryAfter: RetryAfter | undefined,
  { unit, date, serverNowMs }: ReadingOptions,
): number | undefined {
  const waitMs = retryAfter && waitOf(retryAfter, unit, parseHttpDate(date) ?? serverNowMs);
  return waitMs !== undefined && waitMs > 0 ? waitMs : undefined;
}

interface ReadingOptions {
  readonly unit: RetryAfterUnit;
  /** The `Date` header of the same response. */
  readonly date: string | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly serverNowMs: number;
}

function waitOf(retryAfter: RetryAfter, unit: RetryAfterUnit, serverNowMs: number): number {
  if (retryAfter.form === 'wait') return retryAfter.ms;
  if (retryAfter.form === 'integer') return retryAfter.value * (unit === 'seconds' ? 1000 : 1);
  return retryAfter.epochMs - serverNowMs;
}
