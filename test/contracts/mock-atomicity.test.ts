import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { mockAdapters } from '../helpers/mock-adapters.ts';

const WINDOWS = ['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'] as const;

function countByCode(codes: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code ?? 'served'] = (counts[code ?? 'served'] ?? 0) + 1;
  return counts;
}

test.each(WINDOWS)(
  'of 2,000 requests at once, exactly as many are served as both limits allow, %s',
  async (rateWindow) => {
    const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false }, behaviour: { rateWindow } });
    // One key reaches its monthly quota, the other its per-minute limit.
    const [monthly, minutely] = [150, 1000].map((left) => {
      const created = mock.createKey({ plan: 'developer' });
      mock.keys.setUsage(created.id, { month: 100_000 - left });
      return created;
    });
    const send = async (key: string) => {
      const response = await mock.fetch(`${mock.baseUrl}/api/v1/latest?symbols=EUR`, {
        headers: { authorization: key },
      });
      return ((await response.json()) as { error?: { code: string } }).error?.code;
    };

    const codes = await Promise.all(
      Array.from({ length: 2_000 }, async (_, index) => ({
        index,
        code: await send([monthly!, minutely!][index % 2]!.key),
      })),
    );

    const codesOf = (parity: number) => codes.filter(({ index }) => index % 2 === parity).map(({ code }) => code);
    expect(countByCode(codesOf(0))).toEqual({ served: 150, quota_exceeded: 850 });
    expect(countByCode(codesOf(1))).toEqual({ served: 300, rate_limited: 700 });
    expect(mock.keys.get(monthly!.id).month.used).toBe(100_000);
    expect(mock.keys.get(minutely!.id).month.used).toBe(100_000 - 1000 + 300);
  },
);

test.each(mockAdapters)('of 400 simultaneous requests through $name, 300 per minute are served', async ({ open }) => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const { id, key } = mock.createKey({ plan: 'developer' });
  const { send, close } = await open(mock);

  const responses = await Promise.all(
    Array.from({ length: 400 }, () => send({ target: '/api/v1/latest?symbols=EUR', headers: { authorization: key } })),
  ).finally(close);

  expect(countByCode(responses.map(({ status }) => String(status)))).toEqual({ 200: 300, 429: 100 });
  expect(mock.keys.get(id).month.used).toBe(300);
});
