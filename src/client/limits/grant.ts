import { WINDOW_MS } from './accepted-log.ts';
import { burstSlotAt, burstSlots, growBurstLimit } from './burst-limit.ts';
import { forgetEmpty, scheduleProbe, speedBucketUp, wasProbeRefused } from './capacity-probe.ts';
import {
  closedUntil,
  copyState,
  type Gate,
  hasConfiguredLimit,
  isBelowConfigured,
  type LimiterState,
} from './limiter-state.ts';
import { advanceWindow, freeSlots, nextLogSlotAt, nextSlotAt } from './window.ts';

/** The number of waiting calls that may be sent now, and when to ask again. */
export interface Grant {
  readonly count: number;
  /** These are sent to learn the window, beyond what is known to be free. */
  readonly isProbe: boolean;
  /** Time at which to ask again; `undefined`: after the next response. */
  readonly askAgainAt: number | undefined;
}

/** A probe sends at most this part of the limit, because all of it may be refused. */
const BATCH_PART = 32;
/** With a small limit, a probe may send this many. */
const SMALLEST_BATCH = 4;
/** Accepted requests beyond the refill of a bucket after which the first batch is no longer limited. */
const BEYOND_REFILL = 1.3;
const CHANCE_CALLS = 4;

/**
 * Advances the state to `now`: entries expire, a fixed window restarts, a bucket refills, limits grow when they are
 * due.
 */
export function advance(state: LimiterState, now: number): LimiterState {
  state.log.expire(now);
  const window = advanceWindow(state.window, now);
  const burst = growBurstLimit(state.burst, state.log, now);
  const isSame = window === state.window && burst === state.burst;
  const isTest = window !== state.window && window.kind === 'fixed' && window.boundary === 'testing';
  // One request tests the boundary before others are sent. While learning, it starts the assumed window again.
  const boundaryTest = isTest && {
    gate: closeGate(state.gate, window.startsAt + window.guardMs),
    hypothesis: { ...state.hypothesis, opensAt: window.startsAt },
  };
  const passed = speedBucketUp(isSame ? state : forgetEmpty({ ...state, window, burst, ...boundaryTest }), now);
  // The limit is now below the number of requests accepted since the gate opened, so nothing is left to learn.
  const isLearnt = passed.phase === 'learning' && passed.gate.accepted >= passed.limit;
  return isLearnt ? { ...passed, phase: 'known', probe: scheduleProbe(passed.probe, now) } : passed;
}

/** Grants up to `wanted` calls: the smallest number that the gate, the window and the burst limit allow. */
export function grant(
  before: LimiterState,
  { now, wanted, mayProbe }: { readonly now: number; readonly wanted: number; readonly mayProbe: boolean },
): { readonly state: LimiterState; readonly grant: Grant } {
  const state = advance(before, now);
  const opensAt = closedUntil(state);
  if (now < opensAt) return { state, grant: { count: 0, isProbe: false, askAgainAt: opensAt } };
  const room = isCareful(state) ? roomBehindGate(state) : wanted;
  const inBurst = burstSlots(state, now);
  const free = Math.min(knownSlots(state, now), cappedSlots(state, mayProbe));
  const count = Math.max(0, Math.min(wanted, room, inBurst, free));
  if (count > 0) {
    const granted = addInFlight(state, count);
    const askAgainAt = count === wanted || room <= count ? undefined : nextAskAt(granted, now, mayProbe);
    return { state: granted, grant: { count, isProbe: false, askAgainAt } };
  }
  const batch = mayProbe && shouldProbe(state, now) ? Math.min(wanted, inBurst, batchSize(state, now)) : 0;
  if (batch > 0) {
    const probing = { ...state, probe: { ...state.probe, outstanding: batch } };
    return { state: addInFlight(probing, batch), grant: { count: batch, isProbe: true, askAgainAt: undefined } };
  }
  return {
    state,
    grant: { count: 0, isProbe: false, askAgainAt: room <= 0 ? undefined : nextAskAt(state, now, mayProbe) },
  };
}

/**
 * Number of further requests that the ramp of the gate allows. After `firstBurst` requests, where the first refusal
 * was, the next refusal is most likely: there, one at a time, and more after that.
 */
function roomBehindGate(state: LimiterState): number {
  const { gate, inFlight, firstBurst, phase, unit } = state;
  const ramp = rampSize(gate, hasConfiguredLimit(state)) - inFlight;
  // One request shows whether Retry-After is in milliseconds.
  if (unit.evidence === 'on-trial') return 1 - inFlight;
  if (phase !== 'learning') return ramp;
  return Math.min(ramp, Math.max(1, Math.abs(firstBurst - gate.accepted)) - inFlight);
}

/** Whether the ramp of the gate applies: until the window is known and its limit was used once since the gate closed. */
function isCareful({ phase, gate, limit, unit }: LimiterState): boolean {
  return phase !== 'known' || unit.evidence === 'on-trial' || (gate.wasClosed && gate.accepted < limit);
}

/** Without probes: the number of requests that keep those of any minute below the configured limit, in any kind of window. */
function cappedSlots({ configured, log, inFlight }: LimiterState, mayProbe: boolean): number {
  return mayProbe ? Number.POSITIVE_INFINITY : configured - log.size - inFlight;
}

/** Time of the slot for a call with `ahead` others before it; `undefined`: after a response. */
function logSlotAt(state: LimiterState, now: number, ahead: number): number | undefined {
  return nextSlotAt({ kind: 'log' }, { ...state, limit: state.configured }, now, ahead);
}

/** Changes the number of requests in flight; negative for requests that were returned. */
export function addInFlight(state: LimiterState, calls: number): LimiterState {
  const { window } = state;
  const taken = copyState(state);
  taken.inFlight += calls;
  if (window.kind === 'bucket') taken.window = { ...window, tokens: window.tokens - calls };
  return taken;
}

/** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
export function slotAt(
  state: LimiterState,
  now: number,
  { ahead, mayProbe }: { ahead: number; mayProbe: boolean },
): number {
  const { probe, phase, window, configured } = state;
  const opensAt = Math.max(now, closedUntil(state), (mayProbe ? undefined : logSlotAt(state, now, ahead)) ?? now);
  // Before the window is known, a request beyond the limit can be accepted at any time; but without probes, none is sent.
  if (phase === 'learning' || (phase === 'unknown' && mayProbe)) return opensAt;
  const knownSlotAt = (place: number) =>
    Math.max(opensAt, nextSlotAt(advanceWindow(window, now), state, now, place) ?? opensAt);
  const isBelow = isBelowConfigured(state);
  // A share of the limit can grow soon, until a request beyond it is refused. Only the whole limit certainly does not
  // grow.
  const mayGrowSoon = mayProbe && isBelow && window.kind !== 'bucket' && !wasProbeRefused(probe);
  if (!mayGrowSoon && !(hasConfiguredLimit(state) && isBelow)) return knownSlotAt(ahead);
  const firstAt = mayGrowSoon ? Math.max(opensAt, Math.min(probe.dueAt, knownSlotAt(0))) : knownSlotAt(0);
  return firstAt + Math.floor(ahead / configured) * WINDOW_MS;
}

/** The time at which the last of `calls` further calls can be sent under the limit known now. */
export function lastSlotAt(state: LimiterState, now: number, calls: number): number {
  const { phase, window, limit, log, inFlight } = state;
  const opensAt = Math.max(now, closedUntil(state));
  if (phase === 'known' && window.kind !== 'log') {
    return Math.max(opensAt, nextSlotAt(advanceWindow(window, now), state, now, calls - 1) ?? opensAt);
  }
  // Assumes a log until the window is known.
  const missing = calls - (limit - log.size - inFlight);
  return missing <= 0 ? opensAt : Math.max(opensAt, nextLogSlotAt(state, now, missing - 1));
}

/** Number of calls that may be sent at `now` under the known limit; zero or less for none. */
export function knownSlots(state: LimiterState, now: number): number {
  const { phase, limit, gate, inFlight, window } = state;
  return phase === 'learning' ? limit - gate.accepted - inFlight : freeSlots(window, state, now);
}

/** Time at which to ask again if no response arrives earlier; `undefined`: only a response can change anything. */
function nextAskAt(state: LimiterState, now: number, mayProbe: boolean): number | undefined {
  const { phase, window, probe } = state;
  if (cappedSlots(state, mayProbe) <= 0) return logSlotAt(state, now, 0);
  const windowSlotAt = phase === 'learning' ? undefined : nextSlotAt(window, state, now);
  if (burstSlots(state, now) <= 0) {
    const inBurstAt = burstSlotAt(state, now);
    return inBurstAt === undefined ? undefined : Math.max(now + 1, windowSlotAt ?? 0, inBurstAt);
  }
  const at =
    mayProbe && mayGrow(state) ? Math.min(windowSlotAt ?? Number.POSITIVE_INFINITY, probe.dueAt) : windowSlotAt;
  return at === undefined ? undefined : Math.max(now + 1, at);
}

/** Whether to send beyond the known slots: once to learn the window, later to find capacity that others gave up. */
function shouldProbe(state: LimiterState, now: number): boolean {
  if (state.inFlight > 0) return false;
  return state.phase === 'unknown' ? hasConfiguredLimit(state) : mayGrow(state) && now >= state.probe.dueAt;
}

function mayGrow(state: LimiterState): boolean {
  return state.inFlight === 0 && state.window.kind !== 'bucket' && isBelowConfigured(state);
}

/** How many requests a probe sends. */
function batchSize({ probe, phase, limit, log, configured }: LimiterState, now: number): number {
  const batch = Math.min(probe.batch, Math.max(SMALLEST_BATCH, Math.ceil(limit / BATCH_PART)));
  if (phase === 'known') return batch;
  const extra = log.size - limit;
  const refilled = ((now - (log.oldest?.sentAt ?? now)) * configured) / WINDOW_MS;
  if (extra > BEYOND_REFILL * refilled + CHANCE_CALLS) return batch;
  // The window may be a bucket: send at most the number of requests that it can have refilled.
  return Math.min(batch, Math.max(CHANCE_CALLS, Math.floor(refilled - extra)));
}

/** Smallest number of requests in flight while no limit is known. */
const FIRST_CALLS = 4;
const MANY_CALLS = 64;
/** One more for so many accepted requests: when the limit is reached, all in flight are refused together. */
const ACCEPTED_PER_CALL = 8;
const ACCEPTED_PER_CALL_OF_KNOWN = 2;
/** Learning a window costs up to this many refusals; more must not become a busy loop. */
const REFUSALS_FOR_LEARNING = 3;
const BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 16_000;
/** Some services block a key for a fixed time and restart that time with each refused request. */
const LONGEST_LOCKOUT_MS = 300_000;

export const OPEN_GATE: Gate = {
  opensAt: Number.NEGATIVE_INFINITY,
  staleBefore: Number.NEGATIVE_INFINITY,
  wasClosed: false,
  accepted: 0,
  pressure: 0,
};

/**
 * Whether a request was sent before the last refusal or before the gate opened: its response has no new information.
 */
export function isStale({ staleBefore }: Gate, sentAt: number): boolean {
  return sentAt < staleBefore;
}

/** Keeps the gate closed until `at`, or longer if a response has asked for a longer wait. */
export function stayClosedUntil(gate: Gate, at: number): Gate {
  return at > gate.opensAt ? { ...gate, opensAt: at } : gate;
}

/**
 * Counts a refusal. If more requests are refused than accepted, the gate stays closed for longer than the service asked
 * for, and each further refusal doubles that time. `isLockedOut`: no request was accepted for more than a minute, so
 * the service may count refused requests as well.
 */
export function recordRefusal(gate: Gate, now: number, isLockedOut: boolean): Gate {
  const pressure = gate.pressure + 1;
  const doublings = pressure - REFUSALS_FOR_LEARNING;
  const longestMs = isLockedOut ? LONGEST_LOCKOUT_MS : LONGEST_BACKOFF_MS;
  const backoffMs = doublings > 0 ? Math.min(longestMs, BACKOFF_MS * 2 ** doublings) : 0;
  const opensAt = backoffMs > 0 ? Math.max(now, gate.opensAt) + backoffMs : gate.opensAt;
  return { ...gate, pressure, opensAt, staleBefore: opensAt };
}

/** Closes the gate at least until `until`. The first response after that is evidence. */
export function closeGate(gate: Gate, until: number): Gate {
  const { opensAt } = stayClosedUntil(gate, until);
  return { ...gate, opensAt, staleBefore: opensAt, wasClosed: true, accepted: 0 };
}

/** Counts an accepted request that was sent before the last refusal. */
export function reducePressure(gate: Gate): Gate {
  return { ...gate, pressure: Math.max(0, gate.pressure - 1) };
}

export function acceptBehindGate(gate: Gate): Gate {
  const { opensAt, staleBefore, wasClosed, accepted, pressure } = gate;
  // Written out for speed, as in copyState.
  return {
    opensAt,
    staleBefore,
    wasClosed,
    accepted: accepted + 1,
    pressure: Math.max(0, pressure - 1),
  };
}

/** Number of requests that may be in flight; a configured limit without a refusal needs no ramp. */
export function rampSize({ wasClosed, accepted }: Gate, isLimitKnown: boolean): number {
  if (!wasClosed && isLimitKnown) return Number.POSITIVE_INFINITY;
  const perCall = isLimitKnown ? ACCEPTED_PER_CALL_OF_KNOWN : ACCEPTED_PER_CALL;
  const ramp = Math.min(MANY_CALLS, Math.max(FIRST_CALLS, Math.floor(accepted / perCall)));
  return wasClosed ? Math.min(1 + accepted, ramp) : ramp;
}
