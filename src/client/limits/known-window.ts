import { WINDOW_MS } from './accepted-log.ts';
import { isBurstPeriod } from './burst-limit.ts';
import { refuseProbe, scheduleProbe, slowBucketDown } from './capacity-probe.ts';
import { closeGate } from './grant.ts';
import {
  becomeBucket,
  burstPeriodMs,
  isBucket,
  jitterMs,
  limitBursts,
  NEARLY_ALL,
  type Refusal,
  relearn,
  SHORTEST_GATE_MS,
  settleWindow,
  TOLERANCE_MS,
  waitsForOwn,
  withLimit,
} from './learn-window.ts';
import { hasConfiguredLimit, type LimiterState, newHypothesis } from './limiter-state.ts';
import type { BucketWindow, FixedWindow, Window } from './window.ts';

/** A hint that differs from the known window by more than this contradicts the window. */
const CONTRADICTION_MS = 2_000;
/** A refusal this soon after a boundary, with a hint this short, means that the boundary is later. */
const NEAR_BOUNDARY_MS = 250;
const NEAR_BOUNDARY_HINT_MS = 2_000;
/** Requests beyond the capacity of a bucket that can be a coincidence. */
const CHANCE_CALLS = 1;
/** Some servers round hints up to 5 or 10 s: a hint up to this can still mean the next slot of a bucket. */
const LONGEST_COARSE_HINT_MS = 15_000;
/** Longest pause between probes for capacity that others gave up: one refusal in two windows. */
const LONGEST_PAUSE_MS = 2 * WINDOW_MS;

/** A refusal although the kind of window is known. */
export function refuseKnown(state: LimiterState, refusal: Refusal): LimiterState {
  const { window } = state;
  return window.kind === 'bucket' ? refuseBucket(state, refusal, window) : refuseWindow(state, refusal, window);
}

function refuseBucket(state: LimiterState, refusal: Refusal, window: BucketWindow): LimiterState {
  const { now, isShort, hintMs, isProbe } = refusal;
  const { log, gate, configured, knownSince } = state;
  if (hintMs !== undefined && !isShort && hintMs > LONGEST_COARSE_HINT_MS) {
    // A wait of a whole window after these requests: their number is the limit, whatever the limiter assumed before.
    return relearn(withLimit(state, Math.min(configured, Math.max(state.limit, log.size))), refusal);
  }
  const burstMs = burstPeriodMs(refusal);
  if (burstMs !== undefined && !isShort && gate.accepted <= window.capacity + CHANCE_CALLS) {
    // Refused when the bucket's capacity was just used: it has not refilled at all.
    return limitBursts(state, { calls: gate.accepted, periodMs: burstMs, refusal });
  }
  if (hasConfiguredLimit(state) && log.size >= configured && now - knownSince >= WINDOW_MS) {
    // Refused after a whole limit within a minute: the window is not a bucket, but a log of a minute.
    return settleWindow({ ...state, limit: configured }, { kind: 'log' }, now);
  }
  return slowBucketDown(state, window, { now, isProbe, hintMs, jitterMs: jitterMs(state) });
}

function refuseWindow(state: LimiterState, refusal: Refusal, window: Exclude<Window, BucketWindow>): LimiterState {
  if (window.kind === 'fixed' && forgetsCalls(state, refusal, window)) {
    return settleWindow(withLimit(state, Math.min(state.configured, state.log.size)), { kind: 'log' }, refusal.now);
  }
  if (window.kind === 'fixed' && isShorterPeriod(state, refusal, window)) return shortenPeriod(state, refusal, window);
  if (refusal.isProbe) return refuseWindowProbe(state, refusal, window);
  if (window.kind === 'fixed' && isNearBoundary(window, refusal)) return moveBoundary(state, refusal);
  return shareWithOthers(state, refusal, window);
}

/** Whether the assumed boundary was only the time at which requests of other clients expired. */
function forgetsCalls(state: LimiterState, refusal: Refusal, { startsAt }: FixedWindow): boolean {
  const { now, hintMs } = refusal;
  const isOther = hintMs !== undefined && Math.abs(now + hintMs - (startsAt + WINDOW_MS)) > CONTRADICTION_MS;
  return isOther && waitsForOwn(state, refusal);
}

/** Whether the slots of a full window are free long before the minute ends: then the limit is for a shorter period. */
function isShorterPeriod({ log, limit }: LimiterState, refusal: Refusal, { startsAt }: FixedWindow): boolean {
  const { now, hintMs, isShort } = refusal;
  if (hintMs === undefined || isShort) return false;
  return isBurstPeriod(now + hintMs - startsAt) && log.answeredSince(startsAt) >= limit;
}

function shortenPeriod(state: LimiterState, refusal: Refusal, { startsAt }: FixedWindow): LimiterState {
  const calls = state.log.answeredSince(startsAt);
  return limitBursts(state, { calls, periodMs: refusal.now + (refusal.hintMs ?? 0) - startsAt, refusal });
}

/**
 * The window has no further slots. A hint of a slot long before the window ends means that the kind of window is wrong.
 */
function refuseWindowProbe(state: LimiterState, refusal: Refusal, window: Window): LimiterState {
  const { now, isShort, hintMs = 0 } = refusal;
  const isOtherWindow = isShort && now + hintMs < nextSlotsAt(state, window, now) - CONTRADICTION_MS;
  if (!isOtherWindow) return { ...state, probe: refuseProbe(state.probe, now, LONGEST_PAUSE_MS) };
  const sinceExhaustedMs = now - state.hypothesis.exhaustedAt;
  // After a short hint, the few requests that settled the window can be the refill of a bucket.
  const wasSettledEarly = window.kind === 'fixed' && state.hypothesis.hint === 'short';
  const isRefill = wasSettledEarly && isBucket(state, refusal, sinceExhaustedMs);
  return isRefill ? becomeBucket(state, now, sinceExhaustedMs) : relearn(state, refusal);
}

/** Time at which used slots of the window are free again. */
function nextSlotsAt({ log }: LimiterState, window: Window, now: number): number {
  return window.kind === 'fixed' ? window.startsAt + WINDOW_MS : (log.expiresAt(0) ?? now);
}

function isNearBoundary({ startsAt, guardMs }: FixedWindow, { sentAt, hintMs = 0 }: Refusal): boolean {
  return sentAt < startsAt + guardMs + NEAR_BOUNDARY_MS && hintMs <= NEAR_BOUNDARY_HINT_MS;
}

/** Assumes a later boundary, or a log in which this client's oldest request still counts. */
function moveBoundary(state: LimiterState, { now, sentAt, hintMs = 0 }: Refusal): LimiterState {
  const { oldest } = state.log;
  if (oldest && now + hintMs >= oldest.sentAt + WINDOW_MS - TOLERANCE_MS) {
    return settleWindow(state, { kind: 'log' }, now);
  }
  const opensAt = now + Math.max(hintMs, SHORTEST_GATE_MS);
  return {
    ...state,
    phase: 'learning',
    hypothesis: { ...newHypothesis(now), boundaryAfter: sentAt, opensAt },
    gate: closeGate(state.gate, opensAt),
  };
}

/** Another client uses the key: the requests accepted in this window are the share of this process. */
function shareWithOthers(state: LimiterState, refusal: Refusal, window: Window): LimiterState {
  const { now, hintMs, isShort } = refusal;
  const { log } = state;
  const got = window.kind === 'fixed' ? log.answeredSince(window.startsAt) : log.size;
  if (isOwnLog(state, window, got)) return settleWindow(state, { kind: 'log' }, now);
  if (hintMs === undefined && got < state.limit / 2) return relearn(withLimit(state, got), refusal);
  const nextAt = nextSlotsAt(state, window, now);
  const hintedAt = now + (hintMs ?? 0);
  const isOneSlot = isShort && hintedAt < nextAt - CONTRADICTION_MS;
  const shared = isOneSlot ? state : withLimit(state, got);
  if (hintMs !== undefined && Math.abs(hintedAt - nextAt) > CONTRADICTION_MS) return relearn(shared, refusal);
  return {
    ...shared,
    gate: closeGate(shared.gate, nextAt),
    probe: scheduleProbe(shared.probe, nextAt + WINDOW_MS),
  };
}

/** Whether the refusal came early in a fixed window after a full one: the server may still count earlier requests. */
function isOwnLog({ log, limit }: LimiterState, { kind }: Window, got: number): boolean {
  return kind === 'fixed' && got < limit / 2 && log.size >= NEARLY_ALL * limit;
}
