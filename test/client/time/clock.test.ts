import { expect, onTestFinished, test, vi } from 'vitest';
import { realClock, SteadyTime, steadyTime } from '../../../src/client/time/clock.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';

/** A wall clock that can be set, and a monotonic clock that started at 5 000. */
function monotonicClock(wall: FakeClock) {
  let setByMs = 0;
  return {
    now: () => wall.now() + setByMs,
    monotonicNow: () => wall.now() - 1_000_000 + 5_000.25,
    sleep: (ms: number, signal?: AbortSignal) => wall.sleep(ms, signal),
    set: (ms: number) => {
      setByMs += ms;
    },
  };
}

test.each([3_600_000, -3_600_000])('a change of the system clock by %i ms does not affect it', async (byMs) => {
  const wall = new FakeClock(1_000_000);
  const clock = monotonicClock(wall);
  const time = new SteadyTime(clock);

  expect(time.now()).toBe(1_000_000);
  clock.set(byMs);
  expect(time.now()).toBe(1_000_000);
  await wall.advance(2_000);
  expect(time.now()).toBe(1_002_000);

  // What is shown to people is what their clock will show then.
  expect(time.toEpoch(1_003_000)).toBe(1_003_000 + byMs);
});

test('is a whole number of milliseconds', async () => {
  const wall = new FakeClock(1_000_000);
  const time = new SteadyTime(monotonicClock(wall));

  await wall.advance(0.5);

  expect(Number.isInteger(time.now())).toBe(true);
});

test('without a monotonic clock, it follows the clock until that is set back', () => {
  const clock = new FakeClock(1_000_000);
  const time = new SteadyTime(clock);

  expect(time.now()).toBe(1_000_000);
  clock.set(50_000);
  expect(time.now()).toBe(1_050_000);
  expect(time.toEpoch(time.now())).toBe(clock.now());
});

test('without a monotonic clock, it stops while the clock is set back, and continues from there', async () => {
  const clock = new FakeClock(10_000_000);
  const time = new SteadyTime(clock);
  time.now();

  clock.set(-3_600_000);
  expect(time.now()).toBe(10_000_000);

  await clock.advance(500);
  expect(time.now()).toBe(10_000_500);
  expect(time.toEpoch(10_000_500)).toBe(clock.now());
});

test('there is one for each clock', () => {
  const clock = new FakeClock();

  expect(steadyTime(clock)).toBe(steadyTime(clock));
  expect(steadyTime(new FakeClock())).not.toBe(steadyTime(clock));
});

test('if a test fakes setTimeout but not performance, as node:test does, the monotonic clock follows the timers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const time = new SteadyTime(realClock);
  const start = time.now();

  const sleeps = Promise.all([realClock.sleep(60_000), realClock.sleep(90_000)]);
  await vi.advanceTimersByTimeAsync(90_000);
  await sleeps;

  expect(time.now() - start).toBeGreaterThanOrEqual(90_000);
  expect(time.now() - start).toBeLessThan(150_000);
});

test('a timer that ends after performance was set back moves no clock', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const now = vi.spyOn(performance, 'now').mockReturnValue(1e9);
  onTestFinished(() => {
    now.mockRestore();
    vi.useRealTimers();
  });
  const before = realClock.monotonicNow?.();

  const sleep = realClock.sleep(60_000);
  now.mockReturnValue(0);
  await vi.advanceTimersByTimeAsync(60_000);
  await sleep;
  now.mockReturnValue(1e9);

  expect(realClock.monotonicNow?.()).toBe(before);
});
