import { expect, test } from 'vitest';
import { AbortError } from '../../src/client/index.ts';
import { abortErrorOf, Lifetime, type RetainedState } from '../../src/client/lifetime.ts';
import { Cancellation } from '../../src/client/time/abort.ts';
import { deferred } from '../helpers/deferred.ts';
import { quiet } from '../helpers/fake-clock.ts';

function heldState(): RetainedState & { isForgotten: boolean; readonly forgotten: () => number } {
  let forgotten = 0;
  const forget = () => {
    forgotten += 1;
  };
  return { clients: 0, isForgotten: false, forget, stored: async () => undefined, forgotten: () => forgotten };
}

test('a state is removed when the last client that uses it is closed', async () => {
  const [one, other] = [new Lifetime(), new Lifetime()];
  const [state, ofOne] = [heldState(), heldState()];
  for (const lifetime of [one, one, other]) lifetime.retain(state);
  one.retain(ofOne);
  expect(state.clients).toBe(2);

  await one.close();
  await one.close();
  expect([state.clients, state.forgotten()]).toEqual([1, 0]);
  expect([ofOne.clients, ofOne.forgotten()]).toEqual([0, 1]);
  await other.close();

  expect([state.clients, state.forgotten()]).toEqual([0, 1]);
});

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

test('close resolves when all calls have ended, and a failed call does not reject it', async () => {
  const lifetime = new Lifetime();
  const cancellation = new Cancellation();
  const { promise, reject } = deferred<void>();
  lifetime.add(cancellation, promise);
  const state = heldState();
  lifetime.retain(state);
  let isClosed = false;

  const closing = lifetime.close().then(() => {
    isClosed = true;
  });
  await quiet();
  expect(isClosed).toBe(false);
  expect(state.forgotten()).toBe(0);
  const closed = { kind: 'aborted', message: expect.stringContaining('close()') };
  expect([cancellation.reason, lifetime.signals[0]?.reason]).toMatchObject([closed, closed]);
  expect(() => lifetime.requireOpen()).toThrow('The client is closed (close()); create a new one');
  reject(new Error('no'));
  await closing;

  expect(state.forgotten()).toBe(1);
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

test('calls of a derived lifetime are also those of its parent, until they are removed', async () => {
  const parent = new Lifetime();
  const child = new Lifetime(parent);
  const [ended, open] = [new Cancellation(), new Cancellation()];
  const never = new Promise(() => undefined);
  child.add(ended, never);
  child.remove(ended);
  child.add(open, Promise.resolve());

  await parent.close(); // would wait for the removed call as well
  await child.close();

  expect([ended.aborted, open.aborted]).toEqual([false, true]);
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

test('gives the result of work that ends, and does not wait for it any more', async () => {
  const lifetime = new Lifetime();

  expect(await lifetime.untilClosed(Promise.resolve(7))).toBe(7);
  await expect(lifetime.untilClosed(Promise.reject(new Error('wrong data')))).rejects.toThrow('wrong data');

  await lifetime.close();
});

test('the error of an ended loop is the AbortError of the signal, or has its reason as the cause', () => {
  const closed = new AbortError({ message: 'closed' });
  const reason = new Error('enough');

  expect(abortErrorOf(AbortSignal.abort(closed))).toBe(closed);
  expect(abortErrorOf(AbortSignal.abort(reason))).toMatchObject({ kind: 'aborted', cause: reason });
});
