import {
  advancePace,
  applyReport,
  type Report,
  type RetryAfterReading,
  readRetryAfter,
  withLimit,
} from './limit-rules.ts';
import {
  type AcceptedLog,
  addInFlight,
  closedUntil,
  initialState,
  isUnknown,
  type LimiterSettings,
  type LimiterState,
  LONG_AGO,
  lowIntervalMs,
  SMALLEST_LIMIT,
  UNBOUNDED,
  WINDOW_MS,
} from './limit-state.ts';
import type { Priority } from './request-queue.ts';

/** The calls of this process that wait for a slot. */
export interface Demand {
  /** Those that it can send now. */
  readonly wanted: number;
  /** How many of these have low priority. */
  readonly low: number;
  /** All of them. */
  readonly queued: number;
  /** The earliest of their deadlines; Infinity for none. */
  readonly deadlineAt: number;
}

/** The calls that a process could send now; those of low priority are the last. */
export type Wanted = Pick<Demand, 'wanted' | 'low'>;

/** The number of waiting calls that may be sent now, and when to ask again. */
export interface Grant {
  readonly count: number;
  /** Time at which to ask again; Infinity: after the next response. */
  readonly askAgainAt: number;
}

export const NO_GRANT: Grant = { count: 0, askAgainAt: UNBOUNDED };

/** Which slot of a call to estimate. */
export interface SlotOptions {
  /**
   * `'earliest'`: by the most optimistic kind of window (the default). `'expected'`: if nothing new is learned. `'certain'`: the
   * earliest, but not by what other processes may have changed since.
   */
  readonly estimate?: 'earliest' | 'expected' | 'certain';
  readonly priority?: Priority | undefined;
}

/** The limit of one key, without timer or queue. All times are dated times of `SteadyTime`. */
export interface Limit {
  readonly state: LimiterState;
  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  slotAt(now: number, ahead: number, options: SlotOptions): number;
  grant(now: number, demand: Demand): Grant;
  /** Returns the meaning of the Retry-After of a refusal. */
  report(report: Report): RetryAfterReading | undefined;
  /** Whether this process must call `quota()` for the limit. `waiting`: the number of its waiting calls. */
  isWanted(now: number, waiting: number): boolean;
}

/** So long after a call of normal or high priority, another one is expected. */
const OTHERS_MS = 2 * WINDOW_MS;
/** While calls wait, the limit of the plan is read again after this time, because it can have grown. */
const LIMIT_IS_OLD_MS = 120_000;

/** The limit of one process. */
export class LocalLimit implements Limit {
  readonly settings: LimiterSettings;
  state: LimiterState;

  /** `stored`: the state of another process. The number of the options overrides its limit. */
  constructor(settings: LimiterSettings, stored?: LimiterState) {
    const { perMinute } = settings;
    const isCap = perMinute !== 'learn';
    const state = stored ?? initialState();
    const isOther = isCap && !(state.isCap && state.configured === perMinute);
    this.settings = settings;
    this.state = { ...(isOther ? withLimit(state, perMinute) : state), isCap };
  }

  slotAt(now: number, ahead: number, { estimate, priority }: SlotOptions): number {
    const { state } = this;
    const isBesideOthers = priority === 'low' && areOthersCalling(state, now);
    const mayTest = !isBesideOthers;
    const at = estimate === 'expected' ? expectedSlotAt(state, now, ahead) : earliestSlotAt(state, now, ahead, mayTest);
    return isBesideOthers ? Math.max(at, lowSlotAt(state, now, ahead)) : at;
  }

  /** Number of calls that could be sent now; zero or less for none. */
  freeSlots(now: number): number {
    this.state = advance(this.state, now);
    return freeSlots(this.state);
  }

  /** Grants up to `wanted` calls: the smallest number that the gate, the log and the even rate allow. */
  grant(now: number, { wanted, low }: Wanted): Grant {
    const state = advance(this.state, now);
    this.state = state;
    const opensAt = closedUntil(state);
    if (now < opensAt) return { count: 0, askAgainAt: opensAt };
    if (wanted === 0) return NO_GRANT;
    const others = wanted - low;
    const free = Math.max(0, Math.min(wanted, freeSlots(state)));
    const first = Math.min(others, free);
    const count = first + (low > 0 ? Math.min(free - first, lowSlots(state, now)) : 0);
    if (count === 0 && isTestDue(state, now) && (others > 0 || !areOthersCalling(state, now))) {
      this.state = startTest(state, now);
      return { count: 1, askAgainAt: UNBOUNDED };
    }
    const next = addInFlight(state, count);
    this.state = low > 0 ? sentLow(next, now, { sent: count - first, waiting: wanted - count }) : next;
    const isEnough = count === wanted || rampRoom(state) <= count;
    if (isEnough) return { count, askAgainAt: UNBOUNDED };
    return { count, askAgainAt: (count < others ? nextAskAt : nextLowAskAt)(this.state, now) };
  }

  report(report: Report): RetryAfterReading | undefined {
    this.state = applyReport(this.state, report, this.settings);
    if (report.kind !== 'refused') return undefined;
    return readRetryAfter(this.state.unit, report.retryAfter, this.settings.retryAfterUnit);
  }

  /** The limit is unknown, contradicted, or old. Not for as few calls as every plan allows. */
  isWanted(now: number, waiting: number): boolean {
    const { inFlight, gate, log, isCap, configuredAt } = this.state;
    const calls = waiting + inFlight;
    const mayExceed = gate.staleBefore !== LONG_AGO || calls + log.size > SMALLEST_LIMIT;
    return calls > 1 && mayExceed && !isCap && now - configuredAt >= LIMIT_IS_OLD_MS;
  }
}

/** Advances the state to `now`: requests expire, tokens are added, the rate grows. */
function advance(state: LimiterState, now: number): LimiterState {
  const { log, pace, gate } = state;
  log.expire(now);
  // A minute in which half of the limit was free ends a busy period: the service's next window starts at any time. Before
  // the time of the next test, only a minute without any request ends it.
  const isFree = log.size + state.inFlight <= (now < state.testAt ? 0 : state.limit / 2);
  const isIdle = state.test === 'done' && isFree && now >= gate.opensAt + WINDOW_MS;
  const next = pace && advancePace(pace, state.configured, now);
  if (!isIdle && next === pace) return state;
  return { ...state, test: isIdle ? 'due' : state.test, pace: next };
}

/** Whether a call of normal or high priority has arrived, or was seen by a refusal, within the last minutes. */
function areOthersCalling({ calledAt }: LimiterState, now: number): boolean {
  return now - calledAt < OTHERS_MS;
}

/** Whether calls of low priority wait one after the other: others have called since they began to wait. */
function isSpaced({ calledAt, lowWaitsSince, lowAt }: LimiterState, now: number): boolean {
  return lowWaitsSince !== LONG_AGO && calledAt > lowWaitsSince && now < lowAt + WINDOW_MS;
}

/** Number of calls of low priority that may be sent now, if slots are free: those of a minute at once, until some wait. */
function lowSlots(state: LimiterState, now: number): number {
  if (!areOthersCalling(state, now)) return UNBOUNDED;
  const { lowAt, lowWaitsSince } = state;
  if (now < lowAt && lowWaitsSince !== LONG_AGO) return 0;
  const savedMs = WINDOW_MS - Math.max(0, lowAt - now);
  return isSpaced(state, now) ? 1 : Math.max(now < lowAt ? 0 : 1, Math.floor(savedMs / lowIntervalMs(state)));
}

/** When a call of low priority with `ahead` others before it is due. */
function lowSlotAt(state: LimiterState, now: number, ahead: number): number {
  const { lowAt, lowWaitsSince } = state;
  const intervalMs = lowIntervalMs(state);
  const burstMs = isSpaced(state, now) ? intervalMs : Math.max(intervalMs, WINDOW_MS);
  const dueAt = Math.max(now, lowAt) + (ahead + 1) * intervalMs - burstMs;
  return lowWaitsSince === LONG_AGO ? dueAt : Math.max(dueAt, lowAt);
}

/** The state after `sent` calls of low priority. One that is sent late makes the next one no later. */
function sentLow(state: LimiterState, now: number, { sent, waiting }: { sent: number; waiting: number }): LimiterState {
  if (!areOthersCalling(state, now)) return state;
  const intervalMs = lowIntervalMs(state);
  const isNext = isSpaced(state, now);
  const lowAt = Math.max(state.lowAt, isNext ? now - intervalMs : now) + sent * intervalMs;
  // Calls that arrive one by one would use more in their first minute: the part of a minute, and what becomes due in it.
  const isPartUsed = state.log.size + state.inFlight >= WINDOW_MS / intervalMs;
  // Those of another process may wait, too.
  if (waiting === 0 && !isNext && !isPartUsed) return { ...state, lowAt, lowWaitsSince: LONG_AGO };
  return { ...state, lowAt, lowWaitsSince: state.lowWaitsSince === LONG_AGO ? now : state.lowWaitsSince };
}

/** Number of calls that may be sent while the gate is open; zero or less for none. */
function freeSlots(state: LimiterState): number {
  return Math.min(rampRoom(state), knownSlots(state));
}

function knownSlots(state: LimiterState): number {
  const { limit, log, inFlight, gate, pace, isCap } = state;
  const inLog = isCap ? state.configured - log.size - inFlight : UNBOUNDED;
  if (pace !== null) return Math.min(inLog, Math.floor(pace.tokens));
  if (gate.test === 'limit') return inLog;
  const used = gate.test === 'window' ? Math.min(gate.accepted, log.size) : log.size;
  return Math.min(inLog, limit - used - inFlight);
}

/** Number of further requests that the ramp allows. */
function rampRoom(state: LimiterState): number {
  return rampSize(state) - state.inFlight;
}

/** Number of requests that may be in flight: behind a gate, a ramp; otherwise no bound. */
export function rampSize({ gate, unit }: LimiterState): number {
  // One request shows whether Retry-After is in milliseconds.
  if (unit.evidence === 'on-trial') return 1;
  const left = gate.acceptedBefore - gate.accepted;
  return left > 0 && gate.test === 'window' ? Math.min(gate.room, left) : gate.room;
}

/** Whether to send one request although the log is full: never beyond a cap, and only if nothing is in flight. */
function isTestDue(state: LimiterState, now: number): boolean {
  const { pace, test, limit, configured, testAt, isCap, inFlight, log } = state;
  if (pace !== null || inFlight > 0 || (isCap && log.size >= configured)) return false;
  if (limit < configured) return now >= testAt;
  return test === 'due' || (now >= testAt && isSpread(log, now));
}

/** Whether the requests of the log are spread over the minute: a window of the service has probably ended between them. */
function isSpread(log: AcceptedLog, now: number): boolean {
  const marginMs = WINDOW_MS / 4;
  return (log.expiresAt(0) ?? UNBOUNDED) <= now + marginMs && log.lastAt >= now - marginMs;
}

function startTest(state: LimiterState, now: number): LimiterState {
  const { gate, limit, configured, test, testAt } = state;
  const isOfLimit = limit < configured;
  const tested = { ...gate, room: 1, accepted: 0, test: isOfLimit ? 'limit' : 'window' } as const;
  const begun = {
    gate: tested,
    test: test === 'due' ? 'done' : test,
    testAt: isOfLimit ? testAt : now + WINDOW_MS,
  } as const;
  return addInFlight({ ...state, ...begun }, 1);
}

function nextLowAskAt(state: LimiterState, now: number): number {
  const othersEndAt = areOthersCalling(state, now) ? state.calledAt + OTHERS_MS : UNBOUNDED;
  return Math.min(othersEndAt, Math.max(nextAskAt(state, now), state.lowAt));
}

function nextAskAt(state: LimiterState, now: number): number {
  const { pace, log, limit, configured, testAt, isCap, inFlight } = state;
  const expiryAt = (index: number) => log.expiresAt(Math.max(0, index)) ?? UNBOUNDED;
  const paceAt = pace === null ? 0 : pace.at + Math.max(0, 1 - pace.tokens) / pace.perMs;
  const overCap = log.size + inFlight - configured;
  const capAt = isCap && overCap >= 0 ? expiryAt(overCap) : 0;
  const overLimit = log.size + inFlight - limit;
  const logAt = pace === null && overLimit >= 0 ? expiryAt(overLimit) : 0;
  // A test that is due now belongs to another call: calls of low priority make none while others call.
  const hasTest = pace === null && limit < configured && inFlight === 0 && testAt > now;
  const limitAt = hasTest ? testAt : UNBOUNDED;
  return Math.max(now + 1, paceAt, capAt, Math.min(logAt, limitAt));
}

/**
 * The earliest time at which a call with `ahead` others before it can be sent, by the most optimistic kind of window
 * that fits what was seen. `mayTest`: whether the call may be the request that tests the window.
 */
export function earliestSlotAt(state: LimiterState, now: number, ahead: number, mayTest = true): number {
  const { pace, limit, configured, gate, testAt, isCap } = state;
  const expectedAt = expectedSlotAt(state, now, ahead);
  if (pace !== null || isUnknown(state)) return expectedAt;
  // The service may start a new window when the gate opens, or has started one.
  const mayBeNew = gate.test !== 'none' || (mayTest && isTestDue({ ...state, inFlight: 0 }, now));
  const testedAt = mayBeNew ? now : mayTest && limit < configured ? testAt : UNBOUNDED;
  const newAt = Math.max(testedAt, closedUntil(state)) + Math.floor(ahead / limit) * WINDOW_MS;
  const capAt = isCap ? logSlotAt({ ...state, limit: configured }, now, ahead) : now;
  return Math.max(capAt, Math.min(expectedAt, newAt));
}

/** When a call with `ahead` others before it will be sent, if nothing new is learned. */
export function expectedSlotAt(state: LimiterState, now: number, ahead: number): number {
  const { pace, isCap } = state;
  const opensAt = Math.max(now, closedUntil(state));
  const paceAt = pace === null ? opensAt : Math.ceil(pace.at + Math.max(0, ahead + 1 - pace.tokens) / pace.perMs);
  const followsLog = (pace === null || isCap) && !isUnknown(state);
  return Math.max(opensAt, paceAt, followsLog ? logSlotAt(state, now, ahead) : opensAt);
}

/** When the log has room for a call with `ahead` others before it. */
function logSlotAt({ limit, log, inFlight }: LimiterState, now: number, ahead: number): number {
  // A slot is free again a minute later, for the call `limit` places behind.
  const rounds = Math.floor(ahead / limit);
  const missing = ahead - rounds * limit - (limit - log.size - inFlight);
  const freeAt = missing < 0 ? now : (log.expiresAt(missing) ?? now + WINDOW_MS);
  return freeAt + rounds * WINDOW_MS;
}
