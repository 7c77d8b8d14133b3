import type { Beliefs } from './beliefs.ts';
import { classify } from './classify.ts';
import { ENOUGH_CALLS, NEARLY_ALL, type Refusal } from './refusal.ts';

/** Rule for a refusal before anything is known: what was accepted so far is the limit, or this process's share of it. */
export function refuseFirst(beliefs: Beliefs, refusal: Refusal): void {
  const { log, told, isTold, pace } = beliefs;
  const { now, isProbe, isShort } = refusal;
  const isNearlyAll = isTold && log.size >= NEARLY_ALL * told;
  const isTooFast = pace.isKnown && isShort && log.answeredSince(now - 1_000) > 0;
  if (isTooFast && !isProbe && !isNearlyAll) return learnPace(beliefs, now);
  beliefs.isAlone = isNearlyAll;
  beliefs.firstBurst = log.size;
  if (saysLimit(refusal, log.size)) {
    beliefs.learnLimit(log.size);
    beliefs.countsLateAnswers = true;
  }
  beliefs.startTrial(now);
  classify(beliefs, refusal);
}

/** A probe was sent beyond a full limit; a short hint tells of the next slot; and a few calls prove nothing alone. */
function saysLimit({ isProbe, isShort, hintMs }: Refusal, accepted: number): boolean {
  return !isProbe && !isShort && (hintMs !== undefined || accepted >= ENOUGH_CALLS);
}

/** The server has a second limit, per second: start anew beside it. */
export function learnPace(beliefs: Beliefs, now: number): void {
  beliefs.pace.learn(beliefs.log, now);
  beliefs.phase = 'free';
  beliefs.window = { kind: 'log' };
  beliefs.limit = beliefs.told;
  beliefs.countsLateAnswers = false;
  beliefs.growth.start(now);
  beliefs.gate.close(now);
}
