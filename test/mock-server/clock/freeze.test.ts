import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';

const START = Date.UTC(2026, 0, 15);

/** Waits in real time, with the clock of another mock. */
const passMs = (ms: number) => createMockServer().clock.sleep(ms);

test('a frozen real clock moves only by advance, and continues from there', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: START, frozen: true } });
  const woken: number[] = [];
  const sleep = clock.sleep(2).then(() => woken.push(clock.now()));

  await passMs(10);
  expect([clock.now(), woken]).toEqual([START, []]);

  expect(await clock.advance(60_000)).toBe(START + 60_000);
  await sleep;
  expect(woken).toEqual([START + 2]);

  clock.resume();
  await clock.sleep(3);
  expect(clock.now()).toBeGreaterThanOrEqual(START + 60_003);
  // The time during which it was frozen is not added, because that would be a jump.
  expect(clock.now()).toBeLessThan(START + 120_000);
});

test('a sleep on a frozen real clock ends after resume', async () => {
  const { clock } = createMockServer();
  const sleep = clock.sleep(5);

  clock.freeze();
  const frozenAt = clock.now();
  await passMs(10);
  expect(clock.now()).toBe(frozenAt);
  clock.resume();
  await sleep;

  expect(clock.now()).toBeGreaterThanOrEqual(frozenAt);
});

test('freezing or resuming twice has no further effect', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: START } });

  clock.freeze();
  const frozenAt = clock.now();
  await passMs(3);
  clock.freeze();
  expect(clock.now()).toBe(frozenAt);
  clock.resume();
  clock.resume();

  expect(clock.isFrozen).toBe(false);
  expect(clock.now()).toBeGreaterThanOrEqual(frozenAt);
});

test('a frozen virtual clock does not jump to a sleeper by itself', async () => {
  const { clock } = createMockServer({ clock: { mode: 'virtual', frozen: true } });
  let isAwake = false;
  const sleep = clock.sleep(1000).then(() => {
    isAwake = true;
  });

  await passMs(10);
  expect(isAwake).toBe(false);
  clock.resume();
  await sleep;

  expect(clock.now()).toBe(START + 1000);
});

test.each(['real', 'virtual'] as const)('windows do not pass while a %s clock is frozen', async (mode) => {
  const mock = createMockServer({ clock: { mode, frozen: true } });
  const { key } = mock.createKey();
  const headers = { authorization: `Bearer ${key}` };
  const send = async () => (await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers })).status;
  for (let request = 0; request < 30; request += 1) await send();

  expect(await send()).toBe(429);
  await mock.clock.advance(59_999);
  expect(await send()).toBe(429);
  await mock.clock.advance(1);
  expect(await send()).toBe(200);
});

test('a frozen clock is restored to the millisecond, however slow the machine is', () => {
  const { now } = Date;
  const other = createMockServer({ clock: { mode: 'real', now: START, frozen: true } });
  const snapshot = other.snapshot();
  const mock = createMockServer();
  let at = now();
  Date.now = () => at++;

  try {
    mock.restore(snapshot);
  } finally {
    Date.now = now;
  }

  expect(mock.clock.now()).toBe(START);
});

test.each(['real', 'virtual'] as const)(
  'a snapshot restores whether the %s clock was frozen, and reset restores its initial state',
  (mode) => {
    const mock = createMockServer({ clock: { mode, now: START } });
    mock.clock.freeze();
    const snapshot = mock.snapshot();
    mock.reset();
    expect(mock.clock.isFrozen).toBe(false);

    mock.restore(snapshot);

    expect(mock.clock.isFrozen).toBe(true);
    expect(mock.clock.now()).toBe(snapshot.now);
  },
);

test('rejects an unknown clock option by name', () => {
  expect(() => createMockServer({ clock: { mode: 'real', frozen: 'yes' as never } })).toThrow(
    'clock.frozen is "yes"; expected true or false.',
  );
});
