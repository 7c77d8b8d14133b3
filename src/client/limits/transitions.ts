import { AcceptedLog, WINDOW_MS } from './accepted-log.ts';
import { isBurstRefusal, NO_BURST_LIMIT, shrinkBurstLimit } from './burst-limit.ts';
import { acceptProbe, FIRST_PROBE, scheduleProbe } from './capacity-probe.ts';
import {
  acceptBehindGate,
  advance,
  closeGate,
  isStale,
  OPEN_GATE,
  recordRefusal,
  stayClosedUntil,
  take,
} from './grant.ts';
import { refuseKnown } from './known-window.ts';
import { acceptLearning, NEARLY_ALL, refuseLearning, refuseUnknown, shortHintMs } from './learn-window.ts';
import { copyState, hasConfiguredLimit, type LimiterState, newHypothesis } from './limiter-state.ts';
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
  unitOf,
  weighAcceptance,
  weighRefusal,
} from './retry-after.ts';

/** `Date` headers have no finer grain. */
const DATE_GRAIN_MS = 1_000;
/** Once a day one request is sent although the service asked for a longer wait: a plan can change. */
const BLOCKED_AT_MOST_MS = 86_400_000;

/** When a granted request was sent and answered. */
export interface Answer {
  readonly now: number;
  readonly sentAt: number;
  /** As it was granted. */
  readonly probe: boolean;
}

/** With the `Date` header. */
export interface DatedAnswer extends Answer {
  readonly date?: string | undefined;
}

/** A 429. */
export interface RefusedAnswer extends DatedAnswer {
  readonly retryAfter?: string | undefined;
  /** Sent by a process while the shared store failed: says nothing about the limit that all processes share. */
  readonly isOfShare?: boolean | undefined;
}

/** What a Retry-After asks for. */
export interface RetryAfterReading {
  /** Milliseconds to wait from the answer on; `undefined` without a usable header. */
  readonly waitMs: number | undefined;
  readonly unit: RetryAfterUnit;
  readonly evidence: UnitEvidence;
}

export interface UnitOptions {
  readonly maxRetryAfterMs: number;
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

/** Nothing sent yet. `perMinute`: the configured limit, Infinity for none. */
export function initialState(perMinute: number): LimiterState {
  return {
    configured: perMinute,
    configuredAt: Number.NEGATIVE_INFINITY,
    isContradicted: false,
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
    knownSince: 0,
    firstBurst: 0,
    isWhole: false,
    countsLateAnswers: false,
    blockedUntil: Number.NEGATIVE_INFINITY,
    log: new AcceptedLog(),
  };
}

/** The server accepted a request. */
export function accepted(before: LimiterState, answer: DatedAnswer): LimiterState {
  const { now, sentAt, probe } = answer;
  const ended = endCall(observe(before, answer));
  log(ended, answer);
  ended.unit = weighAcceptance(ended.unit, sentAt);
  if (isStale(ended.gate, sentAt)) {
    if (ended.countsLateAnswers) ended.limit = Math.min(ended.configured, ended.limit + 1);
    return ended;
  }
  if (ended.phase !== 'learning') ended.gate = acceptBehindGate(ended.gate);
  const state = ended.phase === 'learning' ? acceptLearning(ended, { now, sentAt }) : confirmBoundary(ended, now);
  if (!probe) return state;
  const grows = state.phase === 'known' && state.window.kind !== 'bucket';
  const limit = grows ? Math.min(state.configured, state.limit + 1) : state.limit;
  return { ...state, limit, probe: acceptProbe(state.probe) };
}

/** The server refused a request for the rate (429). */
export function refused(
  before: LimiterState,
  answer: RefusedAnswer,
  options: UnitOptions,
): { readonly state: LimiterState; readonly reading: RetryAfterReading } {
  const { now, sentAt, probe: isProbe } = answer;
  const { unit, reading } = readRetryAfter(before, answer, options);
  const { waitMs: hintMs } = reading;
  const isContradicted = before.isContradicted || before.log.size < NEARLY_ALL * before.configured;
  let state: LimiterState = { ...observe(before, answer), unit, isContradicted };
  if (hintMs !== undefined && hintMs > options.maxRetryAfterMs) {
    // It concerns a longer quota than the window's limit, so it proves nothing about the window.
    const blockedUntil = Math.max(state.blockedUntil, now + Math.min(hintMs, BLOCKED_AT_MOST_MS));
    return { state: { ...take(state, -1), blockedUntil }, reading };
  }
  state = advance(endCall(state), now);
  const openedAt = state.gate.opensAt;
  const wasStale = isStale(state.gate, sentAt);
  const opensAt = now + (hintMs ?? 0);
  if (answer.isOfShare) return { state: { ...state, gate: closeGate(state.gate, opensAt) }, reading };
  state = { ...state, gate: stayClosedUntil(state.gate, opensAt) };
  // Sent before the last refusal or before the gate opened: that refusal has been handled.
  if (wasStale) return { state, reading };
  if (isBurstRefusal(state.burst, state.log, { now, hintMs })) {
    return { state: { ...state, burst: shrinkBurstLimit(state.burst, now) }, reading };
  }
  state = { ...state, gate: recordRefusal(state.gate, now) };
  const isShort = hintMs !== undefined && hintMs <= shortHintMs(state);
  const refusal = { now, sentAt, openedAt, isProbe, hintMs, isShort };
  if (state.phase === 'unknown') return { state: refuseUnknown(state, refusal), reading };
  state = { ...state, countsLateAnswers: false };
  return { state: (state.phase === 'learning' ? refuseLearning : refuseKnown)(state, refusal), reading };
}

/** No answer, or one that does not say whether the server counted the request: it may have. */
export function lost(state: LimiterState, answer: Answer): LimiterState {
  log(state, answer);
  return endCall(state);
}

/** A request is no longer in flight. Only those in flight are owed to a bucket: it is never below empty. */
function endCall(state: LimiterState): ReturnType<typeof copyState> {
  const { window } = state;
  const ended = copyState(state);
  ended.inFlight -= 1;
  if (window.kind === 'bucket' && window.tokens < -ended.inFlight)
    ended.window = { ...window, tokens: 0 - ended.inFlight };
  return ended;
}

/** Granted and then not sent. */
export function unused(state: LimiterState): LimiterState {
  return take(state, -1);
}

/** The limit of the plan became known, or has changed. */
export function configured(before: LimiterState, perMinute: number, now: number): LimiterState {
  const state = { ...before, configuredAt: now, isContradicted: false };
  if (perMinute === state.configured) return state;
  const { phase, limit, window, probe } = state;
  const isWhole = limit === state.configured && perMinute > limit;
  const isRaised = perMinute > state.configured;
  return {
    ...state,
    configured: perMinute,
    limit: phase === 'unknown' || limit > perMinute || isWhole ? perMinute : limit,
    window:
      isWhole && window.kind === 'bucket'
        ? { ...window, perMs: (window.perMs * perMinute) / state.configured }
        : window,
    // After the limit was raised, a share of it may grow at once.
    probe: isRaised ? scheduleProbe(probe, 0) : probe,
  };
}

/** A fixed window is confirmed when the server accepts a request while a log would certainly be full. */
function confirmBoundary(state: LimiterState, now: number): LimiterState {
  const { window, log, limit, roundTrips } = state;
  if (window.kind !== 'fixed' || window.boundary !== 'testing') return state;
  // The server may have counted a request when it was sent.
  const stillCounted = log.answeredSince(now - WINDOW_MS + roundTrips.longestMs);
  return stillCounted > limit ? { ...state, window: { ...window, boundary: 'confirmed' } } : state;
}

/** Reads Retry-After and learns its unit. */
function readRetryAfter(
  state: LimiterState,
  { retryAfter, date, sentAt, now }: RefusedAnswer,
  { retryAfterUnit }: UnitOptions,
) {
  const parsed = parseRetryAfter(retryAfter);
  const unitState = retryAfterUnit === 'auto' ? weighRefusal(state.unit, parsed, { sentAt, now }) : state.unit;
  const unit = parsed?.form === 'integer' ? unitOf(unitState, parsed.value, retryAfterUnit) : 'seconds';
  const waitMs = retryAfterMs(parsed, { unit, date, serverNowMs: serverNow(state.serverAhead, now) });
  const evidence: UnitEvidence = retryAfterUnit === 'auto' ? unitState.evidence : 'set';
  return { unit: unitState, reading: { waitMs, unit, evidence } };
}

/** What the time of an answer and its `Date` header say. */
function observe(state: LimiterState, { now, sentAt, date }: DatedAnswer): LimiterState {
  const { roundTrips, datedAt } = state;
  const tookMs = now - sentAt;
  const isUsual = tookMs >= roundTrips.shortestMs && tookMs <= roundTrips.longestMs;
  const isDated = date !== undefined && now - datedAt >= DATE_GRAIN_MS;
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

function log(state: LimiterState, { now, sentAt }: Answer): void {
  state.log.expire(now);
  state.log.add(sentAt, now);
}

/** Requests per minute of the smallest plan (SERVICE.md, Limits). */
const SMALLEST_LIMIT = 30;
/** While calls wait, the plan's limit is read again after this time: it can have grown. */
const LIMIT_IS_OLD_MS = 120_000;

/**
 * Whether the plan's limit is worth a request that asks for it: unknown, contradicted by a refusal, or read long ago. Not
 * for a single call, nor for as few as every plan allows: the question would take the slot of one of them.
 */
export function isLimitWanted(
  state: LimiterState,
  { now, waiting }: { readonly now: number; readonly waiting: number },
): boolean {
  const calls = waiting + state.inFlight;
  const isMuch = state.phase !== 'unknown' || calls + state.log.size > SMALLEST_LIMIT;
  if (waiting === 0 || calls <= 1 || !isMuch) return false;
  const isKnown = hasConfiguredLimit(state) && !state.isContradicted;
  return !isKnown || now - state.configuredAt >= LIMIT_IS_OLD_MS;
}
