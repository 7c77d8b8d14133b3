import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Timers } from '../../src/client/timers.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';

test('fires each timer once, at its time', async () => {
  const clock = new FakeClock(0);
  const timers = new Timers(clock);
  const fired: [string, number][] = [];

  timers.after(30, () => fired.push(['b', clock.now()]));
  timers.after(10, () => fired.push(['a', clock.now()]));
  await clock.advance(100);

  expect(fired).toEqual([
    ['a', 10],
    ['b', 30],
  ]);
  expect(await clock.left()).toBe(0);
});

test('a thousand timers share one sleep', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);

  const cancels = Array.from({ length: 1000 }, () => timers.after(10_000, () => undefined));
  await quiet();

  expect(clock.sleeps).toEqual([10_000]);
  for (const cancel of cancels) cancel();
  await quiet();
  expect(await clock.left()).toBe(0);
});

test('consecutive calls share one sleep', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  let cancel = timers.after(10_000, () => undefined);
  await quiet();

  for (let call = 0; call < 3; call += 1) {
    cancel();
    cancel = timers.after(10_000, () => undefined);
    await quiet();
  }

  expect(clock.sleeps).toEqual([10_000]);
});

test('fake timers, installed while the last timer is cancelled, leave no sleep', async () => {
  const clock = new FakeClock();
  const cancel = new Timers(clock).after(10_000, () => undefined);
  await quiet();

  vi.useFakeTimers();
  cancel();
  vi.useRealTimers();

  expect(await clock.left()).toBe(0);
});

test('a timer due later than the sleep under way does not begin another', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  timers.after(1000, () => undefined);
  await quiet();

  timers.after(2000, () => undefined);
  await quiet();

  expect(clock.sleeps).toEqual([1000]);
});

test('a timer cancelled in the tick that set it costs no sleep', async () => {
  const clock = new FakeClock();

  new Timers(clock).after(10, () => undefined)();
  await quiet();

  expect(clock.sleeps).toEqual([]);
});

test('cancelling a timer twice, or after it fired, cancels no other timer', async () => {
  const clock = new FakeClock(0);
  const timers = new Timers(clock);
  const fired: string[] = [];

  const cancelFirst = timers.after(10, () => fired.push('first'));
  timers.after(20, () => fired.push('second'));
  await clock.advance(10);
  cancelFirst();
  cancelFirst();
  await clock.advance(10);

  expect(fired).toEqual(['first', 'second']);
});

test('a timer may set and cancel others', async () => {
  const clock = new FakeClock(0);
  const timers = new Timers(clock);
  const fired: number[] = [];

  const cancelLater = timers.after(20, () => fired.push(-1));
  timers.after(10, () => {
    cancelLater();
    timers.after(5, () => fired.push(clock.now()));
  });
  await clock.advance(100);

  expect(fired).toEqual([15]);
  expect(await clock.left()).toBe(0);
});

test('a clock set back an hour delays a timer by less than its own time', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  let hasFired = false;
  timers.after(10_000, () => {
    hasFired = true;
  });
  await clock.advance(5_000);

  clock.set(-3_600_000);
  await clock.advance(15_000);

  expect(hasFired).toBe(true);
  expect(await clock.left()).toBe(0);
});

test('a clock set back between two timers does not delay the later one', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  timers.after(1_000, () => undefined);
  let hasFired = false;
  timers.after(90_000, () => {
    hasFired = true;
  });
  await clock.advance(1_000);

  clock.set(-60_000);
  timers.after(1_000, () => undefined);
  await clock.advance(89_000);

  expect(hasFired).toBe(true);
});

test('after a jump forward, such as the sleep of a laptop, overdue timers fire together', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const fired: string[] = [];
  timers.after(1_000, () => fired.push('attempt'));
  timers.after(90_000, () => fired.push('deadline'));
  await clock.advance(500);

  clock.set(3_600_000);
  await clock.advance(500);

  expect(fired).toEqual(['attempt', 'deadline']);
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
  readonly #timers = new Timers(this.clock);

  after(ms: number): void {
    const timer: SetTimer = {
      at: this.clock.now() + ms,
      firedAt: undefined,
      isCancelled: false,
      cancel: this.#timers.after(ms, () => {
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
        expect(run.clock.pending).toBe(run.waiting === 0 ? 0 : 1);
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
  const timers = new Timers(clock);
  const fired: number[] = [];
  const cancel = timers.after(1_000, () => fired.push(1));
  timers.after(1_000, () => fired.push(2));
  await quiet();

  clock.set(30_000); // the machine slept
  void clock.sleep(1_000).then(() => cancel()); // an answer, read in the turn after it woke
  await clock.advance(1_000);

  expect(fired).toEqual([2]);
});
