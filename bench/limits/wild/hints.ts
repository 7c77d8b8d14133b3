import type { Random } from '../../../test/helpers/limits-random.ts';

/**
 * Forms of Retry-After. `up5` and `up10` round up to 5 and 10 s. `jitter10` adds 0 to 10 s. `early` is a second too
 * short. `minute-end` is the end of the minute, even if slots are free earlier. `some` omits every second header. `date-alone` is an HTTP date in a response without `Date`. A number is
 * always sent as it is.
 */
export type HintForm =
  | 'seconds'
  | 'fraction'
  | 'milliseconds'
  | 'date'
  | 'date-alone'
  | 'up5'
  | 'up10'
  | 'jitter10'
  | 'early'
  | 'minute-end'
  | 'some'
  | 'absent'
  | number;

/** Whether a client that waits as long as the hint says is never too early. */
export function isHonest(form: HintForm): boolean {
  return typeof form === 'string' && form !== 'early' && form !== 'absent';
}

export function sendsDate(form: HintForm): boolean {
  return form !== 'date-alone';
}

/** The value of Retry-After for a wait; `undefined` for no header. */
export function retryAfter(form: HintForm, waitMs: number, now: number, random: Random): string | undefined {
  if (typeof form === 'number') return String(form);
  const seconds = Math.ceil(waitMs / 1000);
  switch (form) {
    case 'absent':
      return undefined;
    case 'minute-end':
      return String(60 - (Math.floor(now / 1000) % 60));
    case 'some':
      return random() < 0.5 ? undefined : String(seconds);
    case 'fraction':
      return (Math.ceil(waitMs) / 1000).toFixed(3);
    case 'milliseconds':
      return String(Math.ceil(waitMs));
    case 'date':
    case 'date-alone':
      return httpDate(Math.ceil((now + waitMs) / 1000) * 1000);
    default:
      return String(wholeSeconds(form, seconds, random));
  }
}

export function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

function wholeSeconds(
  form: 'seconds' | 'up5' | 'up10' | 'jitter10' | 'early',
  seconds: number,
  random: Random,
): number {
  switch (form) {
    case 'seconds':
      return seconds;
    case 'up5':
      return 5 * Math.ceil(seconds / 5);
    case 'up10':
      return 10 * Math.ceil(seconds / 10);
    case 'jitter10':
      return seconds + Math.floor(random() * 11);
    case 'early':
      return Math.max(0, seconds - 1);
  }
}
