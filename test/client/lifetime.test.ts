import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from '../../src/client/lifetime.ts';

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
