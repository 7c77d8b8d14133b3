import { Keyv } from 'keyv';
import { expect, test } from 'vitest';
import type { CacheStore, FxRatesOptions } from '../../src/client/index.ts';
import { clientOnMock } from '../helpers/mock-with-key.ts';

/** A client with a cache, of a key of the developer plan. */
function setUp(client: FxRatesOptions) {
  const { mock, fx, id } = clientOnMock({ plan: 'developer', client });
  return { mock, fx, used: () => mock.keys.get(id).month.used };
}

const fail = () => {
  throw new Error('down');
};

test.each<[string, () => CacheStore | undefined]>([
  ['in memory', () => undefined],
  ['in a Keyv', () => new Keyv()],
  ['in a Keyv with a namespace', () => new Keyv({ namespace: 'rates' })],
  ['in a Keyv whose adapter fails', () => new Keyv({ store: { get: fail, set: fail, delete: fail, clear: fail } })],
  ['in a Map', () => new Map<string, string>()],
])('a hundred calls for one rate send one request: responses %s', async (_, store) => {
  const { fx, used } = setUp({ cache: { maxAgeMs: 60_000, store: store() } });
  const first = await fx.latest({ base: 'EUR' }).withMeta();

  for (let n = 0; n < 10; n += 1) {
    const responses = await Promise.all(Array.from({ length: 10 }, () => fx.latest({ base: 'EUR' }).withMeta()));
    for (const { meta } of responses) {
      expect(meta).toMatchObject({ source: 'cache', rawBody: first.meta.rawBody });
      expect([...meta.headers]).toEqual([...first.meta.headers]);
    }
  }

  expect(used()).toBe(1);
});

test('guard and cache together: a page is served all month, and the reserve remains', async () => {
  const store = new Map<string, string>();
  const { mock, fx, used } = setUp({
    cache: { maxAgeMs: 60_000, staleIfLimitedMs: 31 * 86_400_000, store },
    quotaGuard: { reserve: 99_900 },
  });
  const resetsAt = Date.parse((await fx.quota()).resets_at);
  const sources = new Set<string>();

  while (mock.clock.now() < resetsAt - 3_600_000) {
    sources.add((await fx.latest({ base: 'EUR' }).withMeta()).meta.source);
    await mock.clock.advance(3_600_000);
  }

  expect(sources).toEqual(new Set(['network', 'stale']));
  expect(used()).toBe(100);
});
