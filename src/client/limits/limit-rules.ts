import type { RetryAfter } from '../errors/errors.ts';
import { backoffMs } from '../time/clock.ts';
import {
  addInFlight,
  type Gate,
  isUnknown,
  LARGEST_RAMP,
  type LimiterSettings,
  type LimiterState,
  LONG_AGO,
  LONGEST_WAIT_MS,
  lowIntervalMs,
  type Pace,
  UNBOUNDED,
  WINDOW_MS,
} from './limit-state.ts';
import { isTried, type RetryAfterUnit, retryAfterMs, type UnitState, unitOf } from './retry-after.ts';

/** The result of a granted request. */
export interface RequestResult {
  readonly now: number;
  readonly sentAt: number;
  /** That of a refusal. */
  readonly retryAfter?: RetryAfter | undefined;
}

/**
 * What a process reports: for every call granted, one result; a limit of the plan that became known; and that a call of normal
 * or high priority has arrived, at most once a second.
 * - `accepted`: any response except a refusal for the rate (429): the service counted the request.
 * - `lost`: the service may have counted it. `unused`: it was not sent, or did not reach the service.
 */
export type Report =
  | (RequestResult & { readonly kind: 'accepted' | 'refused' | 'lost' | 'unused' })
  | { readonly kind: 'configured'; readonly perMinute: number; readonly now: number }
  | { readonly kind: 'called'; readonly now: number };

/** The meaning of the Retry-After of a refusal. */
export interface RetryAfterReading {
  /** Milliseconds to wait after the response; `undefined` without a usable header. */
  readonly waitMs: number | undefined;
  readonly unit: RetryAfterUnit;
  readonly evidence: UnitState['evidence'] | 'set';
}

/** From this part of the limit on, the requests of this process explain a refusal. */
const NEARLY_ALL = 0.9;
/** Rounding to seconds, and half of the round trip. */
const ROUNDING_MS = 1_050;
/** If a refusal blocks all calls for longer than a window, a test costs more than it can save. */
const TEST_AFTER_BLOCK_MS = 3_600_000;
/** Others that a refusal shows twice within this time are expected to call for so long. */
const OTHERS_GO_ON_MS = 8 * WINDOW_MS;
/** A tiny hint must not cause a busy loop. */
const SHORTEST_GATE_MS = 250;
/** Waits without a hint, and after several refusals in a row. */
const GATE_BACKOFF = { firstMs: 1_000, longestMs: 16_000 };
/** Longest time without a request that tests the service, unless it has refused one for longer. */
export const LONGEST_BACKOFF_MS = 300_000;
/** Without a hint, if nothing was accepted for a minute: the service may count refused requests as well. */
const LOCKOUT_BACKOFF = { firstMs: 1_000, longestMs: LONGEST_BACKOFF_MS };
const REFUSALS_WITHOUT_BACKOFF = 3;
/** Fewer accepted requests do not explain the refusal of an unknown limit: every plan allows more. */
const ENOUGH_CALLS = 3;

/** So many can be sent at once after a pause, as a part of what was accepted in a minute. */
const CAPACITY_PART = 0.25;
/** Requests per millisecond. */
const ONE_PER_SECOND = 1 / 1_000;
/** The rate grows fast until it is refused once, then slowly. */
const STEP_MS = 7_500;
const FAST_STEP = 1.5;
const SLOW_STEP = 1.05;
/** Each step that is not refused is larger than the last by this factor. */
const STEP_GROWTH = 1.5;
/** After a refusal that no growth explains. */
const SLOWER = 0.9;
/** After a refusal, the rate stays for so many slots: fewer would not show that it is too high. */
const PAUSE_SLOTS = 8;
/** Every plan allows more. */
const LOWEST_RATE = 1 / WINDOW_MS;

/** The state after a report. */
export function applyReport(state: LimiterState, report: Report, settings: LimiterSettings): LimiterState {
  switch (report.kind) {
    case 'accepted':
      return accepted(state, report);
    case 'refused': {
      const closed = refused(state, report, settings);
      if (state.isCap) state.log.add(report.now); // every request of a minute counts
      return closed;
    }
    case 'lost':
      state.log.add(report.now);
      return addInFlight(state, -1);
    case 'unused':
      return addInFlight(state, -1, -1); // the service did not count it
    case 'configured':
      return configured(state, report.perMinute, report.now);
    case 'called':
      return { ...state, calledAt: Math.max(state.calledAt, report.now) };
  }
}

function accepted(before: LimiterState, { now, sentAt }: RequestResult): LimiterState {
  const { log, gate, limit } = before;
  log.add(now);
  // An accepted request that was sent after the trial confirms milliseconds.
  const unit: UnitState = hasTrialEnded(before.unit, sentAt) ? { ...before.unit, evidence: 'confirmed' } : before.unit;
  const isStale = sentAt < gate.staleBefore;
  const refusals = Math.max(0, gate.refusals - 1);
  const opened = isStale ? { ...gate, refusals } : acceptBehindGate(before, refusals);
  const acceptedAt = Math.max(before.acceptedAt, now);
  const state = { ...before, inFlight: before.inFlight - 1, unit, gate: opened, acceptedAt };
  // The request was in flight when the limit was learned from a refusal, so the limit is larger by one.
  if (isStale) return isLearned(before) ? { ...state, limit: limit + 1 } : state;
  if (gate.test === 'none' || log.size <= limit) return state;
  if (gate.test === 'limit') return { ...state, limit: Math.min(before.configured, log.size) };
  // The service accepts more than the log allows: it has forgotten the oldest requests.
  if (!before.isCap) log.expire(now, log.size - limit);
  return { ...state, test: 'done' };
}

/** The ramp: one more request in flight per acceptance. A test of the window ends when the limit is used. */
function acceptBehindGate({ gate, limit, log }: LimiterState, refusals: number): Gate {
  if (gate.room === UNBOUNDED) return refusals === gate.refusals ? gate : { ...gate, refusals };
  const accepted = gate.accepted + 1;
  const isLarge = limit === UNBOUNDED && gate.room === LARGEST_RAMP;
  const isOver = gate.test === 'limit' ? log.size <= limit : accepted >= limit || isLarge;
  if (isOver) return { ...gate, refusals, accepted, room: UNBOUNDED, test: 'none' };
  const room = accepted === gate.acceptedBefore ? 1 : Math.min(LARGEST_RAMP, gate.room + 1);
  return { ...gate, refusals, accepted, room };
}

function refused(before: LimiterState, result: RequestResult, settings: LimiterSettings): LimiterState {
  const { now, sentAt, retryAfter } = result;
  const { retryAfterUnit } = settings;
  const unit = retryAfterUnit === 'auto' ? weighRefusal(before.unit, result) : before.unit;
  const { waitMs: askedMs } = readRetryAfter(unit, retryAfter, retryAfterUnit);
  before.log.expire(now);
  const state = { ...addInFlight(before, -1), unit };
  const waitMs = askedMs && Math.min(askedMs, LONGEST_WAIT_MS);
  const until = now + (waitMs ?? 0);
  // It is about a longer quota than the limit per minute.
  if ((askedMs ?? 0) > settings.maxRetryAfterMs) return { ...state, blockedUntil: Math.max(state.blockedUntil, until) };
  const { gate } = state;
  if (sentAt < gate.staleBefore) return { ...state, gate: stayClosedUntil(gate, until) };
  const next = afterRefusal(closeGate(state, now, waitMs), { gate, now, waitMs });
  const testAt = Math.max(next.testAt, now + TEST_AFTER_BLOCK_MS);
  const mayBeBlock = waitMs === undefined ? !isLearned(next) : isBlock(next, gate, until);
  return mayBeBlock ? { ...next, testAt } : next;
}

/** Whether a refusal of the full log lasts longer than a window with nearly all of it, or with those behind the gate. */
function isBlock({ log, limit }: LimiterState, { test, accepted, opensAt }: Gate, until: number): boolean {
  const nearlyFirst = Math.floor((1 - NEARLY_ALL) * log.size); // `quota()` and others can have used the place of a few
  const behind = test === 'none' ? 0 : accepted;
  const first = behind === 0 ? nearlyFirst : Math.max(nearlyFirst, log.size - behind);
  const windowEndsAt = Math.max(log.expiresAt(first) ?? UNBOUNDED, opensAt + WINDOW_MS);
  return log.size >= limit && until > windowEndsAt + 2 * ROUNDING_MS;
}

/** After a refusal: its Retry-After may start the trial; a refusal of the request that was sent after it refutes it. */
export function weighRefusal(state: UnitState, { sentAt, now, retryAfter }: RequestResult): UnitState {
  if (hasTrialEnded(state, sentAt)) return { ...state, evidence: 'refuted' };
  if (state.evidence !== 'assumed' || !isTried(retryAfter)) return state;
  return { evidence: 'on-trial', endsAt: now + retryAfter.value };
}

function hasTrialEnded({ evidence, endsAt }: UnitState, sentAt: number): boolean {
  return evidence === 'on-trial' && sentAt >= endsAt;
}

/** What the refusal says about the limit. `gate`: as it was before. */
function afterRefusal(
  closed: LimiterState,
  { gate, now, waitMs }: { readonly gate: Gate; readonly now: number; readonly waitMs: number | undefined },
): LimiterState {
  const { pace } = closed;
  if (pace !== null) {
    const isFull = waitMs !== undefined && !isShort(closed, waitMs);
    return isFull ? waitForWindow({ ...closed, pace: null }, now) : slowDown(closed, pace, now);
  }
  if (isUnknown(closed)) return learnLimit(closed, gate, { now, waitMs });
  const isUsed = isLearned(closed) || closed.log.size >= NEARLY_ALL * closed.limit;
  if (isUsed && isOwnSlot(closed, gate)) return followLog(closed);
  return isAtLimit(closed, gate, waitMs) ? waitForWindow(closed, now) : sendEvenly(closed, now, waitMs);
}

/** Closes the gate until the Retry-After has elapsed; longer after several refusals in a row, or without a Retry-After. */
function closeGate(state: LimiterState, now: number, waitMs: number | undefined): LimiterState {
  const { gate, log } = state;
  const refusals = gate.refusals + 1;
  const failures = gate.refusals - (waitMs === undefined ? 0 : REFUSALS_WITHOUT_BACKOFF);
  const isLockout = waitMs === undefined && now >= state.acceptedAt + WINDOW_MS;
  const tryMs = backoffMs(failures, isLockout ? LOCKOUT_BACKOFF : GATE_BACKOFF);
  const opensAt = Math.max(gate.opensAt, now + Math.max(waitMs ?? 0, SHORTEST_GATE_MS, tryMs));
  // It contradicts the limit of `quota()` if less than nine tenths of that were used: the limit is read again, which also
  // restores one that `followLog` has lowered.
  const configuredAt = log.size < NEARLY_ALL * state.configured ? LONG_AGO : state.configuredAt;
  const acceptedBefore = gate.test === 'window' ? gate.accepted : log.size;
  const closed: Gate = {
    opensAt,
    staleBefore: opensAt,
    room: 1,
    accepted: 0,
    acceptedBefore,
    refusals,
    test: 'window',
  };
  return { ...state, configuredAt, gate: closed };
}

/** Keeps the gate closed at least until `at`. */
export function stayClosedUntil(gate: Gate, at: number): Gate {
  return at > gate.opensAt ? { ...gate, opensAt: at } : gate;
}

/** The first refusal of an unknown limit: what was accepted in the last minute is the limit. */
function learnLimit(
  state: LimiterState,
  gate: Gate,
  { now, waitMs }: { readonly now: number; readonly waitMs: number | undefined },
): LimiterState {
  if (state.log.size < ENOUGH_CALLS) return state; // others have used the limit
  // A learned limit is tested once a minute; after a refused test, half as often.
  const testAt = state.gate.opensAt + WINDOW_MS;
  const learned: LimiterState = { ...state, limit: state.log.size, test: 'done', testAt };
  if (isOwnSlot(learned, gate)) return followLog(learned);
  return isShort(learned, waitMs) ? sendEvenly(learned, now, waitMs) : learned;
}

/** Whether the limit, if it is known, was learned from refusals. */
function isLearned({ configured }: LimiterState): boolean {
  return configured === UNBOUNDED;
}

/**
 * Whether the gate opens when our own oldest request expires, as that of a service that counts like the log. `accepted`:
 * the requests behind the gate before.
 */
function isOwnSlot({ log, gate: { opensAt }, test }: LimiterState, { accepted }: Gate): boolean {
  const isAtExpiry = (index: number) => Math.abs(opensAt - (log.expiresAt(index) ?? UNBOUNDED)) <= 2 * ROUNDING_MS;
  // A few can also expire when a window ends. The requests behind the gate then show whether more are accepted.
  return isAtExpiry(0) && (accepted > 0 || test === 'sliding' || isAtExpiry(Math.floor(log.size / 2)));
}

/** The log is right, and its size is the limit. */
function followLog(state: LimiterState): LimiterState {
  const { log, gate, limit } = state;
  const opensAt = Math.max(gate.opensAt, log.expiresAt(0) ?? 0);
  return {
    ...state,
    limit: Math.min(limit, Math.max(1, log.size)),
    test: 'sliding',
    gate: { ...gate, opensAt, staleBefore: opensAt, test: 'none' },
    testAt: opensAt + 2 * WINDOW_MS,
  };
}

/** Whether the service's window is full, because of this process or, with a Retry-After that is not short, of any user. */
function isAtLimit(state: LimiterState, { test, accepted }: Gate, waitMs: number | undefined): boolean {
  const used = test === 'window' ? accepted : state.log.size;
  const isFirst = test !== 'none' && accepted === 0; // behind a gate, or beyond the full log
  if (waitMs === undefined) return isFirst || used >= NEARLY_ALL * state.limit;
  // With a short one, a full window may end soon. If a slot was free instead, the next refusal comes after few requests.
  return !isShort(state, waitMs) || (isFirst && state.log.size >= state.limit);
}

/** The service's window is full. If the requests of this process do not explain it, others call. */
function waitForWindow(state: LimiterState, now: number): LimiterState {
  const { log, inFlight, limit, test } = state;
  const calledAt = log.size + inFlight < limit ? othersCalledAt(state, now) : state.calledAt;
  return { ...state, calledAt, test: test === 'due' ? 'done' : test, testAt: now + 2 * WINDOW_MS };
}

/** Others seem to call now; if they did in an earlier minute, they will go on. */
function othersCalledAt({ calledAt }: LimiterState, now: number): number {
  const agoMs = now - calledAt;
  return agoMs > WINDOW_MS && agoMs < OTHERS_GO_ON_MS ? now + OTHERS_GO_ON_MS : Math.max(calledAt, now);
}

/** Whether a hint is at most the time for one slot of a service that frees slots evenly. */
function isShort(state: LimiterState, waitMs = UNBOUNDED): boolean {
  const perMinute = isLearned(state) ? state.limit : state.configured;
  return waitMs <= Math.ceil(WINDOW_MS / perMinute / 1000) * 1000 + ROUNDING_MS;
}

/**
 * From now on, requests are sent at equal intervals, first at the rate of the last minute or of the hint: that suits
 * every kind of window, a second limit, and others who use the key.
 */
function sendEvenly(state: LimiterState, now: number, waitMs: number | undefined): LimiterState {
  const { log, configured } = state;
  // Without a hint, a service that is known to allow `configured` per minute most likely frees its slots evenly.
  const hinted = waitMs === undefined ? (isLearned(state) ? 1 : configured) : WINDOW_MS / waitMs;
  const used = Math.min(log.size, configured) / WINDOW_MS;
  const perMs = hinted > log.size ? rateWithin(configured, hinted / WINDOW_MS) : used;
  const capacity = Math.max(1, Math.floor(CAPACITY_PART * log.size));
  return withPace(state, { perMs, capacity, step: FAST_STEP, growsAt: now + STEP_MS });
}

/** At most the rate of the plan; exactly that one instead of one per second, because a hint of a second can be rounded up. */
function rateWithin(configured: number, perMs: number): number {
  const most = configured / WINDOW_MS;
  return perMs === ONE_PER_SECOND && most < UNBOUNDED ? most : Math.min(most, perMs);
}

/** A refusal of evenly sent requests: undoes the last growth. Without one, halves the capacity, or lowers the rate. */
function slowDown(state: LimiterState, pace: Pace, now: number): LimiterState {
  const isBurst = !pace.grew && pace.capacity > 1;
  const perMs = Math.max(LOWEST_RATE, pace.grew ? pace.perMs / pace.step : (isBurst ? 1 : SLOWER) * pace.perMs);
  const capacity = isBurst ? Math.max(1, Math.floor(pace.capacity / 2)) : pace.capacity; // a part of one is a fraction
  const growsAt = now + Math.max(2 * STEP_MS, PAUSE_SLOTS / perMs);
  return withPace(state, { perMs, capacity, step: isBurst ? pace.step : SLOW_STEP, growsAt });
}

/** The state after a refusal with a pace: no ramp, and one request when the gate opens. */
function withPace(state: LimiterState, pace: Omit<Pace, 'tokens' | 'at' | 'grew'>) {
  const gate: Gate = { ...state.gate, test: 'none', room: UNBOUNDED };
  return { ...state, gate, pace: { ...pace, tokens: 1, at: gate.opensAt, grew: false } };
}

/** Adds the tokens of the time since; the rate grows while it is used up, the burst after a pause. */
export function advancePace(pace: Pace, configured: number, now: number): Pace {
  if (now <= pace.at) return pace;
  const refilled = pace.tokens + (now - pace.at) * pace.perMs;
  const next = { ...pace, tokens: Math.min(pace.capacity, refilled), at: now };
  if (now < pace.growsAt) return next;
  if (refilled >= pace.capacity) return isPause(pace, refilled) ? withLargerBurst(next, refilled) : next;
  const most = configured / WINDOW_MS;
  if (pace.perMs >= most) return next;
  const step = pace.grew ? 1 + Math.min(FAST_STEP - 1, STEP_GROWTH * (pace.step - 1)) : pace.step;
  return { ...next, step, perMs: Math.min(most, pace.perMs * step), grew: true, growsAt: now + STEP_MS };
}

/** Whether a burst was used, and has been saved again since. A single request that was due is no burst. */
function isPause({ tokens, capacity }: Pace, refilled: number): boolean {
  return tokens <= capacity / 2 && refilled > capacity + 1;
}

/** Twice as large, up to what the rate allows in a minute. */
function withLargerBurst(pace: Pace, saved: number): Pace {
  const most = Math.max(pace.capacity, pace.perMs * WINDOW_MS);
  const capacity = Math.min(most, 2 * pace.capacity);
  return { ...pace, capacity, tokens: Math.min(capacity, saved) };
}

/** The limit of the plan became known, or has changed. A larger one starts anew. */
function configured(state: LimiterState, perMinute: number, now: number): LimiterState {
  if (state.isCap) return state;
  const known = withLimit(state, perMinute);
  // Calls of low priority are due after as many intervals as before.
  const ratio = lowIntervalMs(known) / lowIntervalMs(state);
  const dueMs = Math.max(0, state.lowAt - now);
  const lowAt = dueMs > 0 ? now + dueMs * ratio : state.lowAt;
  return { ...known, configuredAt: now, lowAt, lowWaitsSince: ratio < 1 ? LONG_AGO : state.lowWaitsSince };
}

/** The state with another limit of the plan or of the options. */
export function withLimit(state: LimiterState, perMinute: number): LimiterState {
  const { pace } = state;
  const known = { ...state, configured: perMinute, limit: perMinute };
  if (perMinute > state.configured) return { ...known, pace: null, test: 'due' };
  return { ...known, pace: pace && { ...pace, perMs: rateWithin(perMinute, pace.perMs) } };
}

/** The Retry-After of a refusal, in the unit that applies to it. `state`: after the refusal. */
export function readRetryAfter(
  state: UnitState,
  retryAfter: RetryAfter | undefined,
  option: LimiterSettings['retryAfterUnit'],
): RetryAfterReading {
  const unit = unitOf(state, option, retryAfter);
  return { waitMs: retryAfterMs(retryAfter, unit), unit, evidence: option === 'auto' ? state.evidence : 'set' };
}
