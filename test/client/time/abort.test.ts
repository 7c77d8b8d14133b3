import { expect, test } from 'vitest';
import { abortable, Cancellation, SharedWork } from '../../../src/client/time/abort.ts';
import { deferred } from '../../helpers/deferred.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { HeardCancellation } from '../../helpers/heard-cancellation.ts';

test('work that fails after the abort causes no unhandled rejection', async () => {
  const cancellation = new Cancellation();
  const { promise, reject } = deferred<never>();

  const work = abortable(promise, cancellation);
  cancellation.cancel(new Error('enough'));
  await expect(work).rejects.toThrow('enough');
  reject(new Error('late'));

  // vitest fails the run for an unhandled rejection
  await new Promise((resolve) => setImmediate(resolve));
});

test('an ended cancellation has no listener, although the work continues', async () => {
  const cancellation = new HeardCancellation();

  const work = abortable(new Promise(() => undefined), cancellation);
  cancellation.cancel();
  await work.catch(() => undefined);
  expect(cancellation.listeners.size).toBe(0);

  await abortable(new Promise(() => undefined), cancellation).catch(() => undefined);
  expect(cancellation.listeners.size).toBe(0);
});

test('a cancellation calls each listener once, with its first reason', () => {
  const cancellation = new Cancellation();
  const heard: unknown[] = [];
  const removed = () => heard.push('removed');
  cancellation.listen(() => heard.push(cancellation.aborted, cancellation.reason));
  cancellation.listen(() => cancellation.cancel('again'));
  cancellation.listen(removed);
  cancellation.unlisten(removed);
  expect([cancellation.aborted, cancellation.reason]).toEqual([false, undefined]);

  cancellation.cancel('first');
  cancellation.cancel('second');

  expect(heard).toEqual([true, 'first']);
  expect([cancellation.aborted, cancellation.reason]).toEqual([true, 'first']);
});

test.each(['before', 'after'])('a signal requested %s the cancellation aborts with the same reason', (when) => {
  const cancellation = new Cancellation();
  const reason = new Error('enough');

  const early = when === 'before' ? cancellation.toSignal() : undefined;
  expect(early?.aborted ?? false).toBe(false);
  cancellation.cancel(reason);
  const signal = cancellation.toSignal();

  expect(early ?? signal).toBe(signal);
  expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  expect(cancellation.toSignal()).toBe(signal);
});

test('a caller of cancelled work that ends late does not end the work of later callers', async () => {
  const shared = new SharedWork<number>();
  const ends: ((result: number) => void)[] = [];
  const start = () => new Promise<number>((resolve) => ends.push(resolve));
  const join = (signal = new Cancellation()) => shared.join(start, signal);
  const first = new Cancellation();
  const left = join(first).catch(() => undefined);
  first.cancel('enough');
  await left;

  const second = join();
  ends[0]?.(1);
  await quiet();
  const third = join(); // joins the second one, although the first one has ended meanwhile
  expect(ends).toHaveLength(2);
  ends[1]?.(2);

  expect(await Promise.all([second, third])).toEqual([2, 2]);
});
