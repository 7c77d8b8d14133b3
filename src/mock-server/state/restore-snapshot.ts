import type { MockParts } from '../mock-parts.ts';
import { restoredState, type Snapshot } from '../service/snapshot.ts';

/** Restores a checked snapshot, which the caller must not use afterwards. If it throws, nothing has changed. */
export function restoreSnapshot({ state, behaviour, journal, clock, delays }: MockParts, snapshot: Snapshot): void {
  const { faults } = state;
  Object.assign(state, restoredState(snapshot));
  for (const { settings } of faults) delays.endHangsOf(settings.id);
  behaviour.restore(snapshot.behaviour);
  // Frozen first, because a running clock would pass `now` before it is frozen.
  if (snapshot.frozen) clock.freeze();
  clock.set(snapshot.now);
  if (!snapshot.frozen) clock.resume();
  journal.clear();
}
