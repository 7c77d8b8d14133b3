import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from '../../src/client/lifetime.ts';

test('many callbacks cost a signal one listener, and the last to go takes it away', () => {
  const { signal } = new AbortController();

  const undo = Array.from({ length: 100 }, () => onAbort(signal, () => undefined));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const take of undo) take();

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('an abort calls each callback once, except those that were taken back', () => {
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

test('a callback may take back one that was to be called after it', () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => undoSecond());
  const undoSecond = onAbort(controller.signal, () => called.push('second'));

  controller.abort();

  expect(called).toEqual([]);
});
