import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CacheStore, FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { clientOnMock } from '../helpers/mock-with-key.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';

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

const BASE_URL = 'https://fxrates.test';

describe.skipIf(!hasRedis)('Keyv over a real Redis', () => {
  let redis: RedisServer;
  const adapters: KeyvRedis<string>[] = [];

  /** A store with a separate connection, like that of another process. */
  const connect = () => {
    const adapter = new KeyvRedis<string>(redis.url);
    adapters.push(adapter);
    return { store: new Keyv(adapter), adapter };
  };

  const clock = new FakeClock();
  const mock = createMockServer({ seed: 7, clock: 'virtual' });

  const client = (options: FxRatesOptions) =>
    new FxRates({
      baseUrl: BASE_URL,
      fetch: mock.fetch,
      clock,
      ...options,
    });

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(adapters.map((adapter) => adapter.disconnect(true).catch(() => undefined)));
    await redis.kill();
  });

  test('a response of one process is returned to another, exactly as received', async () => {
    const { key: apiKey, id } = mock.createKey();
    const [one, other] = [1, 2].map(() => client({ apiKey, cache: { maxAgeMs: 60_000, store: connect().store } }));
    const first = await one!.latest({ base: 'EUR' }).withMeta();
    await clock.advance(30_000);

    const second = await other!.latest({ base: 'EUR' }).withMeta();

    expect(second.meta).toMatchObject({ source: 'cache', ageMs: 30_000, status: 200 });
    expect(second.meta.rawBody).toBe(first.meta.rawBody);
    expect([...second.meta.headers]).toEqual([...first.meta.headers]);
    expect(second.data).toEqual(first.data);
    expect(mock.keys.get(id).month.used).toBe(1);
  });

  test('Redis removes a response when it is too old for every call, and never sees the key', async () => {
    const { key: apiKey } = mock.createKey();
    const { store, adapter } = connect();
    const fx = client({ apiKey, cache: { maxAgeMs: 60_000, staleIfLimitedMs: 120_000.5, store } });

    await fx.latest({ base: 'CHF', mine: apiKey });
    const connection = (await adapter.getClient()) as unknown as RedisCommands;
    const names = await connection.keys('*');
    const values = await Promise.all(names.map((name) => connection.get(name)));

    const ttlMs = await connection.pTTL(names.find((name) => name.includes('base=CHF')) ?? '');
    expect(ttlMs).toBeGreaterThan(60_000);
    expect(ttlMs).toBeLessThanOrEqual(120_001);
    expect(JSON.stringify([names, values])).not.toContain(apiKey);
    expect(JSON.stringify([names, values])).not.toContain(apiKey.slice(-40));
  });
});

/** The methods of the Redis client that these tests call. */
interface RedisCommands {
  keys(pattern: string): Promise<string[]>;
  get(key: string): Promise<string | null>;
  pTTL(key: string): Promise<number>;
}
