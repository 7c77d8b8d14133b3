import { expect, test } from 'vitest';
import { Alarm } from '../../../src/client/limits/alarm.ts';
import { VirtualClock } from '../../helpers/limits-clock.ts';

function setUp() {
  const clock = new VirtualClock(0);
  const rings: number[] = [];
  return { clock, rings, alarm: new Alarm(clock, () => rings.push(clock.now())) };
}

test('rings once, at the earliest time it was set to, with one sleep', async () => {
  const { clock, rings, alarm } = setUp();

  alarm.set(0, 3_000);
  alarm.set(0, 1_000);
  alarm.set(0, 2_000);
  expect(clock.pending).toBe(1);
  await clock.run();

  expect(rings).toEqual([1_000]);
});

test('looks every five seconds whether the clock has jumped', async () => {
  const { clock, rings, alarm } = setUp();

  alarm.set(0, 60_000);
  await clock.run();

  expect(rings).toEqual([5_000]);
});

test('a sleep for no time takes a millisecond', async () => {
  const { clock, rings, alarm } = setUp();

  alarm.set(0, 0);
  await clock.run();

  expect(rings).toEqual([1]);
});

test('cancelled, it never rings and leaves no sleep', async () => {
  const { clock, rings, alarm } = setUp();

  alarm.set(0, 1_000);
  alarm.cancel();
  expect(clock.pending).toBe(0);
  await clock.run();

  expect(rings).toEqual([]);
});
