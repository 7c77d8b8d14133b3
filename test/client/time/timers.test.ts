import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { Timers } from '../../../src/client/time/timers.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';

test('consecutive calls share one sleep', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  let cancel = timers.at(clock.now() + 10_000, () => undefined);
  await quiet();

  for (let call = 0; call < 3; call += 1) {
    cancel();
    cancel = timers.at(clock.now() + 10_000, () => undefined);
    await quiet();
  }

  expect(clock.sleeps).toEqual([10_000]);
});

test('fake timers, installed while the last timer is cancelled, leave no sleep', async () => {
  const clock = new FakeClock();
  const cancel = new Timers(clock).at(clock.now() + 10_000, () => undefined);
  await quiet();

  vi.useFakeTimers();
  cancel();
  vi.useRealTimers();

  expect(await clock.left()).toBe(0);
});

test('a timer may set and cancel others', async () => {
  const clock = new FakeClock(0);
  const timers = new Timers(clock);
  const fired: number[] = [];

  const cancelLater = timers.at(clock.now() + 20, () => fired.push(-1));
  timers.at(clock.now() + 10, () => {
    cancelLater();
    timers.at(clock.now() + 5, () => fired.push(clock.now()));
  });
  await clock.advance(100);

  expect(fired).toEqual([15]);
  expect(await clock.left()).toBe(0);
});

test('a clock set back an hour delays a timer by less than its own time', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  let hasFired = false;
  timers.at(clock.now() + 10_000, () => {
    hasFired = true;
  });
  await clock.advance(5_000);

  clock.set(-3_600_000);
  await clock.advance(15_000);

  expect(hasFired).toBe(true);
  expect(await clock.left()).toBe(0);
});

test('after a jump forward, such as the sleep of a laptop, overdue timers fire together', async () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const fired: string[] = [];
  timers.at(clock.now() + 1_000, () => fired.push('attempt'));
  timers.at(clock.now() + 90_000, () => fired.push('deadline'));
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
      cancel: this.#timers.at(this.clock.now() + ms, () => {
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
  const cancel = timers.at(clock.now() + 1_000, () => fired.push(1));
  timers.at(clock.now() + 1_000, () => fired.push(2));
  await quiet();

  clock.set(30_000); // the machine slept
  void clock.sleep(1_000).then(() => cancel()); // a response, read in the turn after it woke
  await clock.advance(1_000);

  expect(fired).toEqual([2]);
});

test.each([
  [50, [1000]],
  [51, [1000, 0]],
])('a sleep that ends %i ms late makes the sleeps %j before a timeout fires', async (lateMs, sleeps) => {
  const clock = new FakeClock(0);
  let hasFired = false;
  new Timers(clock).at(clock.now() + 1_000, () => {
    hasFired = true;
  });
  await quiet();

  clock.set(lateMs);
  await clock.advance(1_000);

  expect(hasFired).toBe(true);
  expect(clock.sleeps).toEqual(sleeps);
});

test('a clock that ends a sleep although it was stopped starts no second sleep', async () => {
  const sleeps: { readonly ms: number; readonly end: () => void }[] = [];
  let now = 0;
  const clock = {
    now: () => now,
    sleep: (ms: number) => new Promise<void>((end) => sleeps.push({ ms, end })),
  };
  const timers = new Timers(clock);
  timers.at(clock.now() + 1_000, () => undefined);
  await quiet();
  timers.at(clock.now() + 500, () => undefined);
  await quiet();

  now = 400;
  sleeps[0]?.end();
  await quiet();

  expect(sleeps.map(({ ms }) => ms)).toEqual([1_000, 500]);
});

test('work that throws before it returns a promise rejects, and leaves no timer', async () => {
  const clock = new FakeClock(0);
  const signal = new Cancellation();
  const thrown = new Error('no dispatcher');

  const result = new Timers(clock).withTimeout(
    () => {
      throw thrown;
    },
    { at: clock.now() + 1_000, signal, errorOf: () => new Error('late') },
  );

  await expect(result).rejects.toBe(thrown);
  expect(await clock.left()).toBe(0);
});
