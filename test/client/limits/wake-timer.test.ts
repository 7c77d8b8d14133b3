import { expect, test } from 'vitest';
import { WakeTimer } from '../../../src/client/limits/wake-timer.ts';
import { VirtualClock } from '../../helpers/limits-clock.ts';

function setUp() {
  const clock = new VirtualClock(0);
  const wokeAt: number[] = [];
  return { clock, wokeAt, timer: new WakeTimer(clock, () => wokeAt.push(clock.now())) };
}

test('wakes once, at the earliest time it was set to, with one sleep', async () => {
  const { clock, wokeAt, timer } = setUp();

  timer.set(0, 3_000);
  timer.set(0, 1_000);
  timer.set(0, 2_000);
  expect(clock.pending).toBe(1);
  await clock.run();

  expect(wokeAt).toEqual([1_000]);
});

test('wakes after five seconds at the latest: the clock may have jumped', async () => {
  const { clock, wokeAt, timer } = setUp();

  timer.set(0, 60_000);
  await clock.run();

  expect(wokeAt).toEqual([5_000]);
});

test('a sleep for no time takes a millisecond', async () => {
  const { clock, wokeAt, timer } = setUp();

  timer.set(0, 0);
  await clock.run();

  expect(wokeAt).toEqual([1]);
});

test('never wakes after `cancel`, and leaves no sleep', async () => {
  const { clock, wokeAt, timer } = setUp();

  timer.set(0, 1_000);
  timer.cancel();
  expect(clock.pending).toBe(0);
  await clock.run();

  expect(wokeAt).toEqual([]);
});
