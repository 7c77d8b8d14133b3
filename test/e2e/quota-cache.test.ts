import { Keyv } from 'keyv';
import { expect, test } from 'vitest';
import { type CacheStore, FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import { createMockServer, type MockServerOptions } from '../../src/mock-server/index.ts';
import { inLongRuns } from '../helpers/long-tests.ts';

/** A client with a cache, of a key of the developer plan. */
function setUp({ behaviour = {}, ...options }: FxRatesOptions & Pick<MockServerOptions, 'behaviour'> = {}) {
  const mock = createMockServer({ seed: 7, clock: 'virtual', behaviour });
  const { key, id } = mock.createKey({ plan: 'developer' });
  const warnings: string[] = [];
  const fx = new FxRates({
    apiKey: key,
    ...mock.clientOptions(),
    logger: { warn: (message) => warnings.push(message) },
    ...options,
  });
  const sourceOf = async (query = {}) => (await fx.latest(query).withMeta()).meta.source;
  return { mock, fx, warnings, sourceOf, keyId: id, used: () => mock.keys.get(id).month.used };
}

test.each<[string, () => CacheStore | undefined]>([
  ['in memory', () => undefined],
  ['in a Keyv', () => new Keyv()],
  ['in a Keyv with a namespace', () => new Keyv({ namespace: 'rates' })],
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

const HOURS = inLongRuns(24, 6);

test.each([
  ['1min', 60_000],
  ['5min', 300_000],
  ['60min', 3_600_000],
])('calls once a minute for hours send at most one request per snapshot of %s', async (granularity, ms) => {
  const { mock, fx, used } = setUp({ behaviour: { snapshotGranularity: granularity }, cache: 'snapshot' });

  for (let minute = 0; minute < HOURS * 60; minute += 1) {
    await fx.latest({ base: 'EUR' });
    await mock.clock.advance(60_000);
  }

  expect(used()).toBe((HOURS * 60 * 60_000) / ms);
  expect(mock.journal.list().length - used()).toBeLessThanOrEqual(HOURS);
});

test('with an exhausted quota, calls return the last response, marked as stale, until it is too old', async () => {
  const { mock, fx, sourceOf, keyId } = setUp({ cache: { maxAgeMs: 60_000, staleIfLimitedMs: 3_600_000 } });
  await fx.latest({ base: 'EUR' });
  mock.keys.setUsage(keyId, { month: 100_000 });
  await mock.clock.advance(60_000);

  const { meta } = await fx.latest({ base: 'EUR' }).withMeta();
  expect(meta).toMatchObject({ source: 'stale', ageMs: 60_000 });
  expect(await sourceOf({ base: 'EUR' })).toBe('stale');
  await expect(fx.latest({ base: 'USD' })).rejects.toMatchObject({ kind: 'quota_exhausted' });
  await mock.clock.advance(3_540_000);

  await expect(fx.latest({ base: 'EUR' })).rejects.toMatchObject({ kind: 'quota_exhausted' });
});

test('guard and cache together: a page is served all month, and the reserve remains', async () => {
  const store = new Map<string, string>();
  const { mock, fx, used, sourceOf } = setUp({
    cache: { maxAgeMs: 60_000, staleIfLimitedMs: 31 * 86_400_000, store },
    quotaGuard: { reserve: 99_900 },
  });
  const resetsAt = Date.parse((await fx.quota()).resets_at);
  const sources = new Set<string>();

  while (mock.clock.now() < resetsAt - 3_600_000) {
    sources.add(await sourceOf({ base: 'EUR' }));
    await mock.clock.advance(3_600_000);
  }

  expect(sources).toEqual(new Set(['network', 'stale']));
  expect(used()).toBe(100);
});
