import type { RetryAfter } from '../errors/errors.ts';

export type RetryAfterUnit = 'seconds' | 'milliseconds';

const NUMBER_LIST = /^\d+(\.\d+)?(\s*,\s*\d+(\.\d+)?)*$/;
/** A larger integer is not a wait (30 years) but a Unix time in seconds, and from a thousand times that in milliseconds. */
const EPOCH_SECONDS_FROM = 1e9;

interface ResponseTime {
  /** The `Date` header of the response. */
  readonly date: string | null | undefined;
  /** Milliseconds since the Unix epoch by the local clock, which may be wrong. */
  readonly nowMs: number;
}

/** A little before 8.64e15, the last time of a `Date`, so that the end of the wait is one by any clock. */
export const LATEST_MS = 8.6e15;

/**
 * Reads a Retry-After: an integer, a decimal (seconds), a comma list of them (duplicates joined by HTTP; the longest
 * counts), an HTTP date or a Unix time. A time is compared with the `Date` header of the response, if it has one.
 */
export function parseRetryAfter(
  text: string | null | undefined,
  { date, nowMs }: ResponseTime,
): RetryAfter | undefined {
  if (text === null || text === undefined) return undefined;
  const trimmed = text.trim();
  // Whole milliseconds: a `Date` before the end of the wait would be too early for the next call.
  const wait = (ms: number) => ({ form: 'wait', ms: Math.ceil(ms) }) as const;
  const until = (epochMs: number) => wait(Math.min(epochMs, LATEST_MS) - (parseHttpDate(date) ?? nowMs));
  const moment = parseHttpDate(trimmed);
  if (moment !== undefined) return until(moment);
  if (!NUMBER_LIST.test(trimmed)) return { form: 'invalid', text };
  const value = Math.max(...trimmed.split(',').map(Number));
  if (value >= 1000 * EPOCH_SECONDS_FROM) return until(value);
  if (value > EPOCH_SECONDS_FROM) return until(value * 1000);
  return Number.isInteger(value) ? { form: 'integer', value } : wait(value * 1000);
}

/**
 * Milliseconds to wait after the response; `undefined` without a usable value. A wait of 0 is not usable: the server has
 * just refused a request.
 */
export function retryAfterMs(retryAfter: RetryAfter | undefined, unit: RetryAfterUnit): number | undefined {
  if (retryAfter === undefined || retryAfter.form === 'invalid') return undefined;
  const ms = retryAfter.form === 'wait' ? retryAfter.ms : retryAfter.value * (unit === 'seconds' ? 1000 : 1);
  return ms > 0 ? ms : undefined;
}

/** The forms of RFC 9110 §5.6.7, of which two are obsolete, and similar ones: a day, and a time of GMT. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w -]+ \d{2}:\d{2}:\d{2} (?:GMT|\d{4})$/;

/** Milliseconds since the Unix epoch of an HTTP date; `undefined` for other text. */
export function parseHttpDate(text: string | null | undefined): number | undefined {
  if (!text || !HTTP_DATE.test(text)) return undefined;
  const epochMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

/** What is known about the unit of an integer Retry-After: assumed, tried, or determined by the answer to the trial. */
export interface UnitState {
  readonly evidence: 'assumed' | 'on-trial' | 'confirmed' | 'refuted';
  /** End of the wait that is tried in milliseconds. */
  readonly endsAt: number;
}

/** Integers that are tried as milliseconds: from a second to a minute, with a second of rounding. */
const TRIED_FROM = 1_000;
const TRIED_TO = 61_200;

/**
 * The unit of a Retry-After: that of the option; with `'auto'`, seconds (RFC 9110 §10.2.3), unless the refusals of the
 * key have confirmed milliseconds. `refusedFor`: the Retry-After of a 429, to which a trial applies.
 */
export function unitOf(
  { evidence }: UnitState,
  option: 'auto' | RetryAfterUnit,
  refusedFor?: RetryAfter,
): RetryAfterUnit {
  if (option !== 'auto') return option;
  if (evidence === 'confirmed') return 'milliseconds';
  return evidence === 'on-trial' && isTried(refusedFor) ? 'milliseconds' : 'seconds';
}

/** Whether a Retry-After is tried as milliseconds. */
export function isTried(retryAfter: RetryAfter | undefined): retryAfter is RetryAfter & { readonly form: 'integer' } {
  return retryAfter?.form === 'integer' && retryAfter.value >= TRIED_FROM && retryAfter.value <= TRIED_TO;
}
