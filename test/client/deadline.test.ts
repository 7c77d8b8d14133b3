import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Attempt } from '../../src/client/errors/errors.ts';
import { AbortError, TimeoutError } from '../../src/client/index.ts';
import { waitAsCaller } from '../../src/client/steps/share-request.ts';
import { Timers } from '../../src/client/time/timers.ts';
import { deferred } from '../helpers/deferred.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';
import { errorOf } from '../helpers/test-client.ts';

const ATTEMPT: Attempt = { status: 503, code: undefined, waitedMs: 0, reason: 'first' };

/** One caller of a response that the test ends, ten milliseconds after the start of its call. */
function caller({ signal, deadlineMs = 1000 }: { readonly signal?: AbortSignal; readonly deadlineMs?: number } = {}) {
  const clock = new FakeClock(10);
  const response = deferred<string>();
  const left: unknown[] = [];
  const attempts: Attempt[] = [ATTEMPT];
  const limits = { signal, deadlineMs, deadlineAt: deadlineMs };
  const result = waitAsCaller(response.promise, limits, {
    timers: new Timers(clock),
    attempts,
    leave: () => left.push('left'),
  });
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
  expect(left).toEqual(['left']);
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
  expect(left).toEqual(['left']);
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
    waitAsCaller(work, { signal: undefined, deadlineMs: 1000, deadlineAt: 1000 }, { timers, attempts: [] }),
  );
  let hasFired = false;
  timers.after(1000, () => {
    hasFired = true;
  });

  await clock.advance(1000);

  expect(await ending).toMatchObject({ kind: 'timeout', attempts: [] });
  expect(hasFired).toBe(true);
});
