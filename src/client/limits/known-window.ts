import { WINDOW_MS } from './accepted-log.ts';
import { refuseProbe, scheduleProbe, slowBucketDown } from './capacity-probe.ts';
import { closeGate } from './grant.ts';
import {
  burstPeriodMs,
  isRefusedBelowLimit,
  learnLog,
  limitBursts,
  NEARLY_ALL,
  type Refusal,
  relearn,
  sendEvenly,
  settleWindow,
  waitsForOwn,
  withLimit,
} from './learn-window.ts';
import type { LimiterState } from './limiter-state.ts';
import type { FixedWindow, Window } from './window.ts';

/** A hint that differs from the known window by more than this contradicts the window. */
const CONTRADICTION_MS = 2_000;
/** A refusal this soon after a boundary, with a hint this short, means that the boundary is later. */
const NEAR_BOUNDARY_MS = 250;
const NEAR_BOUNDARY_HINT_MS = 2_000;
/** Longest pause between probes for capacity that others gave up: one refusal in two windows. */
const LONGEST_PAUSE_MS = 2 * WINDOW_MS;

/** A refusal although the kind of window is known. */
export function refuseKnown(state: LimiterState, refusal: Refusal): LimiterState {
  const { window } = state;
  if (window.kind === 'bucket') return slowBucketDown(state, window, refusal);
  if (window.kind === 'fixed' && isWrongBoundary(state, refusal, window)) return learnLog(state, refusal.now);
  const burst = window.kind === 'fixed' && shorterPeriod(state, refusal, window);
  if (burst) return limitBursts(state, { ...burst, refusal });
  if (refusal.isProbe) return refuseWindowProbe(state, refusal, window);
  if (window.kind === 'fixed' && isNearBoundary(window, refusal)) return relearn(state, refusal);
  return shareWithOthers(state, refusal, window);
}

/** Whether the assumed boundary was only the time at which requests of other clients expired. */
function isWrongBoundary(state: LimiterState, refusal: Refusal, { startsAt }: FixedWindow): boolean {
  const { now, hintMs } = refusal;
  return waitsForOwn(state, refusal) && Math.abs(now + hintMs - (startsAt + WINDOW_MS)) > CONTRADICTION_MS;
}

/** If the slots of a full window are free long before the minute ends, the limit is for that shorter period. */
function shorterPeriod({ log, limit }: LimiterState, refusal: Refusal, { startsAt }: FixedWindow) {
  const periodMs = refusal.hint === 'long' ? burstPeriodMs(startsAt, refusal) : undefined;
  const calls = log.acceptedSince(startsAt);
  return periodMs !== undefined && calls >= limit && { calls, periodMs };
}

/**
 * The window has no further slots. A hint of a slot long before the window ends means that the kind of window is wrong.
 */
function refuseWindowProbe(state: LimiterState, refusal: Refusal, window: Window): LimiterState {
  const { now, hint, hintMs } = refusal;
  const isOtherWindow = hint === 'short' && now + hintMs < nextSlotsAt(state, window, now) - CONTRADICTION_MS;
  return isOtherWindow ? relearn(state, refusal) : { ...state, probe: refuseProbe(state.probe, now, LONGEST_PAUSE_MS) };
}

/** Whether the boundary may be later than assumed. */
function isNearBoundary({ startsAt, guardMs }: FixedWindow, { sentAt, hintMs }: Refusal): boolean {
  return sentAt < startsAt + guardMs + NEAR_BOUNDARY_MS && hintMs <= NEAR_BOUNDARY_HINT_MS;
}

/** Time at which used slots of the window are free again. */
function nextSlotsAt({ log }: LimiterState, window: Window, now: number): number {
  return window.kind === 'fixed' ? window.startsAt + WINDOW_MS : (log.expiresAt(0) ?? now);
}

/** Another client uses the key: the requests accepted in this window are the share of this process. */
function shareWithOthers(state: LimiterState, refusal: Refusal, window: Window): LimiterState {
  const { now, hint, hintMs } = refusal;
  const { log } = state;
  const got = window.kind === 'fixed' ? log.acceptedSince(window.startsAt) : log.size;
  if (isOwnLog(state, window, got)) return settleWindow(state, { kind: 'log' }, now);
  if (isRefusedBelowLimit(state, refusal, got)) return sendEvenly(state, refusal, got);
  const nextAt = nextSlotsAt(state, window, now);
  const hintedAt = now + hintMs;
  const isOneSlot = hint === 'short' && hintedAt < nextAt - CONTRADICTION_MS;
  const shared = isOneSlot ? state : withLimit(state, got);
  if (hint !== 'none' && Math.abs(hintedAt - nextAt) > CONTRADICTION_MS) return relearn(shared, refusal);
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
