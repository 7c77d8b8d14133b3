import * as z from 'zod';
import { checkedInput, nameSchema } from '../matching/checked-input.ts';
import type { MockCore } from '../mock-core.ts';
import { freeName, MockServerError, unknownId } from '../mock-server-error.ts';
import { checkedSnapshot, restoredState, type Snapshot, takeSnapshot, withOwnKey } from './snapshot.ts';

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

/** The name of a snapshot to save. */
export const snapshotName = z.strictObject({
  name: nameSchema.optional().describe('Letters, digits, `_` and `-`; an existing snapshot of this name is replaced.'),
});

export function createSnapshots(core: MockCore): Snapshots {
  const kept = core.snapshots;
  return {
    save(wanted) {
      const description = { place: '', what: 'an argument of snapshots.save()' };
      const { name = freeName('snapshot', kept.size + 1, (taken) => kept.has(taken)) } = checkedInput(
        snapshotName,
        { name: wanted },
        description,
      );
      if (!kept.has(name) && kept.size >= MOST_SNAPSHOTS) {
        const text = `The limit of ${MOST_SNAPSHOTS} snapshots is reached; delete one first.`;
        throw new MockServerError(text, { code: 'too_many_snapshots', status: 409 });
      }
      kept.set(name, takeSnapshot(core));
      return name;
    },
    restore: (name) => restoreSnapshot(core, find(kept, name)),
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

/** Checks and restores a snapshot. If it throws, nothing has changed. */
export function restoreSnapshot(core: MockCore, given: unknown): void {
  const { state, behaviour, journal, clock, delays } = core;
  const snapshot = adopted(core, checkedSnapshot(given, behaviour));
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

/**
 * The snapshot with the own key in place of a key that cannot be restored: a space keeps its key, and a mock cannot have the
 * key of an open space. Random numbers continue, so that keys created later in two spaces differ.
 */
function adopted({ parent, spaces, state }: MockCore, snapshot: Snapshot): Snapshot {
  const hasKeyOf = ({ state: { keysByHash } }: MockCore) => snapshot.keys.some(({ hash }) => keysByHash.has(hash));
  const [own, ...others] = state.keys.values();
  if (parent !== undefined) {
    if (own === undefined || snapshot.keys.some(({ hash }) => hash === own.hash)) return snapshot;
    const ids = snapshot.keys.map(({ id }) => id).join(', ') || 'no key';
    const text = `The snapshot has ${ids}, and not the key of this space; expected only ${own.id} of another space or of a mock. Restore it in the space or mock that it was taken of.`;
    return withOwnKey(snapshot, state.random, own) ?? refuse(text);
  }
  const space = Array.from(spaces.values()).find(hasKeyOf);
  if (space === undefined) return snapshot;
  const text = `The snapshot has a key of the open space ${space.name}. The mock can restore it only if both have one key, with the same id and account; close the space, or restore the snapshot in a space.`;
  const isOnly = own !== undefined && others.length === 0;
  return (isOnly ? withOwnKey(snapshot, state.random, own) : undefined) ?? refuse(text);
}

function refuse(text: string): never {
  throw new MockServerError(text, { code: 'invalid_snapshot' });
}
