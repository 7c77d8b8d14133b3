import {
  addInFlight,
  closedUntil,
  isUnknown,
  type LimiterState,
  LONG_AGO,
  UNBOUNDED,
  WINDOW_MS,
} from './limit-state.ts';
import { advancePace } from './pace.ts';

/** The number of waiting calls that may be sent now, and when to ask again. */
export interface Grant {
  readonly count: number;
  /** Time at which to ask again; `undefined`: after the next response. */
  readonly askAgainAt: number | undefined;
}

/** Every plan allows so many requests per minute. */
const SMALLEST_LIMIT = 30;
/** While calls wait, the limit of the plan is read again after this time, because it can have grown. */
const LIMIT_IS_OLD_MS = 120_000;

/** Advances the state to `now`: requests expire, tokens are added, the rate grows. */
export function advance(state: LimiterState, now: number): LimiterState {
  const { log, pace, gate } = state;
  log.expire(now);
  // A minute without any request ends a busy period: the service's next window starts at any time.
  const isIdle = state.test === 'done' && log.size === 0 && now >= gate.opensAt + WINDOW_MS;
  const next = pace && advancePace(pace, state.configured, now);
  if (!isIdle && next === pace) return state;
  const test = isIdle || (next === null && pace !== null) ? 'due' : state.test;
  return { ...state, test, pace: next };
}

/** Grants up to `wanted` calls: the smallest number that the gate, the log and the even rate allow. */
export function grant(
  before: LimiterState,
  { now, wanted }: { readonly now: number; readonly wanted: number },
): { readonly state: LimiterState; readonly grant: Grant } {
  const state = advance(before, now);
  const opensAt = closedUntil(state);
  if (now < opensAt) return { state, grant: { count: 0, askAgainAt: opensAt } };
  const count = Math.max(0, Math.min(wanted, freeSlots(state)));
  if (count === 0 && wanted > 0 && isTestDue(state, now)) {
    return { state: startTest(state), grant: { count: 1, askAgainAt: undefined } };
  }
  const granted = count === 0 ? state : addInFlight(state, count);
  const isEnough = count === wanted || rampRoom(state) <= count;
  return { state: granted, grant: { count, askAgainAt: isEnough ? undefined : nextAskAt(granted, now) } };
}

/** Number of calls that may be sent while the gate is open; zero or less for none. */
export function freeSlots(state: LimiterState): number {
  return Math.min(rampRoom(state), knownSlots(state));
}

function knownSlots(state: LimiterState): number {
  const { limit, log, inFlight, gate, pace, isCap } = state;
  const inLog = isCap ? state.configured - log.size - inFlight : UNBOUNDED;
  if (pace !== null) return Math.min(inLog, Math.floor(pace.tokens));
  if (gate.test === 'limit') return UNBOUNDED;
  const used = gate.test === 'window' ? gate.accepted : log.size;
  return Math.min(inLog, limit - used - inFlight);
}

/** Number of further requests that the ramp allows. */
function rampRoom(state: LimiterState): number {
  return rampSize(state) - state.inFlight;
}

/** Number of requests that may be in flight: behind a gate, a ramp; otherwise no bound. */
export function rampSize({ gate, unit }: LimiterState): number {
  // One request shows whether Retry-After is in milliseconds.
  return unit.evidence === 'on-trial' ? 1 : gate.room;
}

/** Whether to send one request although the log is full: never beyond a cap, and only if nothing is in flight. */
function isTestDue({ pace, test, limit, configured, testAt, isCap, inFlight }: LimiterState, now: number): boolean {
  if (pace !== null || inFlight > 0) return false;
  if (limit < configured) return !isCap && now >= testAt;
  return !isCap && test === 'due';
}

function startTest(state: LimiterState): LimiterState {
  const { gate, limit, configured, test } = state;
  const kind = limit < configured ? 'limit' : 'window';
  const tested = { ...gate, room: 1, accepted: 0, test: kind } as const;
  return addInFlight({ ...state, gate: tested, test: test === 'due' ? 'done' : test }, 1);
}

function nextAskAt(state: LimiterState, now: number): number | undefined {
  const { pace, log, limit, configured, testAt, isCap, inFlight } = state;
  const expiryAt = (place: number) => log.expiresAt(Math.max(0, place)) ?? UNBOUNDED;
  const paceAt = pace === null ? 0 : pace.at + Math.max(0, 1 - pace.tokens) / pace.perMs;
  const capAt = isCap && log.size + inFlight >= configured ? expiryAt(0) : 0;
  const logAt = pace === null ? expiryAt(log.size + inFlight - limit) : 0;
  const limitAt = pace === null && limit < configured && inFlight === 0 && !isCap ? testAt : UNBOUNDED;
  const at = Math.max(paceAt, capAt, Math.min(logAt, limitAt));
  return at === UNBOUNDED ? undefined : Math.max(now + 1, at);
}

/**
 * The earliest time at which a call with `ahead` others before it can be sent, by the most optimistic kind of window
 * that fits what was seen.
 */
export function slotAt(state: LimiterState, now: number, ahead: number): number {
  const { pace, limit, gate, test, isCap } = state;
  if (isCap || pace !== null || isUnknown(state)) return expectedSlotAt(state, now, ahead);
  // The service may start a new window when the gate opens, or has started one.
  const mayBeNew = gate.test !== 'none' || test === 'due' || isTestDue({ ...state, inFlight: 0 }, now);
  if (!mayBeNew) return expectedSlotAt(state, now, ahead);
  return Math.max(now, closedUntil(state)) + Math.floor(ahead / limit) * WINDOW_MS;
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
  const missing = ahead - (limit - log.size - inFlight);
  if (missing < 0) return now;
  const rounds = Math.floor(missing / limit);
  return (log.expiresAt(missing - rounds * limit) ?? now + WINDOW_MS) + rounds * WINDOW_MS;
}

/** Whether to call `quota()`: the limit is unknown, contradicted, or old. Not for as few calls as every plan allows. */
export function isLimitWanted(
  state: LimiterState,
  { now, waiting }: { readonly now: number; readonly waiting: number },
): boolean {
  const calls = waiting + state.inFlight;
  const isRefused = state.gate.staleBefore !== LONG_AGO;
  const mayExceed = isRefused || calls + state.log.size > SMALLEST_LIMIT;
  return calls > 1 && mayExceed && !state.isCap && now - state.configuredAt >= LIMIT_IS_OLD_MS;
}
