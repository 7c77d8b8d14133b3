import type { Behaviour } from '../behaviour/behaviour.ts';
import type { MockParts } from '../mock-parts.ts';
import { MockServerError } from '../mock-server-error.ts';
import { restoredState, type Snapshot } from '../service/snapshot.ts';

/** Restores a checked snapshot, which the caller must not use afterwards. If it throws, nothing has changed. */
export function restoreSnapshot({ context, journal, clock }: MockParts, snapshot: Snapshot): void {
  const state = restoredState(snapshot);
  restoreSwitches(context.behaviour, snapshot);
  Object.assign(context.state, state);
  // Frozen first, because a running clock would pass `now` before it is frozen.
  if (snapshot.frozen) clock.freeze();
  clock.set(snapshot.now);
  if (!snapshot.frozen) clock.resume();
  journal.clear();
}

/** Throws if a documented switch has another value, and the mock was created without `unsafe`. */
function restoreSwitches(behaviour: Behaviour, snapshot: Snapshot): void {
  try {
    behaviour.restore(snapshot.behaviour);
  } catch (error) {
    if (!(error instanceof MockServerError)) throw error;
    const { message, field } = error;
    throw new MockServerError(`The snapshot cannot be restored: ${message}`, { code: 'invalid_snapshot', field });
  }
}
