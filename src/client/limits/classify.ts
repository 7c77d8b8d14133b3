import type { Beliefs } from './beliefs.ts';
import type { Refusal } from './refusal.ts';
import { WINDOW_MS } from './window.ts';

/** Our log and the server's hint may differ by this and still mean the same: a second's rounding and the way. */
export const TOLERANCE_MS = 2_100;
/** No gate is shorter: a hint of 0 must not become a hot loop. */
export const SHORTEST_GATE_MS = 250;
/** Below this a hint that brought another refusal was too small; doubled per try. */
const TOO_SMALL_HINT_MS = 125;
const LARGEST_TOO_SMALL_HINT_MS = 2_000;
/** Tries without a usable hint: doubling, from these up to the longest. */
const FIRST_TRY_MS = 1_000;
const FIRST_TRY_AFTER_HINT_MS = 250;
const LONGEST_TRY_MS = 16_000;

/**
 * Closes the gate for a refusal, and notes what its opening will prove. A hint that our own log explains proves the
 * window at once: one that forgets a call after a minute.
 */
export function classify(beliefs: Beliefs, { now, hintMs, isShort }: Refusal): void {
  if (hintMs === undefined) return tryBlind(beliefs, now, FIRST_TRY_MS);
  const opensAt = gateAfter(now, hintMs);
  if (isOwnOldest(beliefs, opensAt)) return beliefs.become({ kind: 'log' }, now);
  beliefs.trial = {
    ...beliefs.trial,
    hint: isShort ? 'short' : 'long',
    isOwnSlot: false,
    boundaryAfter: opensAt,
    opensAt,
  };
  beliefs.gate.close(opensAt);
}

/** Whether the refusal waits for our own oldest call to be forgotten. */
export function waitsForOwn(beliefs: Beliefs, { now, hintMs }: Refusal): boolean {
  return hintMs !== undefined && isOwnOldest(beliefs, gateAfter(now, hintMs));
}

function gateAfter(now: number, hintMs: number): number {
  return now + Math.max(hintMs, SHORTEST_GATE_MS);
}

/** The same for a refusal of the first call after a gate: its hint may just have proved too small. */
export function classifyAgain(beliefs: Beliefs, refusal: Refusal): void {
  const tooSmallMs = Math.min(LARGEST_TOO_SMALL_HINT_MS, TOO_SMALL_HINT_MS * 2 ** beliefs.trial.tries);
  const isTooSmall = refusal.hintMs !== undefined && refusal.hintMs < tooSmallMs;
  if (isTooSmall) tryBlind(beliefs, refusal.now, FIRST_TRY_AFTER_HINT_MS);
  else classify(beliefs, refusal);
}

/** Whether `at` is when the server forgets the oldest call of ours. */
function isOwnOldest({ log: { oldest } }: Beliefs, at: number): boolean {
  if (oldest === undefined) return false;
  return at >= oldest.sentAt + WINDOW_MS - TOLERANCE_MS && at <= oldest.answeredAt + WINDOW_MS + TOLERANCE_MS;
}

/** Without a hint: the earliest of a backoff, the server's next full minute, and our own oldest call's end. */
function tryBlind(beliefs: Beliefs, now: number, firstTryMs: number): void {
  const { trial, log, serverClock, gate } = beliefs;
  const ownSlotAt = log.leavesAt(0) ?? Number.POSITIVE_INFINITY;
  const backoffAt = now + Math.min(LONGEST_TRY_MS, firstTryMs * 2 ** trial.tries);
  const minuteAt = serverClock.nextMinuteAfter(now) ?? Number.POSITIVE_INFINITY;
  const opensAt = Math.min(backoffAt, minuteAt, ownSlotAt);
  beliefs.trial = {
    ...trial,
    hint: 'none',
    isOwnSlot: opensAt === ownSlotAt,
    boundaryAfter: opensAt,
    opensAt,
    tries: trial.tries + 1,
  };
  gate.close(opensAt);
}
