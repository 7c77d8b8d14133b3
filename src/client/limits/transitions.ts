import { AcceptedLog, WINDOW_MS } from './accepted-log.ts';
import { isBurstRefusal, learnBurstLimit, NO_BURST_LIMIT } from './burst-limit.ts';
import { acceptProbe, FIRST_PROBE, scheduleProbe } from './capacity-probe.ts';
import {
  acceptBehindGate,
  addInFlight,
  advance,
  closeGate,
  isStale,
  OPEN_GATE,
  recordRefusal,
  reducePressure,
  stayClosedUntil,
} from './grant.ts';
import { refuseKnown } from './known-window.ts';
import { acceptLearning, kindOfHint, NEARLY_ALL, refuseLearning, refuseUnknown } from './learn-window.ts';
import { copyState, type LimiterState, newHypothesis } from './limiter-state.ts';
import {
  observeServerDate,
  parseHttpDate,
  parseRetryAfter,
  type RetryAfterUnit,
  retryAfterMs,
  serverNow,
  UNKNOWN_SERVER_CLOCK,
  UNKNOWN_UNIT,
  type UnitEvidence,
  type UnitState,
  unitOf,
  weighAcceptance,
  weighRefusal,
} from './retry-after.ts';

/** `Date` headers have whole seconds. */
const DATE_GRAIN_MS = 1_000;
/** One request per day is sent even if the service asked for a longer wait, because a plan can change. */
const BLOCKED_AT_MOST_MS = 86_400_000;

/** The result of a granted request. */
export interface RequestResult {
  readonly now: number;
  readonly sentAt: number;
  /** Whether it was granted as a probe. */
  readonly isProbe: boolean;
  readonly date?: string | null | undefined;
  readonly retryAfter?: string | null | undefined;
  /** Whether the process sent it while the shared store failed: a refusal then says nothing about the shared limit. */
  readonly isOfShare?: boolean | undefined;
}

/**
 * What a process reports: for every call granted, one result; and a limit of the plan that became known.
 * - `accepted`: any response except a refusal for the rate (429): the server counted the request.
 * - `lost`: the server may have counted it. `unused`: it was not sent.
 */
export type Report =
  | (RequestResult & { readonly kind: 'accepted' | 'refused' | 'lost' | 'unused' })
  | { readonly kind: 'configured'; readonly perMinute: number; readonly now: number };

/** The meaning of a Retry-After. */
export interface RetryAfterReading {
  /** Milliseconds to wait after the response; `undefined` without a usable header. */
  readonly waitMs: number | undefined;
  readonly unit: RetryAfterUnit;
  readonly evidence: UnitEvidence;
}

export interface RetryAfterOptions {
  /** Longest Retry-After to wait for. Default: 75 000 ms. */
  readonly maxRetryAfterMs: number;
  /**
   * The unit of an integer Retry-After; `'auto'` is seconds unless the responses show milliseconds. Default: `'auto'`.
   */
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

/** The state before the first request. `perMinute`: the configured limit, Infinity for none. */
export function initialState(perMinute: number): LimiterState {
  return {
    configured: perMinute,
    configuredAt: Number.NEGATIVE_INFINITY,
    limit: perMinute,
    inFlight: 0,
    phase: 'unknown',
    window: { kind: 'log' },
    hypothesis: newHypothesis(0),
    gate: OPEN_GATE,
    probe: FIRST_PROBE,
    burst: NO_BURST_LIMIT,
    unit: UNKNOWN_UNIT,
    roundTrips: { shortestMs: Number.POSITIVE_INFINITY, longestMs: 0 },
    serverAhead: UNKNOWN_SERVER_CLOCK,
    datedAt: Number.NEGATIVE_INFINITY,
    firstBurst: 0,
    countsLateResponses: false,
    blockedUntil: Number.NEGATIVE_INFINITY,
    log: new AcceptedLog(),
  };
}

export function applyReport(state: LimiterState, report: Report, options: RetryAfterOptions): LimiterState {
  switch (report.kind) {
    case 'accepted':
      return accepted(state, report);
    case 'refused':
      return refused(state, report, options);
    case 'lost':
      return lost(state, report);
    case 'unused':
      return addInFlight(state, -1);
    case 'configured':
      return configured(state, report.perMinute, report.now);
  }
}

/** The server accepted a request. */
export function accepted(before: LimiterState, result: RequestResult): LimiterState {
  const { now, sentAt, isProbe } = result;
  const ended = endCall(observe(before, result));
  log(ended, result);
  ended.unit = weighAcceptance(ended.unit, sentAt);
  if (isStale(ended.gate, sentAt)) {
    ended.gate = reducePressure(ended.gate);
    if (ended.countsLateResponses) ended.limit = Math.min(ended.configured, ended.limit + 1);
    return ended;
  }
  if (ended.phase !== 'learning') ended.gate = acceptBehindGate(ended.gate);
  const state = ended.phase === 'learning' ? acceptLearning(ended, { now, sentAt }) : confirmBoundary(ended, now);
  if (!isProbe) return state;
  const grows = state.phase === 'known' && state.window.kind !== 'bucket';
  const limit = grows ? Math.min(state.configured, state.limit + 1) : state.limit;
  return { ...state, limit, probe: acceptProbe(state.probe) };
}

/** The server refused a request for the rate (429). */
export function refused(before: LimiterState, result: RequestResult, options: RetryAfterOptions): LimiterState {
  const { now, sentAt, isProbe } = result;
  const { unit, reading } = readRetryAfter(before, result, options);
  const { waitMs: hintMs } = reading;
  const isContradicted = before.log.size < NEARLY_ALL * before.configured;
  const configuredAt = isContradicted ? Number.NEGATIVE_INFINITY : before.configuredAt;
  let state: LimiterState = { ...observe(before, result), unit, configuredAt };
  if (hintMs !== undefined && hintMs > options.maxRetryAfterMs) {
    // It is about a longer quota than the limit of the window, so it is no evidence about the window.
    const blockedUntil = Math.max(state.blockedUntil, now + Math.min(hintMs, BLOCKED_AT_MOST_MS));
    return { ...addInFlight(state, -1), blockedUntil };
  }
  state = advance(endCall(state), now);
  const openedAt = state.gate.opensAt;
  const wasStale = isStale(state.gate, sentAt);
  const opensAt = now + (hintMs ?? 0);
  if (result.isOfShare) return { ...state, gate: closeGate(state.gate, opensAt) };
  state = { ...state, gate: stayClosedUntil(state.gate, opensAt) };
  // The request was sent before the last refusal or before the gate opened: that refusal is already evaluated.
  if (wasStale) return state;
  if (isBurstRefusal(state, { now, hintMs })) {
    const { proven: calls, periodMs } = state.burst;
    return { ...state, burst: learnBurstLimit(state.burst, { calls, periodMs, now }) };
  }
  state = { ...state, gate: recordRefusal(state.gate, now, state.log.size === 0) };
  const refusal = { now, sentAt, openedAt, isProbe, hint: kindOfHint(state, hintMs), hintMs: hintMs ?? 0 };
  if (state.phase === 'unknown') return refuseUnknown(state, refusal);
  state = { ...state, countsLateResponses: false };
  return (state.phase === 'learning' ? refuseLearning : refuseKnown)(state, refusal);
}

/** No response, or one that does not show whether the server counted the request: it may have. */
export function lost(state: LimiterState, result: RequestResult): LimiterState {
  log(state, result);
  return endCall(state);
}

/** A request is no longer in flight. Only requests in flight can make the tokens of a bucket negative. */
function endCall(state: LimiterState): ReturnType<typeof copyState> {
  const { window } = state;
  const ended = copyState(state);
  ended.inFlight -= 1;
  if (window.kind === 'bucket' && window.tokens < -ended.inFlight)
    ended.window = { ...window, tokens: 0 - ended.inFlight };
  return ended;
}

/** The limit of the plan became known, or has changed. */
export function configured(before: LimiterState, perMinute: number, now: number): LimiterState {
  const state = { ...before, configuredAt: now };
  const { limit, window, probe } = state;
  const growth = perMinute / state.configured;
  const isRaised = growth > 1;
  const isWhole = isRaised && limit === state.configured;
  return {
    ...state,
    configured: perMinute,
    limit: limit > perMinute || isWhole ? perMinute : limit,
    window:
      window.kind === 'bucket'
        ? { ...window, perMs: Math.min(perMinute / WINDOW_MS, isWhole ? window.perMs * growth : window.perMs) }
        : window,
    // After the limit was raised, a share of it may grow immediately.
    probe: isRaised ? scheduleProbe(probe, 0) : probe,
  };
}

/** A fixed window is confirmed when the server accepts a request while a log would certainly be full. */
function confirmBoundary(state: LimiterState, now: number): LimiterState {
  const { window, log, limit, roundTrips } = state;
  if (window.kind !== 'fixed' || window.boundary !== 'testing') return state;
  // The server may have counted a request when it was sent.
  const stillCounted = log.acceptedSince(now - WINDOW_MS + roundTrips.longestMs);
  return stillCounted > limit ? { ...state, window: { ...window, boundary: 'confirmed' } } : state;
}

/** Reads the Retry-After of a refusal, and learns its unit. */
export function readRetryAfter(
  state: LimiterState,
  { retryAfter, date, sentAt, now }: RequestResult,
  { retryAfterUnit }: RetryAfterOptions,
): { readonly unit: UnitState; readonly reading: RetryAfterReading } {
  const parsed = parseRetryAfter(retryAfter);
  const learned = retryAfterUnit === 'auto' ? weighRefusal(state.unit, parsed, { sentAt, now }) : state.unit;
  const unit = parsed?.form === 'integer' ? unitOf(learned, retryAfterUnit, parsed.value) : 'seconds';
  const waitMs = retryAfterMs(parsed, { unit, date, serverNowMs: serverNow(state.serverAhead, now) });
  const evidence = retryAfterUnit === 'auto' ? learned.evidence : 'set';
  return { unit: learned, reading: { waitMs, unit, evidence } };
}

/** Evaluates the time of a response and its `Date` header. */
function observe(state: LimiterState, { now, sentAt, date }: RequestResult): LimiterState {
  const { roundTrips, datedAt } = state;
  const tookMs = now - sentAt;
  const isUsual = tookMs >= roundTrips.shortestMs && tookMs <= roundTrips.longestMs;
  const isDated = typeof date === 'string' && now - datedAt >= DATE_GRAIN_MS;
  if (isUsual && !isDated) return state;
  const serverDate = isDated ? parseHttpDate(date) : undefined;
  return {
    ...state,
    roundTrips: {
      shortestMs: Math.min(roundTrips.shortestMs, tookMs),
      longestMs: Math.max(roundTrips.longestMs, tookMs),
    },
    datedAt: serverDate === undefined ? datedAt : now,
    serverAhead:
      serverDate === undefined ? state.serverAhead : observeServerDate(state.serverAhead, serverDate, { sentAt, now }),
  };
}

function log(state: LimiterState, { now, sentAt }: RequestResult): void {
  state.log.expire(now);
  state.log.add(sentAt, now);
}

/** Requests per minute of the smallest plan. */
const SMALLEST_LIMIT = 30;
/** While calls wait, the limit of the plan is read again after this time, because it can have grown. */
const LIMIT_IS_OLD_MS = 120_000;

/**
 * Whether to call `quota()` for the limit of the plan: it is unknown, contradicted by a refusal, or was read long ago.
 * Not for a single call, nor for as few as every plan allows: `quota()` would use the slot of one of them.
 */
export function isLimitWanted(
  state: LimiterState,
  { now, waiting }: { readonly now: number; readonly waiting: number },
): boolean {
  const calls = waiting + state.inFlight;
  const mayExceedSmallestPlan = state.phase !== 'unknown' || calls + state.log.size > SMALLEST_LIMIT;
  if (waiting === 0 || calls <= 1 || !mayExceedSmallestPlan) return false;
  return now - state.configuredAt >= LIMIT_IS_OLD_MS;
}
