import { expect, test } from 'vitest';
import { FxRates } from '../../src/client/index.ts';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';

test('a client uses a month of the Free plan in virtual time, and continues after the reset', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  const { id, key } = mock.createKey({ plan: 'free' });
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions() });
  const start = mock.clock.now();

  for (let call = 0; call < 1000; call += 1) await fx.latest({ base: 'EUR' });

  expect(mock.keys.get(id).month.used).toBe(1000);
  // A thousand calls at thirty per minute: the last ones are sent in the 34th minute.
  expect(mock.clock.now() - start).toBeGreaterThanOrEqual(33 * 60_000);
  await expect(fx.latest()).rejects.toMatchObject({
    kind: 'quota_exhausted',
    resetsAt: new Date('2026-02-01T00:00:00.000Z'),
  });

  await mock.clock.advanceTo('quota-reset');

  await expect(fx.latest()).resolves.toMatchObject({ base: 'USD' });
});

/** Adapters other than `mock.fetch`; the client still waits with the mock's clock. */
const ways: [string, (mock: MockServer) => Promise<string>][] = [
  ['a real socket', async (mock) => (await mock.serve()).url],
  [
    'interception',
    async (mock) => {
      mock.listen();
      return mock.baseUrl;
    },
  ],
];

test.each(ways)('waits of minutes take no real time over %s, and no timeout fires early', async (_, open) => {
  await using mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey({ plan: 'free' });
  const fx = new FxRates({ apiKey: key, baseUrl: await open(mock), clock: mock.clock, timeoutMs: 1000, maxRetries: 0 });
  const start = mock.clock.now();

  for (let call = 0; call < 95; call += 1) await fx.latest();

  expect(mock.clock.now() - start).toBeGreaterThanOrEqual(3 * 60_000);
  expect(mock.clock.now() - start).toBeLessThan(4 * 60_000);
});
