import type { Beliefs } from './beliefs.ts';
import { slowDown } from './bucket-growth.ts';
import { classify, SHORTEST_GATE_MS, TOLERANCE_MS, waitsForOwn } from './classify.ts';
import { NEARLY_ALL, type Refusal } from './refusal.ts';
import { type BucketWindow, type FixedWindow, type LogWindow, WINDOW_MS } from './window.ts';

/** A hint that differs from the known window by more than this contradicts it. */
const CONTRADICTION_MS = 2_000;
/** A refusal this soon after a boundary, with a hint this short, means that the boundary is later. */
const NEAR_BOUNDARY_MS = 250;
const NEAR_BOUNDARY_HINT_MS = 2_000;
/** Between probes for capacity that others gave up: one refusal in two windows. */
const LONGEST_PAUSE_MS = 2 * WINDOW_MS;

/** Rule for a refusal although the kind of window is known. */
export function refuseKnown(beliefs: Beliefs, refusal: Refusal): void {
  const { window } = beliefs;
  if (window.kind === 'bucket') refuseBucket(beliefs, refusal, window);
  else refuseWindow(beliefs, refusal, window);
}

function refuseBucket(beliefs: Beliefs, refusal: Refusal, window: BucketWindow): void {
  const { now, isShort, hintMs } = refusal;
  const { isTold, log, told, knownAt } = beliefs;
  if (hintMs !== undefined && !isShort) {
    // A whole window's wait after so many calls: they are its limit, whatever was thought of it before.
    beliefs.learnLimit(Math.min(told, Math.max(beliefs.limit, log.size)));
    return beginAnew(beliefs, refusal);
  }
  if (isTold && log.size >= told && now - knownAt >= WINDOW_MS) {
    // A whole limit within a minute, and still refused: no bucket, but a window that forgets after a minute.
    beliefs.limit = told;
    return beliefs.become({ kind: 'log' }, now);
  }
  slowDown(beliefs, window, refusal);
}

function refuseWindow(beliefs: Beliefs, refusal: Refusal, window: LogWindow | FixedWindow): void {
  if (window.kind === 'fixed' && forgetsCalls(beliefs, refusal, window)) {
    beliefs.learnLimit(Math.min(beliefs.told, beliefs.log.size));
    return beliefs.become({ kind: 'log' }, refusal.now);
  }
  if (refusal.isProbe) return refuseProbe(beliefs, refusal, window);
  if (window.kind === 'fixed' && isNearBoundary(window, refusal)) return moveBoundary(beliefs, refusal);
  shareWithOthers(beliefs, refusal, window);
}

/** Whether what was taken for a boundary was the moment in which the server forgot calls of others. */
function forgetsCalls(beliefs: Beliefs, refusal: Refusal, { startsAt }: FixedWindow): boolean {
  const { now, hintMs } = refusal;
  const isOther = hintMs !== undefined && Math.abs(now + hintMs - (startsAt + WINDOW_MS)) > CONTRADICTION_MS;
  return isOther && waitsForOwn(beliefs, refusal);
}

/** There is no more to be had; but a hint of a slot long before the window ends says that it is another window. */
function refuseProbe(beliefs: Beliefs, refusal: Refusal, window: LogWindow | FixedWindow): void {
  const { now, isShort, hintMs = 0 } = refusal;
  const isOtherWindow = isShort && now + hintMs < nextSlotsAt(beliefs, window, now) - CONTRADICTION_MS;
  if (isOtherWindow) beginAnew(beliefs, refusal);
  else beliefs.growth.refuse(now, LONGEST_PAUSE_MS);
}

/** When the window gives slots again that it has taken. */
function nextSlotsAt({ log }: Beliefs, window: LogWindow | FixedWindow, now: number): number {
  return window.kind === 'fixed' ? window.startsAt + WINDOW_MS : (log.leavesAt(0) ?? now);
}

function isNearBoundary({ startsAt, guardMs }: FixedWindow, { sentAt, hintMs = 0 }: Refusal): boolean {
  return sentAt < startsAt + guardMs + NEAR_BOUNDARY_MS && hintMs <= NEAR_BOUNDARY_HINT_MS;
}

/** The boundary was thought too early; or it is none, and our own oldest call still counts. */
function moveBoundary(beliefs: Beliefs, { now, sentAt, hintMs = 0 }: Refusal): void {
  const { oldest } = beliefs.log;
  if (oldest && now + hintMs >= oldest.sentAt + WINDOW_MS - TOLERANCE_MS) return beliefs.become({ kind: 'log' }, now);
  beliefs.startTrial(now);
  const opensAt = now + Math.max(hintMs, SHORTEST_GATE_MS);
  beliefs.trial = { ...beliefs.trial, boundaryAfter: sentAt, opensAt };
  beliefs.gate.close(opensAt);
}

/** Somebody else uses the key: what this process got in this window is its share; the shares add up to the limit. */
function shareWithOthers(beliefs: Beliefs, refusal: Refusal, window: LogWindow | FixedWindow): void {
  const { now, hintMs, isShort } = refusal;
  const { log, gate, growth } = beliefs;
  const got = window.kind === 'fixed' ? log.answeredSince(window.startsAt) : log.size;
  if (isOwnLog(beliefs, window, got)) return beliefs.become({ kind: 'log' }, now);
  if (hintMs === undefined && got < beliefs.limit / 2) {
    beliefs.learnLimit(got);
    return beginAnew(beliefs, refusal);
  }
  const nextAt = nextSlotsAt(beliefs, window, now);
  const hintedAt = now + (hintMs ?? 0);
  const isOneSlot = isShort && hintedAt < nextAt - CONTRADICTION_MS;
  if (!isOneSlot) beliefs.learnLimit(got);
  if (hintMs !== undefined && Math.abs(hintedAt - nextAt) > CONTRADICTION_MS) return beginAnew(beliefs, refusal);
  gate.stayClosedUntil(nextAt);
  growth.start(nextAt + WINDOW_MS);
}

/** Refused early in a fixed window that followed a full one: the server may still count the calls before it. */
function isOwnLog({ log, limit }: Beliefs, { kind }: LogWindow | FixedWindow, got: number): boolean {
  return kind === 'fixed' && got < limit / 2 && log.size >= NEARLY_ALL * limit;
}

function beginAnew(beliefs: Beliefs, refusal: Refusal): void {
  beliefs.startTrial(refusal.now);
  classify(beliefs, refusal);
}
