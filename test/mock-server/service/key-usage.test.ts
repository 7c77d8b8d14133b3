import { expect, test } from 'vitest';
import { createMockServer, type SetUsage } from '../../../src/mock-server/index.ts';

const START = Date.UTC(2026, 0, 15);
const KINDS = ['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'] as const;

/** A mock whose only key sent 3 requests 20 s before now, and 2 now. */
async function usedKey(rateWindow: (typeof KINDS)[number]) {
  const mock = createMockServer({
    clock: { mode: 'virtual', now: START + 5000, autoAdvance: false },
    behaviour: { rateWindow },
  });
  const { id, key } = mock.createKey();
  const call = () => mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: key } });
  for (let request = 0; request < 3; request += 1) await call();
  await mock.clock.advance(20_000);
  for (let request = 0; request < 2; request += 1) await call();
  return { mock, id, call };
}

test.each([
  ['sliding-log', { used: 5, fullAt: START + 85_000 }],
  ['fixed-epoch', { used: 5, fullAt: START + 60_000 }],
  ['fixed-first-request', { used: 5, fullAt: START + 65_000 }],
  ['sliding-counter', { used: 5, fullAt: START + 120_000 }],
  ['token-bucket', { used: 2, fullAt: START + 29_000 }], // the others have refilled
] as const)('the limits of a key show what a window of kind %s has counted', async (kind, counted) => {
  const { mock, id } = await usedKey(kind);
  const unused = mock.createKey({ plan: 'unlimited' }).id;

  const { minute, month } = mock.keys.get(id);

  expect(minute).toMatchObject({ limit: 30, waitMs: 0, ...counted });
  expect(month).toMatchObject({ used: 5, startedAt: Date.UTC(2026, 0), resetsAt: Date.UTC(2026, 1) });
  expect(mock.keys.get(unused)).toMatchObject({
    minute: { used: 0, waitMs: 0, fullAt: mock.clock.now() },
    month: { limit: null, used: 0 },
  });
});

test.each(KINDS)('setUsage sets the requests of this minute in a window of kind %s', async (kind) => {
  const { mock, id, call } = await usedKey(kind);

  mock.keys.setUsage(id, { minute: 29 });
  const statuses = [(await call()).status, (await call()).status];

  expect(statuses).toEqual([200, 429]);
  expect(mock.keys.get(id).month.used).toBe(6);
  mock.keys.setUsage(id, { minute: 0, month: 9 });
  expect(mock.keys.get(id)).toMatchObject({ minute: { used: 0 }, month: { used: 9 } });
});

test.each([
  [{ minute: 31 }, 'minute is 31; expected a whole number from 0 to 30, the limit of the plan.'],
  [{ minute: 1.5 }, 'minute is 1.5'],
  [{ month: Number.NaN, minute: 1 }, 'month is NaN; expected a whole number from 0.'],
  [{}, 'options is {}; expected month, minute or both.'],
  [{ minutes: 1 }, 'minutes is not an option of setUsage(); did you mean minute?'],
])('setUsage refuses %j and changes nothing', async (usage, message) => {
  const { mock, id } = await usedKey('sliding-log');
  const before = mock.keys.get(id);

  expect(() => mock.keys.setUsage(id, usage as SetUsage)).toThrow(message);
  expect(mock.keys.get(id)).toEqual(before);
});

test('the wait equals the Retry-After, and reading it counts nothing', async () => {
  const { mock, id, call } = await usedKey('sliding-log');
  for (let request = 5; request < 30; request += 1) await call();

  expect(mock.keys.get(id).minute).toMatchObject({ used: 30, waitMs: 40_000 });
  expect((await call()).headers.get('retry-after')).toBe('40');
  expect(mock.keys.get(id).minute.used).toBe(30);
});

test.each(KINDS)('a key that was idle for an hour has its full limit now: %s', async (kind) => {
  const { mock, id } = await usedKey(kind);
  await mock.clock.advance(3_600_000);

  expect(mock.keys.get(id).minute).toMatchObject({ used: 0, waitMs: 0, fullAt: mock.clock.now() });
});
