export type RetryAfterUnit = 'seconds' | 'milliseconds';

/** A parsed Retry-After. Only the unit of an integer is unknown: the service documents just "a number". */
export type RetryAfter =
  | { readonly form: 'integer'; readonly value: number }
  | { readonly form: 'wait'; readonly ms: number }
  | { readonly form: 'moment'; readonly epochMs: number };

const NUMBER_LIST = /^\d+(\.\d+)?(\s*,\s*\d+(\.\d+)?)*$/;
/** A larger integer is not a wait (30 years) but a Unix time in seconds, from 1e12 in milliseconds. */
const EPOCH_SECONDS_FROM = 1e9;
const EPOCH_MILLISECONDS_FROM = 1e12;

/**
 * Reads a Retry-After header: an integer, a decimal (seconds), a comma list of them (duplicates joined by HTTP; the
 * longest counts), an HTTP date or a Unix time. Anything else counts as absent.
 */
export function parseRetryAfter(text: string | null | undefined): RetryAfter | undefined {
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
 * Milliseconds to wait after the response; `undefined` without a usable value. A time is compared with the `Date`
 * header of the response, because the local clock may be wrong. Without that header, `serverNowMs` is the best
 * estimate. A wait of 0 is not usable: the server has just refused a request.
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
  readonly date: string | null | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly serverNowMs: number;
}

function waitOf(retryAfter: RetryAfter, unit: RetryAfterUnit, serverNowMs: number): number {
  if (retryAfter.form === 'wait') return retryAfter.ms;
  if (retryAfter.form === 'integer') return retryAfter.value * (unit === 'seconds' ? 1000 : 1);
  return retryAfter.epochMs - serverNowMs;
}

const IMF_FIXDATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** The obsolete forms, which a client must accept (RFC 9110 §5.6.7): that of RFC 850 and that of `asctime()`. */
const RFC_850 = /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}:\d{2}:\d{2}) GMT$/;
const ASCTIME = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$/;
/** Lower two-digit years are in the 21st century. */
const CENTURY_FROM = 70;

/** Milliseconds since the Unix epoch of an HTTP date (RFC 9110 §5.6.7); `undefined` for other text. */
export function parseHttpDate(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const epochMs = Date.parse(IMF_FIXDATE.test(text) ? text : normalizedDate(text));
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

/** A date in an obsolete form as `14 Nov 2023 22:13:50 GMT`; empty for other text. */
function normalizedDate(text: string): string {
  const rfc850 = RFC_850.exec(text);
  if (rfc850 !== null) {
    const [, day, month, year, time] = rfc850;
    return `${day} ${month} ${Number(year) < CENTURY_FROM ? 20 : 19}${year} ${time} GMT`;
  }
  const asctime = ASCTIME.exec(text);
  if (asctime === null) return '';
  const [, month, day, time, year] = asctime;
  return `${day} ${month} ${year} ${time} GMT`;
}

/**
 * What is known about the unit of an integer Retry-After. A number that can only be a minute in milliseconds is tried as
 * such. The response to the first request after that wait determines the unit permanently.
 */
export interface UnitState {
  readonly evidence: 'assumed' | 'on-trial' | 'confirmed' | 'refuted';
  /** While on trial: the end of the wait in milliseconds. */
  readonly endsAt: number;
}

/** No evidence yet, milliseconds on trial, determined by the responses, or set by the options. */
export type UnitEvidence = UnitState['evidence'] | 'set';

/** A smaller number is a common wait in seconds. */
const MILLISECONDS_FROM = 1_000;
/** A minute in milliseconds, with a second of rounding. A larger number belongs to a longer quota, in any unit. */
const MILLISECONDS_AT_MOST = 61_200;

export const UNKNOWN_UNIT: UnitState = { evidence: 'assumed', endsAt: 0 };

/**
 * The unit of a Retry-After: that of the option; with `'auto'`, seconds (RFC 9110 §10.2.3), unless the refusals of the
 * key have confirmed milliseconds. `refusedFor`: the integer of a 429, to which a trial applies.
 */
export function unitOf({ evidence }: UnitState, option: 'auto' | RetryAfterUnit, refusedFor = 0): RetryAfterUnit {
  if (option !== 'auto') return option;
  if (evidence === 'confirmed') return 'milliseconds';
  return evidence === 'on-trial' && mayBeMilliseconds(refusedFor) ? 'milliseconds' : 'seconds';
}

/** A refusal with Retry-After. The request after the trial was refused again: the number was in seconds. */
export function weighRefusal(state: UnitState, retryAfter: RetryAfter | undefined, { sentAt, now }: Times): UnitState {
  if (hasTrialEnded(state, sentAt)) return { ...state, evidence: 'refuted' };
  if (state.evidence !== 'assumed' || retryAfter?.form !== 'integer') return state;
  if (!mayBeMilliseconds(retryAfter.value)) return state;
  return { evidence: 'on-trial', endsAt: now + retryAfter.value };
}

interface Times {
  readonly sentAt: number;
  readonly now: number;
}

/** A request that was sent at `sentAt` was accepted. */
export function weighAcceptance(state: UnitState, sentAt: number): UnitState {
  return hasTrialEnded(state, sentAt) ? { ...state, evidence: 'confirmed' } : state;
}

/** Whether a request was sent after the wait in milliseconds that is on trial. */
function hasTrialEnded({ evidence, endsAt }: UnitState, sentAt: number): boolean {
  return evidence === 'on-trial' && sentAt >= endsAt;
}

function mayBeMilliseconds(value: number): boolean {
  return value >= MILLISECONDS_FROM && value <= MILLISECONDS_AT_MOST;
}

/**
 * The difference between the server's clock and ours, as an interval that every `Date` header narrows: the server wrote
 * its time after the request was sent and before the response arrived.
 */
export interface ServerAhead {
  readonly atLeast: number;
  readonly atMost: number;
}

/** `Date` headers are whole seconds, rounded down. */
const DATE_STEP_MS = 1_000;

export const UNKNOWN_SERVER_CLOCK: ServerAhead = {
  atLeast: Number.NEGATIVE_INFINITY,
  atMost: Number.POSITIVE_INFINITY,
};

/** `serverDate`: the `Date` header in milliseconds since the Unix epoch. */
export function observeServerDate(ahead: ServerAhead, serverDate: number, { sentAt, now }: Times): ServerAhead {
  const newest = { atLeast: serverDate - now, atMost: serverDate + DATE_STEP_MS - sentAt };
  const narrowed = {
    atLeast: Math.max(ahead.atLeast, newest.atLeast),
    atMost: Math.min(ahead.atMost, newest.atMost),
  };
  // An empty interval means that one of the clocks was set, so only the newest response is used.
  return narrowed.atLeast <= narrowed.atMost ? narrowed : newest;
}

/** The server's time in milliseconds since the Unix epoch, as far as is known. */
export function serverNow({ atLeast }: ServerAhead, now: number): number {
  return atLeast === Number.NEGATIVE_INFINITY ? now : now + atLeast;
}
