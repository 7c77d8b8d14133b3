import type { Beliefs } from './beliefs.ts';
import { classify, classifyAgain, waitsForOwn } from './classify.ts';
import { learnPace } from './first-refusal.ts';
import { type Refusal, refilledIn } from './refusal.ts';
import { isShortTrial } from './trial.ts';
import { WINDOW_MS } from './window.ts';

/** Accepted calls that settle a window whose boundary the server named. */
const ENOUGH_AFTER_LONG_HINT = 8;
/** Part of the limit that must be accepted in a row to settle a window that nobody named. */
const ENOUGH_OF_LIMIT = 0.1;
/** Accepted calls beyond a bucket's refill that can be chance. */
const CHANCE_CALLS = 2;
/** Below this part of the told rate, measured in the last second, a refusal is not for going too fast. */
const SLOW_RATE = 1.5;
/** A fixed window of which less than half can be used is worse than none. */
const LONGEST_GUARD_MS = WINDOW_MS / 2;
/** A measured refill is a little too high: the last call came before the bucket was empty. */
const MEASURED_RATE = 0.95;

/** Rule for a call accepted after the gate opened. */
export function acceptInTrial(beliefs: Beliefs, { now, sentAt, isFirst }: Acceptance): void {
  const { trial, gate, limit } = beliefs;
  if (isFirst) {
    if (trial.isOwnSlot) return beliefs.become({ kind: 'log' }, now);
    supposeFixed(beliefs, sentAt);
  }
  const isTooManyForBucket = gate.accepted > refilledIn(now - trial.exhaustedAt, beliefs) + CHANCE_CALLS;
  if (isShortTrial(trial) && isTooManyForBucket) beliefs.limit = beliefs.told;
  const isEnough =
    trial.hint === 'long'
      ? gate.accepted >= Math.min(ENOUGH_AFTER_LONG_HINT, limit / 2)
      : isTooManyForBucket && gate.accepted >= ENOUGH_OF_LIMIT * limit;
  const isWindow = isEnough && !isShortTrial(trial);
  if (isWindow || gate.accepted >= beliefs.limit) beliefs.become(beliefs.window, now);
}

export interface Acceptance {
  readonly now: number;
  readonly sentAt: number;
  /** The first answer after the gate opened. */
  readonly isFirst: boolean;
}

/**
 * A fixed window that began when the gate opened; the guard covers what is not known about its beginning. When nobody
 * came for long, that is all: a guard of a minute would never let anybody through, and a log is safe for any window.
 */
function supposeFixed(beliefs: Beliefs, sentAt: number): void {
  const { trial, roundTrips } = beliefs;
  const startsAt = trial.boundaryAfter;
  const guardMs = trial.hint === 'long' ? 0 : sentAt + roundTrips.jitterMs - startsAt;
  beliefs.trial = { ...trial, tries: 0 };
  beliefs.window = guardMs <= LONGEST_GUARD_MS ? { kind: 'fixed', startsAt, guardMs } : { kind: 'log' };
}

/** Rule for a refusal after the gate opened: a bucket, a limit per second, or a smaller limit than was thought. */
export function refuseInTrial(beliefs: Beliefs, refusal: Refusal): void {
  const { now, hintMs, isShort } = refusal;
  const { gate, trial, log } = beliefs;
  const sinceExhaustedMs = now - trial.exhaustedAt;
  beliefs.trial = { ...trial, exhaustedAt: now };
  if (gate.isHalfOpen) return classifyAgain(beliefs, refusal);
  const isSoon = hintMs === undefined || isShort;
  if (isSoon && looksLikeBucket(beliefs, refusal, sinceExhaustedMs))
    return becomeBucket(beliefs, now, sinceExhaustedMs);
  if (isSoon && isShortTrial(trial)) return learnPace(beliefs, now);
  // A log counts our calls before the gate too: those accepted since then took the slots of others, who were forgotten.
  const isLog = !isShortTrial(trial) && waitsForOwn(beliefs, refusal);
  beliefs.learnLimit(isLog ? Math.min(beliefs.told, log.size) : gate.accepted);
  beliefs.startTrial(now);
  classify(beliefs, refusal);
}

function looksLikeBucket(beliefs: Beliefs, { now, isShort }: Refusal, sinceExhaustedMs: number): boolean {
  const { gate, log, told, isTold, firstBurst } = beliefs;
  if (gate.accepted <= refilledIn(sinceExhaustedMs, beliefs)) return true;
  if (isTold) return log.answeredSince(now - 1_000) <= (SLOW_RATE * told) / 60;
  return isShort && gate.accepted <= firstBurst / 2;
}

function becomeBucket(beliefs: Beliefs, now: number, sinceExhaustedMs: number): void {
  const { log, gate, told, isAlone, firstBurst, roundTrips } = beliefs;
  const spanMs = now - (log.oldest?.sentAt ?? now);
  const toldPerMs = told / WINDOW_MS;
  const measured = Math.max(log.size / (WINDOW_MS + spanMs), (MEASURED_RATE * gate.accepted) / sinceExhaustedMs);
  const perMs = isAlone ? toldPerMs : Math.min(toldPerMs, measured);
  const at = now + roundTrips.jitterMs;
  beliefs.become({ kind: 'bucket', perMs, capacity: Math.max(1, firstBurst), tokens: 0, at }, now);
}
