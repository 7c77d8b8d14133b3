import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Attempt } from '../../src/client/attempt.ts';
import { Cancellation } from '../../src/client/cancellation.ts';
import { AbortError, TimeoutError } from '../../src/client/index.ts';
import { abortErrorOf, type HeldState, Lifetime, onAbort, withDeadline } from '../../src/client/lifetime.ts';
import { Timers } from '../../src/client/timers.ts';
import { deferred } from '../helpers/deferred.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';
import { errorOf } from '../helpers/test-client.ts';

test('all callbacks of a signal share one listener, which is removed with the last callback', () => {
  const { signal } = new AbortController();

  const undo = Array.from({ length: 100 }, () => onAbort(signal, () => undefined));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const take of undo) take();

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('an abort calls each callback once, except cancelled ones', () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push('a'));
  onAbort(controller.signal, () => called.push('b'))();
  const undo = onAbort(controller.signal, () => called.push('c'));

  controller.abort();
  undo();

  expect(called).toEqual(['a', 'c']);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('a callback can cancel a later one', () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => undoSecond());
  const undoSecond = onAbort(controller.signal, () => called.push('second'));

  controller.abort();

  expect(called).toEqual([]);
});

test('cancelling a callback twice does not remove a later callback of the signal', () => {
  const controller = new AbortController();
  const called: string[] = [];
  const undo = onAbort(controller.signal, () => called.push('first'));
  undo();
  onAbort(controller.signal, () => called.push('second'));

  undo();
  controller.abort();

  expect(called).toEqual(['second']);
});

test('cancelling one of two callbacks leaves the other', () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push('first'));
  onAbort(controller.signal, () => called.push('second'))();

  controller.abort();

  expect(called).toEqual(['first']);
});

test('the error of an ended loop is the AbortError of the signal, or has its reason as the cause', () => {
  const closed = new AbortError({ message: 'closed' });
  const reason = new Error('enough');

  expect(abortErrorOf(AbortSignal.abort(closed))).toBe(closed);
  expect(abortErrorOf(AbortSignal.abort(reason))).toMatchObject({ kind: 'aborted', cause: reason });
});

function heldState(): HeldState & { readonly forgotten: () => number } {
  let forgotten = 0;
  const forget = () => {
    forgotten += 1;
  };
  return { clients: 0, isForgotten: false, forget, stored: async () => undefined, forgotten: () => forgotten };
}

test('a state is removed when the last client that uses it is closed', async () => {
  const [one, other] = [new Lifetime(), new Lifetime()];
  const [state, ofOne] = [heldState(), heldState()];
  for (const lifetime of [one, one, other]) lifetime.hold(state);
  one.hold(ofOne);
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
  one.hold(state);
  other.hold(state);
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
  lifetime.hold(old);
  old.isForgotten = true;

  lifetime.hold(current);
  await lifetime.close();

  expect([old.forgotten(), current.forgotten()]).toEqual([0, 1]);
});

test('close resolves when all calls have ended, and a failed call does not reject it', async () => {
  const lifetime = new Lifetime();
  const cancellation = new Cancellation();
  const { promise, reject } = deferred<void>();
  lifetime.calls.add({ cancellation, response: promise });
  lifetime.calls.add({ cancellation: new Cancellation(), response: undefined });
  const state = heldState();
  lifetime.hold(state);
  let isClosed = false;

  const closing = lifetime.close().then(() => {
    isClosed = true;
  });
  await quiet();
  expect(isClosed).toBe(false);
  expect(state.forgotten()).toBe(0);
  expect(cancellation.reason).toBe(lifetime.signal.reason);
  expect(lifetime.signal.reason).toMatchObject({ kind: 'aborted', message: expect.stringContaining('close()') });
  expect(() => lifetime.requireOpen()).toThrow('The client is closed (close()); create a new one');
  reject(new Error('no'));
  await closing;

  expect(state.forgotten()).toBe(1);
});

const ATTEMPT: Attempt = { status: 503, code: undefined, waitedMs: 0, reason: 'first' };

/** One caller of a response that the test ends, ten milliseconds after the start of its call. */
function caller({ signal, deadlineMs = 1000 }: { readonly signal?: AbortSignal; readonly deadlineMs?: number } = {}) {
  const clock = new FakeClock(10);
  const response = deferred<string>();
  const left: unknown[] = [];
  const attempts: Attempt[] = [ATTEMPT];
  const result = withDeadline(
    response.promise,
    { signal, deadlineMs, deadlineAt: deadlineMs },
    { timers: new Timers(clock), nowMs: clock.now(), attempts, leave: (error) => left.push(error) },
  );
  return { clock, response, left, attempts, result };
}

test.each(['resolves', 'rejects'])('a response that %s in time leaves no timer and no listener', async (ending) => {
  const { signal } = new AbortController();
  const { clock, response, left, result } = caller({ signal });
  await quiet();
  expect(clock.sleeps).toEqual([990]);

  if (ending === 'resolves') response.resolve('rates');
  else response.reject(new Error('no'));

  expect(await result.catch((error: Error) => error.message)).toBe(ending === 'resolves' ? 'rates' : 'no');
  expect(left).toEqual([]);
  expect(await clock.left()).toBe(0);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a caller leaves at its deadline, with the attempts so far', async () => {
  const { clock, left, attempts, result } = caller();

  const ending = errorOf(result);
  await clock.advance(989);
  expect(left).toEqual([]);
  await clock.advance(1);
  const error = await ending;
  attempts.push(ATTEMPT);

  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ scope: 'deadline', limitMs: 1000, attempts: [ATTEMPT] });
  expect(left).toEqual([error]);
});

test.each(['before', 'during'])('a caller whose signal aborts %s the wait leaves at once', async (when) => {
  const controller = new AbortController();
  const reason = new Error('enough');
  if (when === 'before') controller.abort(reason);
  const { clock, left, attempts, result } = caller({ signal: controller.signal });
  if (when === 'during') controller.abort(reason);

  const error = await errorOf(result);
  attempts.push(ATTEMPT);

  expect(error).toBeInstanceOf(AbortError);
  expect(error).toMatchObject({ cause: reason, attempts: [ATTEMPT] });
  expect(left).toEqual([error]);
  expect(await clock.left()).toBe(0);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('without a deadline there is no timer', async () => {
  const { clock, response, result } = caller({ deadlineMs: Number.POSITIVE_INFINITY });
  await quiet();

  response.resolve('rates');

  expect(await result).toBe('rates');
  expect(clock.sleeps).toEqual([]);
});

test('a deadline without further parts rejects without attempts, and other timers fire', async () => {
  const clock = new FakeClock(0);
  const timers = new Timers(clock);
  const work = new Promise(() => undefined);
  const ending = errorOf(
    withDeadline(work, { signal: undefined, deadlineMs: 1000, deadlineAt: 1000 }, { timers, nowMs: 0 }),
  );
  let hasFired = false;
  timers.after(1000, () => {
    hasFired = true;
  });

  await clock.advance(1000);

  expect(await ending).toMatchObject({ kind: 'timeout', attempts: [] });
  expect(hasFired).toBe(true);
});
