import { WINDOW_MS } from './accepted-log.ts';
import { isBurstPeriod } from './burst-limit.ts';
import { refuseProbe, scheduleProbe, slowBucketDown } from './capacity-probe.ts';
import { closeGate } from './grant.ts';
import { jitterMs, limitBursts, NEARLY_ALL, type Refusal, relearn, settleWindow, withLimit } from './learn-window.ts';
import type { LimiterState } from './limiter-state.ts';
import type { BucketWindow, FixedWindow, Window } from './window.ts';

/** A hint that differs from the known window by more than this contradicts it. */
const CONTRADICTION_MS = 2_000;
/** Some servers round hints up to 5 or 10 s: up to this, one may still mean the next slot of a bucket. */
const LONGEST_COARSE_HINT_MS = 15_000;
/** Between probes for capacity that others gave up: one refusal in two windows. */
const LONGEST_PAUSE_MS = 2 * WINDOW_MS;

/** A refusal although the kind of window is known. */
export function refuseKnown(state: LimiterState, refusal: Refusal): LimiterState {
  const { window } = state;
  return window.kind === 'bucket' ? refuseBucket(state, refusal, window) : refuseWindow(state, refusal, window);
}

function refuseBucket(state: LimiterState, refusal: Refusal, window: BucketWindow): LimiterState {
  const { now, isShort, hintMs, isProbe } = refusal;
  if (hintMs !== undefined && !isShort && hintMs > LONGEST_COARSE_HINT_MS) {
    // A whole window's wait after so many requests: they are its limit, whatever was thought of it before.
    const { log, configured, limit } = state;
    return relearn(withLimit(state, Math.min(configured, Math.max(limit, log.size))), refusal);
  }
  return slowBucketDown(state, window, { now, isProbe, jitterMs: jitterMs(state) });
}

function refuseWindow(state: LimiterState, refusal: Refusal, window: Exclude<Window, BucketWindow>): LimiterState {
  if (window.kind === 'fixed' && isShorterPeriod(state, refusal, window)) return shortenPeriod(state, refusal, window);
  if (refusal.isProbe) return refuseWindowProbe(state, refusal, window);
  return shareWithOthers(state, refusal, window);
}

/** Whether a full window's slots come back long before the minute is over: then the limit is for a shorter time. */
function isShorterPeriod({ log, limit }: LimiterState, refusal: Refusal, { startsAt }: FixedWindow): boolean {
  const { now, hintMs, isShort } = refusal;
  if (hintMs === undefined || isShort) return false;
  return isBurstPeriod(now + hintMs - startsAt) && log.answeredSince(startsAt) >= limit;
}

function shortenPeriod(state: LimiterState, refusal: Refusal, { startsAt }: FixedWindow): LimiterState {
  const calls = state.log.answeredSince(startsAt);
  return limitBursts(state, { calls, periodMs: refusal.now + (refusal.hintMs ?? 0) - startsAt, refusal });
}

/** No more to be had; but a hint of a slot long before the window ends means that it is another window. */
function refuseWindowProbe(state: LimiterState, refusal: Refusal, window: Window): LimiterState {
  const { now, isShort, hintMs = 0 } = refusal;
  const isOtherWindow = isShort && now + hintMs < nextSlotsAt(state, window, now) - CONTRADICTION_MS;
  if (isOtherWindow) return relearn(state, refusal);
  return { ...state, probe: refuseProbe(state.probe, now, LONGEST_PAUSE_MS) };
}

/** When the window gives slots again that it has taken. */
function nextSlotsAt({ log }: LimiterState, window: Window, now: number): number {
  return window.kind === 'fixed' ? window.startsAt + WINDOW_MS : (log.expiresAt(0) ?? now);
}

/** Another client uses the key: what this process got in this window is its share; the shares add up to the limit. */
function shareWithOthers(state: LimiterState, refusal: Refusal, window: Window): LimiterState {
  const { now, hintMs } = refusal;
  const { log } = state;
  const got = window.kind === 'fixed' ? log.answeredSince(window.startsAt) : log.size;
  if (isOwnLog(state, window, got)) return settleWindow(state, { kind: 'log' }, now);
  const nextAt = nextSlotsAt(state, window, now);
  const hintedAt = now + (hintMs ?? 0);
  const shared = withLimit(state, got);
  if (hintMs !== undefined && Math.abs(hintedAt - nextAt) > CONTRADICTION_MS) return relearn(shared, refusal);
  return {
    ...shared,
    gate: closeGate(shared.gate, nextAt),
    probe: scheduleProbe(shared.probe, nextAt + WINDOW_MS),
  };
}

/** Refused early in a fixed window that followed a full one: the server may still count the requests before it. */
function isOwnLog({ log, limit }: LimiterState, { kind }: Window, got: number): boolean {
  return kind === 'fixed' && got < limit / 2 && log.size >= NEARLY_ALL * limit;
}
