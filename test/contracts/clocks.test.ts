import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { realClock as cliClock } from '../../src/cli/io/node-io.ts';
import { type Clock, realClock } from '../../src/client/time/clock.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';

/** Creates a clock, and a function that waits for a short time on it. */
const clocks: [string, () => { readonly clock: Clock; readonly pass: () => Promise<unknown> }][] = [
  ['the real clock', () => ({ clock: realClock, pass: () => realClock.sleep(3) })],
  ['the real clock of the command line', () => ({ clock: cliClock, pass: () => cliClock.sleep(3) })],
  [
    'the fake clock',
    () => {
      const clock = new FakeClock();
      return { clock, pass: () => clock.advance(1) };
    },
  ],
  ['the real clock of a mock', () => ({ clock: createMockServer().clock, pass: quiet })],
  [
    'the virtual clock of a mock',
    () => {
      const { clock } = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
      return { clock, pass: () => clock.advance(1) };
    },
  ],
];

const HOUR_MS = 3_600_000;

test.each(clocks)('%s returns whole epoch milliseconds that never decrease', (_, create) => {
  const { clock } = create();

  const first = clock.now();
  const second = clock.now();

  expect(Number.isSafeInteger(first)).toBe(true);
  expect(first).toBeGreaterThan(Date.UTC(2020, 0));
  expect(second).toBeGreaterThanOrEqual(first);
});

test.each(clocks)('a sleep of zero or less on %s ends, and leaves no listener', async (_, create) => {
  const { clock, pass } = create();
  const { signal } = new AbortController();

  const sleeps = Promise.all([clock.sleep(0, signal), clock.sleep(-1, signal), clock.sleep(0)]);
  await pass();

  await expect(sleeps).resolves.toEqual([undefined, undefined, undefined]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each(clocks)('an abort ends a sleep on %s at once with its reason and leaves no listener', async (_, create) => {
  const { clock } = create();
  const controller = new AbortController();
  const reason = new Error('enough');

  const sleep = clock.sleep(HOUR_MS, controller.signal);
  controller.abort(reason);

  await expect(sleep).rejects.toBe(reason);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test.each(clocks)('a sleep on %s with an aborted signal rejects immediately', async (_, create) => {
  const { clock } = create();
  const reason = new Error('too late');

  await expect(clock.sleep(HOUR_MS, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test.each(clocks)('a sleep on %s longer than the longest timer does not end immediately', async (_, create) => {
  const { clock, pass } = create();
  const controller = new AbortController();
  const ends: number[] = [];

  const sleep = clock.sleep(2 ** 31, controller.signal).then(() => ends.push(clock.now()));
  // A timer that overflows ends after a millisecond, and then the rest of the sleep.
  for (let time = 0; time < 3; time += 1) await pass();
  controller.abort(new Error('enough'));

  await expect(sleep).rejects.toThrow('enough');
  expect(ends).toEqual([]);
});
