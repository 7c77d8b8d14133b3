import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { abortable } from '../../src/client/cancellation.ts';

test('returns the result of the work and leaves no listener', async () => {
  const { signal } = new AbortController();

  await expect(abortable(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('an abort rejects immediately with its reason, although the work continues', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');

  const work = abortable(new Promise(() => undefined), controller.signal);
  controller.abort(reason);

  await expect(work).rejects.toBe(reason);
});

test('work that fails after the abort causes no unhandled rejection', async () => {
  const controller = new AbortController();
  const { promise, reject } = failLater();

  const work = abortable(promise, controller.signal);
  controller.abort(new Error('enough'));
  await expect(work).rejects.toThrow('enough');
  reject(new Error('late'));

  // vitest fails the run for an unhandled rejection
  await new Promise((resolve) => setImmediate(resolve));
});

test('a signal aborted before rejects with its reason', async () => {
  await expect(abortable(Promise.resolve(1), AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
});

function failLater(): { readonly promise: Promise<never>; readonly reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_, fail) => {
    reject = fail;
  });
  return { promise, reject };
}
