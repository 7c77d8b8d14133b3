import type { Beliefs } from './beliefs.ts';
import { freeSlots, nextSlotAt } from './window.ts';

/** A train of probes in a known window is at most this part of the limit. */
const TRAIN_PART = 16;
/** Accepted calls beyond a bucket's refill, by which a first train is no longer held short. */
const BEYOND_REFILL = 1.3;
const CHANCE_CALLS = 4;

/** Calls that may be sent at `now` by what is known; zero or less for none. */
export function knownSlots(beliefs: Beliefs, now: number): number {
  const { phase, limit, gate, inFlight, window, usage } = beliefs;
  return phase === 'trying' ? limit - gate.accepted - inFlight : freeSlots(window, usage, now);
}

/** When to look again if nothing is answered before; `undefined`: only an answer changes anything. */
export function lookAgainAt(beliefs: Beliefs, now: number, mayProbe: boolean): number | undefined {
  const { phase, window, usage, pace, log, inFlight } = beliefs;
  const slotAt = phase === 'trying' ? undefined : nextSlotAt(window, usage, now);
  if (pace.freeSlots(log, inFlight, now) <= 0) {
    const pacedAt = pace.nextSlotAt(log, now);
    return pacedAt === undefined ? undefined : Math.max(now + 1, slotAt ?? 0, pacedAt);
  }
  const at = mayProbe && mayGrow(beliefs) ? Math.min(slotAt ?? Number.POSITIVE_INFINITY, beliefs.growth.dueAt) : slotAt;
  return at === undefined ? undefined : Math.max(now + 1, at);
}

/** Whether to send beyond the known slots: once to learn the window, later to find what others gave up. */
export function shouldProbe(beliefs: Beliefs, now: number): boolean {
  if (beliefs.inFlight > 0) return false;
  return beliefs.phase === 'free' ? beliefs.isTold : mayGrow(beliefs) && now >= beliefs.growth.dueAt;
}

function mayGrow(beliefs: Beliefs): boolean {
  const { phase, inFlight, window } = beliefs;
  return phase === 'sure' && inFlight === 0 && window.kind !== 'bucket' && beliefs.isBelowTold;
}

/** How many calls a probe sends. */
export function trainSize({ growth, phase, limit, log, told }: Beliefs, now: number): number {
  if (phase === 'sure') return Math.min(growth.train, Math.ceil(limit / TRAIN_PART));
  const extra = log.size - limit;
  const refilled = ((now - (log.oldest?.sentAt ?? now)) * told) / 60_000;
  if (extra > BEYOND_REFILL * refilled + CHANCE_CALLS) return growth.train;
  // Perhaps a bucket: no more than it can have refilled.
  return Math.min(growth.train, Math.max(CHANCE_CALLS, Math.floor(refilled - extra)));
}
