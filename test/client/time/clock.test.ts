import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { abortable, Cancellation } from '../../../src/client/time/abort.ts';
import { type Clock, realClock, SteadyTime } from '../../../src/client/time/clock.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';

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
  expect(time.toEpoch(time.datedNow() + 1_000)).toBe(1_003_000 + byMs);
});

test('is a whole number of milliseconds', async () => {
  const wall = new FakeClock(1_000_000);
  const time = new SteadyTime(monotonicClock(wall));

  await wall.advance(0.5);

  expect(Number.isInteger(time.now())).toBe(true);
});

test('without a monotonic clock, it follows the clock, and stops while that is set back', async () => {
  const clock = new FakeClock(10_000_000);
  const time = new SteadyTime(clock);
  expect(time.now()).toBe(10_000_000);

  clock.set(50_000);
  expect(time.now()).toBe(10_050_000);
  clock.set(-3_600_000);
  expect(time.now()).toBe(10_050_000);

  await clock.advance(500);
  expect(time.now()).toBe(10_050_500);
  expect(time.toEpoch(time.datedNow())).toBe(clock.now());
});

test('the dated time counts a sleep of the machine once, ignores small differences, and never decreases', async () => {
  const wall = new FakeClock(1_000_000);
  const clock = monotonicClock(wall);
  const time = new SteadyTime(clock);
  const datedAfter = (setByMs: number) => {
    clock.set(setByMs);
    return time.datedNow() - time.now();
  };

  expect([0, 5_000, 1, -5_000, -3_600_000].map(datedAfter)).toEqual([0, 0, 5_001, 5_001, 5_001]);
  await wall.advance(2_000);
  expect(time.datedNow()).toBe(1_007_001);
  expect([3_600_000, 3_600_000].map(datedAfter)).toEqual([5_001, 3_600_001]);
});

test('the dated time is a whole number after a sleep, also if the dates of the clock are not', () => {
  let wall = 1_000_000.25;
  const time = new SteadyTime({ now: () => wall, monotonicNow: () => 0, sleep: async () => undefined });
  wall += 3_600_000.5;

  expect(time.datedNow() % 1).toBe(0);
});

test('if a test fakes setTimeout alone, as node:test does, the monotonic clock follows it', async () => {
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

test('a timer may set and cancel others', async () => {
  const clock = new FakeClock(0);
  const time = new SteadyTime(clock);
  const fired: number[] = [];

  const cancelLater = time.at(clock.now() + 20, () => fired.push(-1));
  time.at(clock.now() + 10, () => {
    cancelLater();
    time.at(clock.now() + 5, () => fired.push(clock.now()));
  });
  await clock.advance(100);

  expect(fired).toEqual([15]);
  expect(await clock.left()).toBe(0);
});

interface SetTimer {
  readonly at: number;
  firedAt: number | undefined;
  isCancelled: boolean;
  readonly cancel: () => void;
}

/** Timers, and beside them what should become of each. */
class Run {
  readonly clock = new FakeClock(0);
  readonly set: SetTimer[] = [];
  readonly #time = new SteadyTime(this.clock);

  after(ms: number): void {
    const timer: SetTimer = {
      at: this.clock.now() + ms,
      firedAt: undefined,
      isCancelled: false,
      cancel: this.#time.at(this.clock.now() + ms, () => {
        expect(timer.firedAt).toBeUndefined();
        timer.firedAt = this.clock.now();
      }),
    };
    this.set.push(timer);
  }

  cancel(index: number): void {
    const timer = this.set[index];
    timer?.cancel();
    if (timer && timer.firedAt === undefined) timer.isCancelled = true;
  }

  get waiting(): number {
    return this.set.filter(({ firedAt, isCancelled }) => firedAt === undefined && !isCancelled).length;
  }
}

const steps: fc.Arbitrary<(run: Run) => unknown> = fc.oneof(
  fc.nat(1000).map((ms) => (run: Run) => run.after(ms)),
  fc.nat(20).map((index) => (run: Run) => run.cancel(index)),
  fc.nat(400).map((ms) => (run: Run) => run.clock.advance(ms)),
);

test('in any order of setting, cancelling and passing time, each fires at its time or not at all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 30 }), async (program) => {
      const run = new Run();

      for (const step of program) {
        await step(run);
        await quiet();
        expect(run.clock.pending).toBe(run.waiting);
      }
      await run.clock.advance(1000);

      for (const { at, firedAt, isCancelled } of run.set) expect(firedAt).toBe(isCancelled ? undefined : at);
      expect(await run.clock.left()).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('a process that was suspended reads its responses before timeouts fire', async () => {
  const clock = new FakeClock(0);
  const time = new SteadyTime(clock);
  const fired: number[] = [];
  const cancel = time.at(clock.now() + 1_000, () => fired.push(1));
  time.at(clock.now() + 1_000, () => fired.push(2));
  await quiet();

  clock.set(30_000); // the machine slept
  void clock.sleep(1_000).then(() => cancel()); // a response, read in the turn after it woke
  await clock.advance(1_000);

  expect(fired).toEqual([2]);
});

test('a timer that was cancelled does not fire, also if the clock ignores signals', async () => {
  const fired: string[] = [];
  const ends: (() => void)[] = [];
  const clock = { now: () => 1_000, sleep: () => new Promise<void>((end) => ends.push(end)) };
  const time = new SteadyTime(clock);
  const cancel = time.at(1_000, () => fired.push('cancelled'));
  time.at(1_000, () => fired.push('set'));

  cancel();
  for (const end of ends) end();
  await quiet();

  expect(fired).toEqual(['set']);
});

/** Clocks of tests whose sleeps do not last as long as their time says. */
const skipping: [string, () => Clock][] = [
  ['stands still', () => ({ now: () => 1_000, sleep: async () => {} })],
  [
    'stands still, with a monotonic clock that does too',
    () => ({ now: () => 1_000, monotonicNow: () => 5, sleep: async () => {} }),
  ],
  ['sleeps until the next turn', () => ({ now: () => 1_000, sleep: () => new Promise((end) => setImmediate(end)) })],
  ['is that of the system', () => ({ now: () => realClock.now(), sleep: async () => {} })],
  ['has a mock of a sleep', () => ({ now: () => 1_000, sleep: (() => undefined) as never })],
];

test.each(skipping)('a sleep that ends too early counts as elapsed if the clock %s', async (_, create) => {
  const clock = create();
  const time = new SteadyTime(clock);
  const startedAt = time.now();

  await time.sleep(3_600_000, new Cancellation());
  const sleptMs = time.now() - startedAt;
  await new Promise<void>((fire) => time.atDate(time.datedNow() + 3_600_000, fire));

  expect(Math.round(sleptMs / 1_000)).toBe(3_600);
  expect(Math.round((time.now() - startedAt) / 1_000)).toBe(7_200);
});

const noSleep = () => {
  throw new Error('no sleep');
};

test.each([
  ...skipping,
  ['cannot sleep', () => ({ now: () => 1_000, sleep: () => Promise.reject(new Error('no sleep')) })],
  ['throws', () => ({ now: () => 1_000, sleep: noSleep })],
] satisfies typeof skipping)('a time limit leaves time for the work if the clock %s', async (_, create) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const time = new SteadyTime(create());
  const outcomes: string[] = [];
  const limited = (work: Promise<string>) =>
    time
      .withTimeout((cancellation) => abortable(work, cancellation), { afterMs: 10_000, errorOf: () => 'late' })
      .then(
        (result) => outcomes.push(result),
        (reason) => outcomes.push(reason),
      );

  void limited(quiet().then(() => 'done'));
  void limited(new Promise(() => undefined));
  await quiet();
  await vi.advanceTimersByTimeAsync(9_000);
  expect(outcomes).toEqual(['done']);
  await vi.advanceTimersByTimeAsync(1_000);

  expect(outcomes).toEqual(['done', 'late']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a sleep that the clock cannot make takes its time by the timers of the system', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const time = new SteadyTime({ now: () => 1_000, sleep: () => Promise.reject(new Error('no sleep')) });
  const ends: string[] = [];
  const signal = new Cancellation();

  void time.sleep(60_000, new Cancellation()).then(() => ends.push('elapsed'));
  void time.sleep(60_000, signal).catch((reason) => ends.push(reason));
  await quiet();
  signal.cancel('aborted');
  await vi.advanceTimersByTimeAsync(59_000);
  expect(ends).toEqual(['aborted']);
  await vi.advanceTimersByTimeAsync(1_000);

  expect(ends).toEqual(['aborted', 'elapsed']);
});

test('work that throws before it returns a promise rejects, and leaves no timer', async () => {
  const clock = new FakeClock(0);
  const signal = new Cancellation();
  const thrown = new Error('no dispatcher');

  const result = new SteadyTime(clock).withTimeout(
    () => {
      throw thrown;
    },
    { afterMs: 1_000, signal, errorOf: () => new Error('late') },
  );

  await expect(result).rejects.toBe(thrown);
  expect(await clock.left()).toBe(0);
});
