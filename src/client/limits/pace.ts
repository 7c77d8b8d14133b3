import { type Gate, type LimiterState, type Pace, WINDOW_MS } from './limit-state.ts';

/** So many can be sent at once after a pause, as a part of what was accepted in a minute. */
const CAPACITY_PART = 0.25;
/** The rate grows fast until it is refused once, then slowly. */
const STEP_MS = 7_500;
const FAST_STEP = 1.5;
const SLOW_STEP = 1.05;
/** Each step that is not refused is larger than the last by this factor. */
const STEP_GROWTH = 1.5;
/** After a refusal that no growth explains. */
const SLOWER = 0.9;
/** After a refusal, the rate stays for so many slots: fewer would not show that it is too high. */
const PAUSE_SLOTS = 16;
/** Without a refusal for this long, the log is tried again. */
const TRY_LOG_AFTER_MS = 5 * WINDOW_MS;

/**
 * From now on, requests are sent at equal intervals, first at the rate of the last minute or of the hint: that suits
 * every kind of window, a second limit, and others who use the key.
 */
export function sendEvenly(state: LimiterState, now: number, waitMs: number | undefined): LimiterState {
  const { gate, log, configured } = state;
  const isKnown = configured !== Number.POSITIVE_INFINITY;
  // Without a hint, a service that is known to allow `configured` per minute most likely frees its slots evenly.
  const hinted = waitMs === undefined ? (isKnown ? configured : 1) : WINDOW_MS / waitMs;
  const pace: Pace = {
    perMs: Math.min(Math.max(log.size, hinted), configured) / WINDOW_MS,
    capacity: Math.max(1, Math.floor(CAPACITY_PART * log.size)),
    tokens: 1,
    at: gate.opensAt,
    step: FAST_STEP,
    grew: false,
    growsAt: now + STEP_MS,
    refusedAt: now,
  };
  return { ...state, pace, gate: withoutRamp(gate) };
}

/** A refusal of evenly sent requests: undoes the last growth. Without one, halves the capacity, or lowers the rate. */
export function slowDown(state: LimiterState, pace: Pace, now: number): LimiterState {
  const { gate } = state;
  const isBurst = !pace.grew && pace.capacity > 1;
  const perMs = pace.grew ? pace.perMs / pace.step : (isBurst ? 1 : SLOWER) * pace.perMs;
  const slower: Pace = {
    perMs,
    capacity: isBurst ? Math.floor(pace.capacity / 2) : pace.capacity,
    tokens: 1,
    at: gate.opensAt,
    step: isBurst ? pace.step : SLOW_STEP,
    grew: false,
    growsAt: now + Math.max(2 * STEP_MS, PAUSE_SLOTS / perMs),
    refusedAt: now,
  };
  return { ...state, pace: slower, gate: withoutRamp(gate) };
}

function withoutRamp(gate: Gate): Gate {
  return { ...gate, test: 'none', room: Number.POSITIVE_INFINITY };
}

/** Adds the tokens of the time since; the rate grows while it is used up. `null`: the log is tried again. */
export function advancePace(pace: Pace, configured: number, now: number): Pace | null {
  if (now <= pace.at) return pace;
  if (now - pace.refusedAt >= TRY_LOG_AFTER_MS) return null;
  const refilled = pace.tokens + (now - pace.at) * pace.perMs;
  const most = configured / WINDOW_MS;
  const grows = now >= pace.growsAt && refilled < pace.capacity && pace.perMs < most;
  const step = grows && pace.grew ? 1 + Math.min(FAST_STEP - 1, STEP_GROWTH * (pace.step - 1)) : pace.step;
  return {
    perMs: grows ? Math.min(most, pace.perMs * step) : pace.perMs,
    capacity: pace.capacity,
    tokens: Math.min(pace.capacity, refilled),
    at: now,
    step,
    grew: pace.grew || grows,
    growsAt: grows ? now + STEP_MS : pace.growsAt,
    refusedAt: pace.refusedAt,
  };
}
