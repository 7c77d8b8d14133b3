import { readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { isAbandoned, type LockOwner, StateLock } from '../../../src/mock-server/mock/state-lock.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const HERE = { host: 'here', pid: 7, thread: 0, id: 'x' };

interface Found {
  readonly pid: number;
  readonly ageMs: number;
  readonly isRunning?: boolean;
  readonly heldIds?: readonly string[];
}

test.each<[string, LockOwner | 'unknown', Found, boolean]>([
  ['of a process that runs', HERE, { pid: 8, isRunning: true, ageMs: 60_000 }, false],
  ['of a process that is gone', HERE, { pid: 8, isRunning: false, ageMs: 0 }, true],
  ['of this mock process', HERE, { pid: 7, heldIds: ['x'], ageMs: 60_000 }, false],
  ['of an earlier process with the same pid', HERE, { pid: 7, heldIds: ['y'], ageMs: 0 }, true],
  ['of another thread', { ...HERE, thread: 1 }, { pid: 7, ageMs: 1000 }, false],
  ['of another thread that is gone', { ...HERE, thread: 1 }, { pid: 7, ageMs: 31_000 }, true],
  ['of another host', { ...HERE, host: 'there' }, { pid: 7, ageMs: 29_000 }, false],
  ['of another host that is gone', { ...HERE, host: 'there' }, { pid: 7, isRunning: true, ageMs: 31_000 }, true],
  ['that is being written', 'unknown', { pid: 7, ageMs: 10 }, false],
  ['that is damaged', 'unknown', { pid: 7, ageMs: 31_000 }, true],
])('a lock %s', (_, owner, { pid, ageMs, isRunning = false, heldIds = [] }, expected) => {
  const finding = { host: 'here', pid, thread: 0, ageMs, isRunning: () => isRunning, heldIds: new Set(heldIds) };

  expect(isAbandoned(owner, finding)).toBe(expected);
});

test('of several mocks that start at the same time, one gets the lock, also after a killed one', () => {
  const state = join(temporaryFolder(), 'state.json');
  writeFileSync(`${state}.lock`, JSON.stringify({ host: hostname(), pid: process.pid, thread: 0, id: 'killed' }));
  const first = StateLock.acquire(state);

  expect(() => StateLock.acquire(state)).toThrow(expect.objectContaining({ code: 'state_in_use' }));
  first.release();
  StateLock.acquire(state).release();

  expect(readdirSync(dirname(state))).toEqual([]);
});
