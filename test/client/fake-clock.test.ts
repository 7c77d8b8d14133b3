import { expect, test } from 'vitest';
import { FakeClock } from '../helpers/fake-clock.ts';

test('ends sleeps in order, each at its time', async () => {
  const clock = new FakeClock(0);
  const woken: [string, number][] = [];
  const sleeper = (name: string, ms: number) => clock.sleep(ms).then(() => woken.push([name, clock.now()]));

  const sleeps = Promise.all([sleeper('late', 300), sleeper('early', 100), sleeper('middle', 200)]);
  await clock.advance(250);

  expect(woken).toEqual([
    ['early', 100],
    ['middle', 200],
  ]);
  expect(clock.now()).toBe(250);
  expect(clock.pending).toBe(1);
  await clock.run(sleeps);
  expect(clock.now()).toBe(300);
});

test('an advance also ends a sleep that began during it', async () => {
  const clock = new FakeClock(0);

  const work = clock.sleep(10).then(() => clock.sleep(10));
  await clock.advance(20);

  await expect(work).resolves.toBeUndefined();
});

test('time does not move by itself', async () => {
  const clock = new FakeClock(0);

  await clock.run(Promise.resolve());

  expect(clock.now()).toBe(0);
});

test('a run does not end a sleep after its end', async () => {
  const clock = new FakeClock(0);
  const controller = new AbortController();
  const far = clock.sleep(1000, controller.signal).catch(() => 'aborted');

  await clock.run(clock.sleep(10), { horizonMs: 100 });

  expect(clock.now()).toBe(10);
  controller.abort();
  await expect(far).resolves.toBe('aborted');
});

test('setting the wall clock ends no sleep', async () => {
  const clock = new FakeClock(0);
  let isAwake = false;
  const sleep = clock.sleep(100).then(() => {
    isAwake = true;
  });

  clock.set(3_600_000);
  await clock.advance(99);

  expect(isAwake).toBe(false);
  expect(clock.now()).toBe(3_600_099);
  await clock.run(sleep);
});
