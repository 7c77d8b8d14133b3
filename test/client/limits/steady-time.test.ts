import { expect, test } from 'vitest';
import { SteadyTime } from '../../../src/client/limits/steady-time.ts';
import { VirtualClock } from '../../helpers/limits-clock.ts';

test('is the time of the clock until that is set back', () => {
  const clock = new VirtualClock(1_000_000);
  const time = new SteadyTime(clock);

  expect(time.now()).toBe(1_000_000);
  clock.jump(50_000);
  expect(time.now()).toBe(1_050_000);
  expect(time.toEpoch(time.now())).toBe(clock.now());
});

test('stands still for a clock set back, and runs on from there', async () => {
  const clock = new VirtualClock(10_000_000);
  const time = new SteadyTime(clock);
  time.now();

  clock.jump(-3_600_000);
  expect(time.now()).toBe(10_000_000);

  await clock.advance(500);
  expect(time.now()).toBe(10_000_500);
  expect(time.toEpoch(10_000_500)).toBe(clock.now());
  expect(time.fromEpoch(clock.now())).toBe(10_000_500);
});
