import { WINDOW_MS } from './accepted-log.ts';
import type { LimiterState } from './limiter-state.ts';

/**
 * How far the server's clock is ahead of ours, as an interval that every `Date` header narrows: the server wrote its
 * time after the request was sent and before the response arrived.
 */
export type ServerAhead = LimiterState['serverAhead'];

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
  // An empty interval means that one of the clocks was set: only the newest response still counts.
  return narrowed.atLeast <= narrowed.atMost ? narrowed : newest;
}

interface Times {
  readonly sentAt: number;
  readonly now: number;
}

/** The server's time in milliseconds since the Unix epoch, as far as is known. */
export function serverNow({ atLeast }: ServerAhead, now: number): number {
  return atLeast === Number.NEGATIVE_INFINITY ? now : now + atLeast;
}

/** Our time at which the server's clock has certainly passed its next full minute; `undefined` before any `Date`. */
export function nextServerMinute({ atLeast }: ServerAhead, now: number): number | undefined {
  if (atLeast === Number.NEGATIVE_INFINITY) return undefined;
  const minute = (Math.floor((now + atLeast) / WINDOW_MS) + 1) * WINDOW_MS;
  return minute - atLeast;
}
