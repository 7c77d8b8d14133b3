import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';

const clock = { mode: 'virtual', autoAdvance: false, now: '2026-01-31T23:59:30.500Z' } as const;
const iso = (ms: number) => new Date(ms).toISOString();

test("advanceTo('quota-reset') goes to the first of the month, month after month", async () => {
  const mock = createMockServer({ clock });
  const { id, key } = mock.createKey();
  const resets: [string, number, number][] = [];
  for (let month = 0; month < 3; month += 1) {
    mock.keys.setUsage(id, { month: 999 });
    const status = async () => (await mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`)).status;
    const before = [await status(), await status()];
    expect(before).toEqual([200, 429]);
    await mock.clock.advanceTo('quota-reset');
    resets.push([iso(mock.clock.now()), mock.keys.get(id).month.used, await status()]);
  }

  expect(resets).toEqual([
    ['2026-02-01T00:00:00.000Z', 0, 200],
    ['2026-03-01T00:00:00.000Z', 0, 200],
    ['2026-04-01T00:00:00.000Z', 0, 200],
  ]);
});

test.each([
  ['sliding-log', '2026-02-01T00:00:35.500Z'],
  ['fixed-epoch', '2026-02-01T00:00:00.000Z'],
  ['fixed-first-request', '2026-02-01T00:00:30.500Z'],
  ['sliding-counter', '2026-02-01T00:01:00.000Z'],
  ['token-bucket', '2026-01-31T23:59:37.500Z'],
] as const)("advanceTo('next-window') goes to where the whole minute is free again: %s, %s", async (rateWindow, at) => {
  const mock = createMockServer({ clock, behaviour: { rateWindow } });
  const { key } = mock.createKey();
  const send = () => mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`);
  await send();
  await mock.clock.advance(5000);
  await send();

  await mock.clock.advanceTo('next-window');

  expect(iso(mock.clock.now())).toBe(at);
  const statuses = await Promise.all(Array.from({ length: 31 }, async () => (await send()).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(30);
});

test('advanceTo rejects a day that does not exist', async () => {
  const mock = createMockServer({ clock });

  const error = expect.objectContaining({ code: 'invalid_option', field: 'advanceTo' });
  await expect(mock.clock.advanceTo('2026-02-30T00:00:00Z')).rejects.toThrow(error);

  expect(iso(mock.clock.now())).toBe(clock.now);
  expect(iso(await mock.clock.advanceTo('2028-02-29T00:00:00Z'))).toBe('2028-02-29T00:00:00.000Z');
});

test('advanceTo works without a key', async () => {
  const mock = createMockServer({ clock });

  expect(iso(await mock.clock.advanceTo('next-window'))).toBe('2026-02-01T00:00:00.000Z');
  expect(iso(await mock.clock.advanceTo('quota-reset'))).toBe('2026-03-01T00:00:00.000Z');
});

test('the Date header is the clock', async () => {
  const mock = createMockServer({ clock });

  const before = await mock.fetch(`${mock.baseUrl}/nothing`);
  await mock.clock.advance(499);
  const same = await mock.fetch(`${mock.baseUrl}/nothing`);
  await mock.clock.advance(1);
  const after = await mock.fetch(`${mock.baseUrl}/nothing`);

  expect([before, same, after].map(({ headers }) => headers.get('date'))).toEqual([
    'Sat, 31 Jan 2026 23:59:30 GMT',
    'Sat, 31 Jan 2026 23:59:30 GMT',
    'Sat, 31 Jan 2026 23:59:31 GMT',
  ]);
});

test.each(['quota-reset', 'next-window'] as const)('advanceTo(%s) never passes the year 9999', async (moment) => {
  const mock = createMockServer({ clock: { ...clock, now: '9999-12-31T23:59:30Z' } });

  await expect(mock.clock.advanceTo(moment)).rejects.toThrow(
    `advanceTo is "${moment}"; expected a time up to the year 9999`,
  );

  expect(iso(mock.clock.now())).toBe('9999-12-31T23:59:30.000Z');
  expect(iso(await mock.clock.advance(1000))).toBe('9999-12-31T23:59:31.000Z');
});
