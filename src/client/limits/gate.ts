import type { GateState } from './limiter-state.ts';

/**
 * What every refusal closes for all calls. When the gate opens, one request goes first, then one more than were accepted
 * since, which doubles per round trip: a gate that opened too early costs one refusal, not one per waiting call.
 */
export type Gate = GateState;

/** In flight at once while no limit is known: at least this. */
const FIRST_CALLS = 4;
const MANY_CALLS = 64;
/** And one for so many that were accepted: when the limit is reached, those in flight are refused together. */
const ACCEPTED_PER_CALL = 8;
const ACCEPTED_PER_CALL_OF_KNOWN = 2;
/** Learning a window costs up to this many refusals; more than that must not become a hot loop. */
const REFUSALS_FOR_LEARNING = 3;
const BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 16_000;

export const OPEN_GATE: Gate = {
  opensAt: Number.NEGATIVE_INFINITY,
  staleBefore: Number.NEGATIVE_INFINITY,
  isHalfOpen: false,
  wasClosed: false,
  accepted: 0,
  pressure: 0,
};

/** Whether a request was sent before the last refusal or before the gate opened: its answer says nothing new. */
export function isStale({ staleBefore }: Gate, sentAt: number): boolean {
  return sentAt < staleBefore;
}

/** Never opens earlier than any answer asked for. */
export function stayClosedUntil(gate: Gate, at: number): Gate {
  return at > gate.opensAt ? { ...gate, opensAt: at } : gate;
}

/** Counts a refusal. If more is refused than accepted, every further one closes the gate twice as long. */
export function recordRefusal(gate: Gate, now: number): Gate {
  const pressure = gate.pressure + 1;
  const doublings = pressure - REFUSALS_FOR_LEARNING;
  const backoffMs = doublings > 0 ? Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** doublings) : 0;
  const { opensAt } = backoffMs > 0 ? stayClosedUntil(gate, now + backoffMs) : gate;
  return { ...gate, pressure, opensAt, staleBefore: opensAt };
}

/** Closes the gate until a time whose first answer is evidence. */
export function closeGate(gate: Gate, until: number): Gate {
  const { opensAt } = stayClosedUntil(gate, until);
  return { ...gate, opensAt, staleBefore: opensAt, wasClosed: true, isHalfOpen: true, accepted: 0 };
}

export function acceptBehindGate(gate: Gate): Gate {
  const { opensAt, staleBefore, wasClosed, accepted, pressure } = gate;
  // Written out, as in copyState.
  return {
    opensAt,
    staleBefore,
    isHalfOpen: false,
    wasClosed,
    accepted: accepted + 1,
    pressure: Math.max(0, pressure - 1),
  };
}

/** How many requests may be in flight; a configured limit that has refused nothing needs no ramp. */
export function rampSize({ isHalfOpen, wasClosed, accepted }: Gate, isLimitKnown: boolean): number {
  if (isHalfOpen) return 1;
  if (!wasClosed && isLimitKnown) return Number.POSITIVE_INFINITY;
  const perCall = isLimitKnown ? ACCEPTED_PER_CALL_OF_KNOWN : ACCEPTED_PER_CALL;
  const ramp = Math.min(MANY_CALLS, Math.max(FIRST_CALLS, Math.floor(accepted / perCall)));
  return wasClosed ? Math.min(1 + accepted, ramp) : ramp;
}
