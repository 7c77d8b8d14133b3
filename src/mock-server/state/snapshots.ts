import type { MockParts } from '../mock-parts.ts';
import { checkedId, freeName, MockServerError, unknownId } from '../mock-server-error.ts';
import { restoredState, type Snapshot, type SnapshotOwner } from './snapshot.ts';

/** Named snapshots of a mock, in memory. Restoring one does not delete the others. */
export interface Snapshots {
  /**
   * Saves the current state under a name (default: `snapshot_1`, …) and returns the name. Replaces an existing snapshot.
   * @throws MockServerError with code `too_many_snapshots`, beyond 100 snapshots.
   */
  save(name?: string): string;
  /**
   * Restores a snapshot, as `mock.restore` does.
   * @throws MockServerError with code `not_found`.
   */
  restore(name: string): void;
  /** Returns the names, oldest first. */
  list(): readonly string[];
  /**
   * Deletes a snapshot.
   * @throws MockServerError with code `not_found`.
   */
  delete(name: string): void;
}

export function createSnapshots(mock: SnapshotOwner): Snapshots {
  const kept = new Map<string, Snapshot>();
  return {
    save(wanted) {
      const name =
        wanted === undefined
          ? freeName('snapshot', kept.size + 1, (taken) => kept.has(taken))
          : checkedId('name', wanted);
      if (!kept.has(name) && kept.size >= MOST_SNAPSHOTS) {
        const text = `The limit of ${MOST_SNAPSHOTS} snapshots is reached; delete one first.`;
        throw new MockServerError(text, { code: 'too_many_snapshots', status: 409 });
      }
      kept.set(name, mock.snapshot());
      return name;
    },
    restore: (name) => mock.restore(find(kept, name)),
    list: () => Array.from(kept.keys()),
    delete(name) {
      find(kept, name);
      kept.delete(name);
    },
  };
}

/** More than a test suite needs. Limits the memory of one that never deletes. */
const MOST_SNAPSHOTS = 100;

function find(kept: ReadonlyMap<string, Snapshot>, name: string): Snapshot {
  const snapshot = kept.get(name);
  if (snapshot !== undefined) return snapshot;
  throw unknownId('snapshot', name, { known: kept.keys() });
}

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
