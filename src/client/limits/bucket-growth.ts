import type { Beliefs } from './beliefs.ts';
import { LARGEST_STEP } from './growth.ts';
import type { Refusal } from './refusal.ts';
import { type BucketWindow, WINDOW_MS } from './window.ts';

/** After a refusal the rate is this much lower. */
const SLOWER = 0.93;
/** Steps up come at most this often. */
const STEP_MS = WINDOW_MS / 8;
const SMALLEST_STEP = 1.02;
/** A small step waits until so many calls have been accepted at the rate before it. */
const CALLS_PER_SMALL_STEP = 8;

/** Takes a refused bucket for empty, and a little slower than thought unless the call was a probe. */
export function slowDown(beliefs: Beliefs, window: BucketWindow, { now, isProbe }: Refusal): void {
  const { roundTrips, growth, gate } = beliefs;
  const perMs = window.perMs * (isProbe ? 1 : SLOWER);
  beliefs.window = { ...window, tokens: 0, at: now + roundTrips.jitterMs, perMs };
  growth.step = 1 + Math.max(SMALLEST_STEP - 1, (growth.step - 1) / 4);
  growth.acceptedAtStep = gate.accepted;
  growth.start(now + STEP_MS);
}

/** Raises the rate of a bucket by a step when it is due: others may have gone, or the told limit is larger. */
export function speedUp(beliefs: Beliefs, now: number): void {
  const { window, phase, growth, gate, told } = beliefs;
  if (window.kind !== 'bucket' || phase !== 'sure' || !beliefs.isBelowTold || now < growth.dueAt) return;
  const isProven = growth.step >= LARGEST_STEP || gate.accepted - growth.acceptedAtStep >= CALLS_PER_SMALL_STEP;
  if (!isProven) return;
  growth.acceptedAtStep = gate.accepted;
  beliefs.window = { ...window, perMs: Math.min(told / WINDOW_MS, window.perMs * growth.step) };
  growth.start(now + STEP_MS);
  growth.step = 1 + Math.min(LARGEST_STEP - 1, 1.5 * (growth.step - 1));
}
