import { expect, test } from 'vitest';
import { FxRates } from '../../../src/client/index.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';

test('a quota() that the rate limit always refuses blocks no other call', async () => {
  const mock = createMockServer({ seed: 7, clock: 'virtual' });
  const { key } = mock.createKey();
  const headers = { 'retry-after': '20' };
  const match = { operation: 'quota' } as const;
  mock.faults.add({ kind: 'status', status: 429, code: 'rate_limited', headers, strikes: 'before', match });
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions() });
  const startedAt = mock.clock.now();

  await Promise.all(Array.from({ length: 100 }, (_, n) => fx.latest({ n }, { deadlineMs: false })));

  expect(mock.clock.now() - startedAt).toBeLessThan(15 * 60_000);
  expect(mock.journal.list({ operation: 'quota' }).length).toBeLessThan(10);
});
