import { WINDOW_MS } from './accepted-log.ts';
import { isBurstPeriod, learnBurstLimit } from './burst-limit.ts';
import { STEP_MS, scheduleProbe } from './capacity-probe.ts';
import { acceptBehindGate, closeGate } from './grant.ts';
import { type Hypothesis, hasConfiguredLimit, jitterMs, type LimiterState, newHypothesis } from './limiter-state.ts';
import type { Window } from './window.ts';

/** A 429, as the functions of this file evaluate it. */
export interface Refusal {
  readonly now: number;
  readonly sentAt: number;
  /** Time at which the gate last opened before it. */
  readonly openedAt: number;
  /** The request was sent beyond the known slots, to learn. */
  readonly isProbe: boolean;
  /** `short`: the hint is about the time until one slot is free, so it is not about a whole window. */
  readonly hint: Hypothesis['hint'];
  /** 0 without a hint. */
  readonly hintMs: number;
}

/** If this part of the limit is used, the requests of this process caused the refusal. */
export const NEARLY_ALL = 0.9;
/** The log and the server's hint agree if they differ by at most this: a second of rounding and the round trip. */
const TOLERANCE_MS = 2_100;
/** Shortest time for which the gate is closed: a tiny hint must not cause a busy loop. */
const SHORTEST_GATE_MS = 250;
/** A log with fewer requests does not show the rate of the server. */
const ENOUGH_CALLS = 10;
/** Hints are rounded up to seconds, and requests take time. */
const SHORT_HINT_SLACK_MS = 1_050;
/** If the gate opens this soon after the refusal, it was that of a bucket or a limit per second, not of a minute. */
const SHORT_TRIAL_MS = 2_500;
/** Part of the limit that must be accepted in a row to confirm a window. */
const ENOUGH_OF_LIMIT = 0.1;
/** Accepted requests beyond the refill of a bucket that can be a coincidence. */
const CHANCE_CALLS = 2;
/** Part of the configured limit below which a first burst shows only the capacity of a bucket. */
const SMALL_BURST = 0.1;
/** Part of the limit below which many others use the key: the number of own requests is then a coincidence. */
const SMALLEST_SHARE = 1 / 16;
/** If the hint is a whole minute, at most so many accepted requests are taken for the capacity of a bucket. */
const FEW_CALLS = 5;
/** Part of the requests accepted at once that may be sent at once if the others are sent at equal intervals. */
const EVEN_BURST = 0.25;
/** If less than half of a fixed window can be used, a log is better. */
const LONGEST_GUARD_MS = WINDOW_MS / 2;
/** A measured refill is slightly too high: the last request was sent before the bucket was empty. */
const MEASURED_RATE = 0.95;
/**
 * Waits without a usable hint: multiplied by a factor for each try, up to the longest. A process that has used the
 * whole limit by itself has less to learn.
 */
const TRY_FACTOR = 2;
const TRY_FACTOR_OF_WHOLE = 3;
const LONGEST_TRY_OF_WHOLE_MS = 27_000;
const FIRST_TRY_MS = 1_000;
const LONGEST_TRY_MS = 16_000;

/** The longest hint that can mean one slot of a bucket. */
export function shortHintMs(state: LimiterState): number {
  const { log, limit, configured } = state;
  const perMinute = hasConfiguredLimit(state) ? configured : limit;
  const rate = log.size >= ENOUGH_CALLS ? Math.min(perMinute, log.size) : perMinute;
  return Math.ceil(WINDOW_MS / rate / 1000) * 1000 + SHORT_HINT_SLACK_MS;
}

export function kindOfHint(state: LimiterState, hintMs: number | undefined): Refusal['hint'] {
  if (hintMs === undefined) return 'none';
  return hintMs <= shortHintMs(state) ? 'short' : 'long';
}

/** Sets a learned limit or share, at least 1. */
export function withLimit(state: LimiterState, calls: number): LimiterState {
  return { ...state, limit: Math.max(1, calls) };
}

/** Sets the kind of window, which is known from now on. */
export function settleWindow(state: LimiterState, window: Window, now: number): LimiterState {
  // Each probe of a bucket costs a refusal.
  const dueAt = window.kind === 'bucket' ? now + STEP_MS : now;
  const probe = { ...scheduleProbe(state.probe, dueAt), emptyAt: now, acceptedAtEmpty: state.gate.accepted };
  return { ...state, phase: 'known', window, probe };
}

export function relearn(state: LimiterState, refusal: Refusal): LimiterState {
  const { now } = refusal;
  return suppose({ ...state, phase: 'learning', hypothesis: newHypothesis(now) }, refusal);
}

/** A refusal before anything is known: the requests accepted so far are the limit, or this process's share of it. */
export function refuseUnknown(state: LimiterState, refusal: Refusal): LimiterState {
  const { log } = state;
  const { isProbe, hint } = refusal;
  // The refusal does not show the limit if the request was a probe beyond the known slots, if its hint is short and
  // gives only the next slot, or if few requests were accepted before it.
  const saysLimit = !isProbe && (hint === 'long' || (hint === 'none' && log.size >= ENOUGH_CALLS));
  const learned = saysLimit ? { ...withLimit(state, log.size), countsLateResponses: true } : state;
  return relearn({ ...learned, firstBurst: log.size }, refusal);
}

/** A refusal after the gate opened: it shows a bucket, a limit for bursts, or a smaller limit than assumed. */
export function refuseLearning(before: LimiterState, refusal: Refusal): LimiterState {
  const { now, openedAt } = refusal;
  const { gate, hypothesis, log } = before;
  const sinceExhaustedMs = now - hypothesis.exhaustedAt;
  const state = { ...before, hypothesis: { ...hypothesis, exhaustedAt: now } };
  // The gate has opened, and its first request was refused.
  if (gate.accepted === 0) return suppose(state, refusal);
  const isSoon = refusal.hint !== 'long';
  const isShortTrial = wasShortTrial(hypothesis);
  if (!isSoon && !isShortTrial && waitsForOwn(state, refusal)) return learnLog(state, now);
  if (isBucket(state, refusal, sinceExhaustedMs)) return becomeBucket(state, now, sinceExhaustedMs);
  if (isSoon && isShortTrial) {
    return limitBursts(state, { calls: log.acceptedSince(now - 1_000), periodMs: 1_000, refusal });
  }
  const periodMs = burstPeriodMs(openedAt, refusal);
  if (!isSoon && periodMs !== undefined) return limitBursts(state, { calls: gate.accepted, periodMs, refusal });
  if (isRefusedBelowLimit(state, refusal, gate.accepted)) return sendEvenly(state, refusal, gate.accepted);
  // The requests accepted since the gate opened are the limit, or this process's share of it.
  return relearn(withLimit(state, gate.accepted), refusal);
}

/** Whether the hint of a refusal is the time until our own oldest request expires: the window is then a log. */
export function waitsForOwn({ log: { oldest } }: LimiterState, { now, hint, hintMs }: Refusal): boolean {
  if (hint === 'none' || oldest === undefined) return false;
  const at = gateAfter(now, hintMs);
  return at >= oldest.sentAt + WINDOW_MS - TOLERANCE_MS && at <= oldest.respondedAt + WINDOW_MS + TOLERANCE_MS;
}

/** All our requests of the last minute are the limit: some of them used slots of others, which expired meanwhile. */
export function learnLog(state: LimiterState, now: number): LimiterState {
  return settleWindow(withLimit(state, Math.min(state.configured, state.log.size)), { kind: 'log' }, now);
}

/** The time from `startedAt` to the slot that the refusal names, if that is shorter than a minute. */
export function burstPeriodMs(startedAt: number, { now, hint, hintMs }: Refusal): number | undefined {
  const periodMs = now + hintMs - startedAt;
  return hint !== 'none' && isBurstPeriod(periodMs) ? periodMs : undefined;
}

/** A request accepted after the gate opened. */
export function acceptLearning(before: LimiterState, { now, sentAt }: { now: number; sentAt: number }): LimiterState {
  const { hypothesis } = before;
  const isFirst = before.gate.accepted === 0;
  let state: LimiterState = { ...before, gate: acceptBehindGate(before.gate) };
  if (isFirst && hypothesis.isOwnSlot) return settleWindow(state, { kind: 'log' }, now);
  if (isFirst) state = supposeFixed(state, sentAt);
  const { gate, limit } = state;
  const isTooManyForBucket = gate.accepted > refilledIn(now - hypothesis.exhaustedAt, state) + CHANCE_CALLS;
  const isShortTrial = wasShortTrial(hypothesis);
  if (isShortTrial && isTooManyForBucket) state = { ...state, limit: state.configured };
  const isEnough = isTooManyForBucket && gate.accepted >= ENOUGH_OF_LIMIT * limit;
  const isSettled = (isEnough && !isShortTrial) || gate.accepted >= state.limit;
  return isSettled ? settleWindow(state, state.window, now) : state;
}

/** The server has a second limit for shorter periods: learns that limit, and starts learning the minute again. */
export function limitBursts(
  state: LimiterState,
  { calls, periodMs, refusal }: { readonly calls: number; readonly periodMs: number; readonly refusal: Refusal },
): LimiterState {
  const { now, hintMs } = refusal;
  return {
    ...state,
    burst: learnBurstLimit(state.burst, { calls, periodMs, now }),
    phase: 'unknown',
    window: { kind: 'log' },
    limit: state.configured,
    countsLateResponses: false,
    probe: scheduleProbe(state.probe, now),
    gate: closeGate(state.gate, now + hintMs),
  };
}

/**
 * Closes the gate for a refusal, and records which hypothesis its opening tests. If our own log explains the hint, the
 * window is known immediately: a log, in which a request expires after a minute.
 */
function suppose(state: LimiterState, refusal: Refusal): LimiterState {
  const { now, hint, hintMs } = refusal;
  if (hint === 'none') return tryWithoutHint(state, now);
  if (waitsForOwn(state, refusal)) return settleWindow(state, { kind: 'log' }, now);
  const opensAt = gateAfter(now, hintMs);
  return {
    ...state,
    hypothesis: { ...state.hypothesis, hint, isOwnSlot: false, opensAt },
    gate: closeGate(state.gate, opensAt),
  };
}

/** Without a hint: the earlier of a backoff and the end of our own oldest request. */
function tryWithoutHint(state: LimiterState, now: number): LimiterState {
  const { hypothesis, log } = state;
  const ownSlotAt = log.expiresAt(0) ?? Number.POSITIVE_INFINITY;
  const [factor, longestMs] = hasWholeLimit(state)
    ? [TRY_FACTOR_OF_WHOLE, LONGEST_TRY_OF_WHOLE_MS]
    : [TRY_FACTOR, LONGEST_TRY_MS];
  const backoffAt = now + Math.min(longestMs, FIRST_TRY_MS * factor ** hypothesis.tries);
  const opensAt = Math.min(backoffAt, ownSlotAt);
  return {
    ...state,
    hypothesis: {
      ...hypothesis,
      hint: 'none',
      isOwnSlot: opensAt === ownSlotAt,
      opensAt,
      tries: hypothesis.tries + 1,
    },
    gate: closeGate(state.gate, opensAt),
  };
}

/**
 * Assumes a fixed window that started when the gate opened; the guard covers the uncertainty of its start. If no
 * request was sent for long, assumes a log: a guard of a minute would never allow a request, and a log fits any window.
 */
function supposeFixed(state: LimiterState, sentAt: number): LimiterState {
  const { hypothesis } = state;
  const startsAt = hypothesis.opensAt;
  const guardMs = hypothesis.hint === 'long' ? 0 : sentAt + jitterMs(state) - startsAt;
  return {
    ...state,
    hypothesis: { ...hypothesis, tries: 0 },
    window: guardMs <= LONGEST_GUARD_MS ? { kind: 'fixed', startsAt, guardMs, boundary: 'assumed' } : { kind: 'log' },
  };
}

/**
 * Whether the server asks for a long wait although fewer requests were accepted than the limit allows, in the window
 * (`accepted`) and in the last minute.
 */
export function isRefusedBelowLimit(state: LimiterState, { hint, hintMs }: Refusal, accepted: number): boolean {
  const { log, configured } = state;
  if (hint !== 'long' || !hasConfiguredLimit(state)) return false;
  if (accepted >= NEARLY_ALL * configured || NEARLY_ALL * log.size > configured) return false;
  const isFew = log.size > 0 && log.size <= FEW_CALLS;
  return log.size >= SMALLEST_SHARE * configured || (isFew && hintMs >= WINDOW_MS);
}

/**
 * Sends requests at equal intervals, like a small bucket: at the rate of the last minute first, then faster until a
 * refusal. A server that also counts the previous window, or that has a bucket and asks for a wait of a whole minute,
 * then refuses nothing. If others use the key, the rate is the share of this process.
 */
export function sendEvenly(state: LimiterState, { now, hintMs }: Refusal, accepted: number): LimiterState {
  const at = now + hintMs;
  const perMs = Math.min(state.configured, state.log.size) / WINDOW_MS;
  const window: Window = { kind: 'bucket', perMs, capacity: Math.max(1, EVEN_BURST * accepted), tokens: 1, at };
  return settleWindow({ ...state, gate: closeGate(state.gate, at) }, window, at);
}

/** Whether the server accepted only as many requests as a bucket refills. */
function isBucket(state: LimiterState, refusal: Refusal, sinceExhaustedMs: number): boolean {
  // Some servers round hints up to 5 or 10 s.
  const isCoarse =
    burstPeriodMs(refusal.openedAt, refusal) !== undefined && (hasWholeLimit(state) || isSmallBurst(state));
  return (refusal.hint !== 'long' || isCoarse) && state.gate.accepted <= refilledIn(sinceExhaustedMs, state);
}

function becomeBucket(state: LimiterState, now: number, sinceExhaustedMs: number): LimiterState {
  const { log, gate, configured, firstBurst } = state;
  const spanMs = now - (log.oldest?.sentAt ?? now);
  const configuredPerMs = configured / WINDOW_MS;
  const measured = Math.max(log.size / (WINDOW_MS + spanMs), (MEASURED_RATE * gate.accepted) / sinceExhaustedMs);
  // A small burst shows the capacity of the bucket, not its rate.
  const perMs = hasWholeLimit(state) || isSmallBurst(state) ? configuredPerMs : Math.min(configuredPerMs, measured);
  const at = now + jitterMs(state);
  const window: Window = { kind: 'bucket', perMs, capacity: Math.max(1, firstBurst), tokens: 0, at };
  return settleWindow(state, window, now);
}

/** Whether the first refusal came after nearly the whole configured limit: this process then has all of it. */
function hasWholeLimit({ firstBurst, configured }: LimiterState): boolean {
  return firstBurst >= NEARLY_ALL * configured;
}

function isSmallBurst(state: LimiterState): boolean {
  return hasConfiguredLimit(state) && state.firstBurst < SMALL_BURST * state.configured;
}

/** Requests that a bucket can have refilled in `ms`, with the one that was in flight. */
function refilledIn(ms: number, state: LimiterState): number {
  const { limit, configured, firstBurst, roundTrips } = state;
  const perMinute = Math.min(limit, hasConfiguredLimit(state) ? configured : firstBurst);
  return 1 + ((ms + roundTrips.longestMs) * perMinute) / WINDOW_MS;
}

function wasShortTrial({ opensAt, startedAt }: Hypothesis): boolean {
  return opensAt - startedAt <= SHORT_TRIAL_MS;
}

function gateAfter(now: number, hintMs: number): number {
  return now + Math.max(hintMs, SHORTEST_GATE_MS);
}
