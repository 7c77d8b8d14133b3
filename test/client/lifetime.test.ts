import { expect, test } from 'vitest';
import { Lifetime, type RetainedState } from '../../src/client/lifetime.ts';
import { deferred } from '../helpers/deferred.ts';
import { quiet } from '../helpers/fake-clock.ts';

function heldState(): RetainedState & { isForgotten: boolean; readonly forgotten: () => number } {
  let forgotten = 0;
  const forget = () => {
    forgotten += 1;
  };
  return { clients: 0, isForgotten: false, forget, stored: async () => undefined, forgotten: () => forgotten };
}

test('close waits until the store has the results, except of a state that another client uses', async () => {
  const [one, other] = [new Lifetime(), new Lifetime()];
  const { promise, resolve } = deferred<void>();
  const state = { ...heldState(), stored: () => promise };
  one.retain(state);
  other.retain(state);
  await one.close();
  let isClosed = false;

  const closing = other.close().then(() => {
    isClosed = true;
  });
  await quiet();
  expect(isClosed).toBe(false);
  resolve();
  await closing;
});

test('a client keeps no state that was removed while it was idle', async () => {
  const lifetime = new Lifetime();
  const [old, current] = [heldState(), heldState()];
  lifetime.retain(old);
  old.isForgotten = true;

  lifetime.retain(current);
  await lifetime.close();

  expect([old.forgotten(), current.forgotten()]).toEqual([0, 1]);
});

test('a derived lifetime retains states through its parent: to close it alone releases none', async () => {
  const parent = new Lifetime();
  const child = new Lifetime(parent);
  const state = heldState();
  child.retain(state);

  await child.close();
  expect([state.clients, state.forgotten()]).toEqual([1, 0]);
  await parent.close();

  expect([state.clients, state.forgotten()]).toEqual([0, 1]);
});

test('ends work that begins after close, also that of a client created from it', async () => {
  const parent = new Lifetime();
  const child = new Lifetime(parent);
  await parent.close();

  for (const lifetime of [parent, child]) {
    const never = lifetime.untilClosed(new Promise(() => undefined));
    await expect(never).rejects.toMatchObject({ message: expect.stringContaining('close()') });
    const failing = lifetime.untilClosed(Promise.reject(new Error('wrong data')));
    await expect(failing).rejects.toMatchObject({ kind: 'aborted' });
  }
});
