import type { Beliefs } from './beliefs.ts';
import { classify } from './classify.ts';
import type { Refusal } from './refusal.ts';

/** From this part of the told limit on, a refusal is that of our own calls. */
const NEARLY_ALL = 0.9;

/** Rule for a refusal before anything is known: what was accepted so far is the limit, or this process's share of it. */
export function refuseFirst(beliefs: Beliefs, refusal: Refusal): void {
  const { log, told, isTold, pace } = beliefs;
  const { isProbe, isShort } = refusal;
  const isNearlyAll = isTold && log.size >= NEARLY_ALL * told;
  if (pace.isKnown && isShort && !isProbe && !isNearlyAll) return learnPace(beliefs, refusal.now);
  beliefs.isAlone = isNearlyAll;
  beliefs.firstBurst = log.size;
  // A probe was sent beyond a full limit, and a bucket's short hint says nothing about the limit.
  if (!isProbe && !(isShort && isTold)) {
    beliefs.learnLimit(log.size);
    beliefs.countsLateAnswers = true;
  }
  beliefs.startTrial(refusal.now);
  classify(beliefs, refusal);
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
