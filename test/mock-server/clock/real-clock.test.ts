import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';

test('a real clock returns the time of the machine', () => {
  const before = Date.now();
  const now = createMockServer().clock.now();

  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('a real clock can start at any moment, and then runs', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: '2026-01-31T23:59:58Z' } });
  const start = clock.now();

  await clock.sleep(5);

  expect(start).toBeGreaterThanOrEqual(Date.parse('2026-01-31T23:59:58Z'));
  expect(start).toBeLessThan(Date.parse('2026-02-01T00:00:00Z'));
  expect(clock.now()).toBeGreaterThanOrEqual(start + 5);
});

test('advance moves a real clock and ends the waits on the way, in order', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });
  const start = clock.now();
  const woken: string[] = [];
  const sleeps = [
    clock.sleep(7_200_000).then(() => woken.push('two hours')),
    clock.sleep(3_600_000).then(async () => {
      woken.push('one hour');
      await clock.sleep(1_800_000);
      woken.push('one and a half');
    }),
  ];

  const now = await clock.advance(7_200_000);
  await Promise.all(sleeps);

  expect(woken).toEqual(['one hour', 'one and a half', 'two hours']);
  expect(now - start).toBeGreaterThanOrEqual(7_200_000);
});

test('advanceTo and reset work on a real clock as well', async () => {
  const mock = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });

  await mock.clock.advanceTo('quota-reset');
  expect(new Date(mock.clock.now()).toISOString()).toMatch(/^2026-02-01T00:00:0/);
  mock.reset();

  expect(new Date(mock.clock.now()).toISOString()).toMatch(/^2026-01-15T00:00:0/);
});

test('simultaneous calls of advance() move the clock by their sum', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });
  const start = clock.now();
  const woken = clock.sleep(60_000);

  const [first, second] = await Promise.all([clock.advance(3_600_000), clock.advance(3_600_000)]);
  await woken;

  expect(first - start).toBeGreaterThanOrEqual(3_600_000);
  expect(second - start).toBeGreaterThanOrEqual(7_200_000);
  expect(clock.now() - start).toBeGreaterThanOrEqual(7_200_000);
});

test('advance() after a reset starts from the new time', async () => {
  const mock = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });
  await mock.clock.advance(3_600_000);

  mock.reset();

  expect(new Date(await mock.clock.advance(60_000)).toISOString()).toMatch(/^2026-01-15T00:01:0/);
});
