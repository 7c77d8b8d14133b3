import type { Beliefs } from './beliefs.ts';
import { WINDOW_MS } from './window.ts';

/** A 429, as the rules see it. */
export interface Refusal {
  readonly now: number;
  readonly sentAt: number;
  /** The call was sent beyond the known slots, to learn. */
  readonly isProbe: boolean;
  readonly hintMs: number | undefined;
  /** The hint is about the time in which one slot comes free: it does not speak of a whole window. */
  readonly isShort: boolean;
}

/** From this part of the limit on, a refusal is that of our own calls. */
export const NEARLY_ALL = 0.9;
/** A log with fewer calls says nothing about the rate of the server. */
export const ENOUGH_CALLS = 10;
/** Hints are rounded up to seconds, and requests take their time. */
const SHORT_HINT_SLACK_MS = 1_050;

/** The longest hint that can mean one slot of a bucket. */
export function shortHintMs({ log, limit, told, isTold }: Beliefs): number {
  const perMinute = isTold ? told : limit;
  const rate = log.size >= ENOUGH_CALLS ? Math.min(perMinute, log.size) : perMinute;
  return Math.ceil(WINDOW_MS / rate / 1000) * 1000 + SHORT_HINT_SLACK_MS;
}

/** Calls that a bucket can have refilled in `ms`, with the one that was under way. */
export function refilledIn(ms: number, { limit, told, isTold, firstBurst, roundTrips }: Beliefs): number {
  const perMinute = Math.min(limit, isTold ? told : firstBurst);
  return 1 + ((ms + roundTrips.longestMs) * perMinute) / WINDOW_MS;
}
