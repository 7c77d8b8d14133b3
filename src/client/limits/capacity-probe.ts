import { WINDOW_MS } from './accepted-log.ts';
import { type CapacityProbe, isBelowConfigured, jitterMs, type LimiterState } from './limiter-state.ts';
import type { BucketWindow } from './window.ts';

/** The rate of a bucket grows by at most this factor at once, in smaller steps near a rate that was refused. */
const LARGEST_STEP = 1.5;
const SMALLEST_STEP = 1.02;
/** Until a refusal, each step is larger than the previous one by this factor. */
const STEP_GROWTH = 1.75;
/** After a refusal, the rate is multiplied by this, until it is measured. */
const SLOWER = 0.9;
/** This number of requests between two refusals is the refill of that time, with an error of at most one. */
const MEASURED_CALLS = 8;
/** Factor for a measured rate: a request at exactly the refill rate can be refused again. */
const BELOW_MEASURED = 0.97;
/** Shortest time between two steps. */
export const STEP_MS = WINDOW_MS / 8;
/** Pause after a refusal that only confirmed the rate: an earlier step would have the same result. */
const CONFIRMED_PAUSE_MS = WINDOW_MS / 2;
/** A small bucket cannot be measured. Two refusals in a row at rates that differ by at most this part confirm its rate. */
const SAME_RATE = 0.1;
/** From this part of the assumed rate on, a measured rate confirms it. */
const CONFIRMED_PART = 0.8;
/** A small step requires so many accepted requests at the previous rate. */
const CALLS_PER_SMALL_STEP = 4;

export const FIRST_PROBE: CapacityProbe = {
  batch: 1,
  outstanding: 0,
  dueAt: 0,
  pauseMs: WINDOW_MS,
  step: LARGEST_STEP,
  acceptedAtStep: 0,
  emptyAt: Number.POSITIVE_INFINITY,
  acceptedAtEmpty: 0,
  refusedPerMs: 0,
};

/** Schedules a probe of one request. */
export function scheduleProbe(probe: CapacityProbe, dueAt: number): CapacityProbe {
  return { ...probe, batch: 1, dueAt, pauseMs: WINDOW_MS };
}

/** Whether a request beyond the known slots was refused since the window became known: the window has no more slots. */
export function wasProbeRefused({ pauseMs }: CapacityProbe): boolean {
  return pauseMs > WINDOW_MS;
}

export function acceptProbe(probe: CapacityProbe): CapacityProbe {
  const outstanding = probe.outstanding - 1;
  return { ...probe, outstanding, batch: outstanding <= 0 ? 2 * probe.batch : probe.batch };
}

/** After a refused probe: probes again later, after pauses that double up to `longestPauseMs`. */
export function refuseProbe(probe: CapacityProbe, now: number, longestPauseMs: number): CapacityProbe {
  const pauseMs = Math.min(longestPauseMs, 2 * probe.pauseMs);
  return { ...probe, batch: 1, dueAt: now + probe.pauseMs, pauseMs };
}

/** After a refusal, assumes that the bucket is empty and, unless the request was a probe, slower. */
export function slowBucketDown(
  state: LimiterState,
  window: BucketWindow,
  refusal: { readonly now: number; readonly isProbe: boolean; readonly hintMs: number },
): LimiterState {
  const { now, isProbe, hintMs } = refusal;
  const { probe, gate, log } = state;
  const provenPerMs = Math.min(window.perMs, Math.max(1, log.size - window.capacity) / WINDOW_MS);
  const { perMs: refillPerMs, isConfirmed: isMeasured } = refillSinceEmpty(state, window, now);
  const isSameRate = Math.abs(window.perMs - probe.refusedPerMs) <= SAME_RATE * window.perMs;
  const isConfirmed = isMeasured || (window.capacity < MEASURED_CALLS && isSameRate);
  // At least the rate accepted in the last minute: many simultaneous refusals of several processes do not prove that
  // the server is slower.
  const perMs = Math.max(isProbe ? window.perMs : refillPerMs, provenPerMs);
  const waitMs = Math.max(jitterMs(state), hintMs - 1 / perMs);
  return {
    ...state,
    // At the end of the hint, one token is certain.
    window: { ...window, tokens: 0, at: now + waitMs, perMs },
    probe: {
      ...scheduleProbe(probe, now + (isConfirmed ? CONFIRMED_PAUSE_MS : STEP_MS)),
      refusedPerMs: window.perMs,
      step: 1 + Math.max(SMALLEST_STEP - 1, (probe.step - 1) / 4),
      acceptedAtStep: gate.accepted,
      // What the bucket refills beyond its capacity while the gate is closed is lost.
      emptyAt: now + Math.max(0, waitMs - window.capacity / perMs),
      acceptedAtEmpty: gate.accepted,
    },
  };
}

/** The rate at which the bucket has refilled since it was empty last, by the requests accepted since then. */
function refillSinceEmpty({ probe, gate }: LimiterState, { perMs, capacity }: BucketWindow, now: number) {
  const calls = gate.accepted - probe.acceptedAtEmpty;
  const elapsedMs = now - probe.emptyAt;
  const slowerPerMs = SLOWER * perMs;
  if (calls < MEASURED_CALLS || elapsedMs <= 0) return { perMs: slowerPerMs, isConfirmed: false };
  const measuredPerMs = calls / elapsedMs;
  // A small bucket overflows between two requests: it refills more than was measured.
  const atLeastPerMs = capacity < MEASURED_CALLS ? slowerPerMs : 0;
  return {
    perMs: Math.min(perMs, Math.max(atLeastPerMs, BELOW_MEASURED * measuredPerMs)),
    isConfirmed: measuredPerMs > CONFIRMED_PART * perMs,
  };
}

/** A bucket that was full has lost refill, so the requests accepted since it was empty do not measure its rate. */
export function forgetEmpty(state: LimiterState): LimiterState {
  const { window, probe } = state;
  const isFull = window.kind === 'bucket' && window.tokens >= window.capacity;
  if (!isFull || probe.emptyAt === Number.POSITIVE_INFINITY) return state;
  return { ...state, probe: { ...probe, emptyAt: Number.POSITIVE_INFINITY } };
}

/**
 * Raises the rate of a bucket by a step when it is due: other users may have stopped, or the configured limit is
 * larger.
 */
export function speedBucketUp(state: LimiterState, now: number): LimiterState {
  const { window, phase, probe, gate, configured } = state;
  if (window.kind !== 'bucket' || phase !== 'known' || now < probe.dueAt || !isBelowConfigured(state)) return state;
  const isProven = probe.step >= LARGEST_STEP || gate.accepted - probe.acceptedAtStep >= CALLS_PER_SMALL_STEP;
  if (!isProven) return state;
  return {
    ...state,
    window: { ...window, perMs: Math.min(configured / WINDOW_MS, window.perMs * probe.step) },
    probe: {
      ...scheduleProbe(probe, now + STEP_MS),
      step: 1 + Math.min(LARGEST_STEP - 1, STEP_GROWTH * (probe.step - 1)),
      acceptedAtStep: gate.accepted,
    },
  };
}
