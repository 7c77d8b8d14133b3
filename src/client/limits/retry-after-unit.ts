import type { RetryAfterUnitState } from './limiter-state.ts';
import type { RetryAfter, RetryAfterUnit } from './retry-after.ts';

/**
 * What is known about the unit of an integer Retry-After. One too large to be the seconds of a per-minute limit is tried
 * as milliseconds; what happens after that wait settles the unit for good.
 */
export type UnitState = RetryAfterUnitState;
/** Nothing yet, milliseconds on trial, settled by the answers, or set by the options. */
export type UnitEvidence = UnitState['evidence'] | 'set';

/**
 * No limit per minute asks for a longer wait: 60 s, rounded up, and up to 15 s that servers add to spread a crowd. Such
 * values are seconds, however much they differ.
 */
const SECONDS_AT_MOST = 75;
/** The same in milliseconds with a second's rounding; a larger value is a longer quota, in whatever unit. */
const MILLISECONDS_AT_MOST = 61_200;
/** How much a countdown in seconds may differ from the time that passed: rounding on both sides. */
const ROUNDING_SECONDS = 2;
/** A shorter trial cannot tell a countdown from a value that never changes. */
const COUNTDOWN_FROM_SECONDS = 2.5;
/** A value that never changes refutes milliseconds with the second refusal; others can be a slot that someone else took. */
const REPEATS_TO_REFUTE = 2;
const REFUSALS_TO_REFUTE = 8;

export const UNKNOWN_UNIT: UnitState = { evidence: 'assumed', trial: undefined };

/** The unit in which an integer is read, given the option. */
export function unitOf({ evidence, trial }: UnitState, value: number, option: 'auto' | RetryAfterUnit): RetryAfterUnit {
  if (option !== 'auto') return option;
  if (evidence === 'confirmed') return 'milliseconds';
  return trial !== undefined && isTooLongInSeconds(value) ? 'milliseconds' : 'seconds';
}

/** A refusal with Retry-After. */
export function weighRefusal(state: UnitState, retryAfter: RetryAfter | undefined, { sentAt, now }: Times): UnitState {
  if (retryAfter?.form !== 'integer' || !isTooLongInSeconds(retryAfter.value)) return state;
  const { value } = retryAfter;
  const trial = { value, refusedAt: now, endsAt: now + value, refusals: 0, repeats: 0 };
  if (state.evidence === 'assumed') return { evidence: 'on-trial', trial };
  if (state.trial === undefined || sentAt < state.trial.endsAt) return state;
  const passedSeconds = (now - state.trial.refusedAt) / 1000;
  const isRepeat = Math.abs(state.trial.value - value) <= ROUNDING_SECONDS;
  const isCountdown =
    passedSeconds >= COUNTDOWN_FROM_SECONDS && Math.abs(state.trial.value - value - passedSeconds) <= ROUNDING_SECONDS;
  const refusals = state.trial.refusals + 1;
  const repeats = isRepeat ? state.trial.repeats + 1 : 0;
  if (isCountdown || repeats >= REPEATS_TO_REFUTE || refusals >= REFUSALS_TO_REFUTE) {
    return { evidence: 'refuted', trial: undefined };
  }
  return { evidence: 'on-trial', trial: { ...trial, refusals, repeats } };
}

interface Times {
  readonly sentAt: number;
  readonly now: number;
}

/** A request that was sent at `sentAt` was accepted. */
export function weighAcceptance(state: UnitState, sentAt: number): UnitState {
  return state.trial && sentAt >= state.trial.endsAt ? { evidence: 'confirmed', trial: undefined } : state;
}

function isTooLongInSeconds(value: number): boolean {
  return value > SECONDS_AT_MOST && value <= MILLISECONDS_AT_MOST;
}
