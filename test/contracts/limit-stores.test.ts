import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileStore } from '../../src/client/file-store/index.ts';
import type { LimitStore } from '../../src/client/limits/shared/limit-store.ts';
import { redisStore } from '../../src/client/redis/index.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { MemoryLimitStore } from '../helpers/memory-limit-store.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const KEEP_MS = 60_000;

/** Every store through which processes share a limit passes these tests. */
function limitStoreContract(storeOf: () => LimitStore): void {
  const offer = async (version: string, state = `state of ${version}`, lateMs = 0) => {
    const { nowMs } = await storeOf().exchange('any', '');
    return { version, state, nowMs: nowMs - lateMs, keepMs: KEEP_MS };
  };

  test('an unknown name has no state', async () => {
    expect(await storeOf().exchange('unknown', '')).toMatchObject({ isWritten: false, version: '', state: '' });
  });

  test('returns the last written state', async () => {
    const store = storeOf();
    expect(await store.exchange('last', '', await offer('a'))).toMatchObject({ isWritten: true, version: 'a' });
    expect(await store.exchange('last', 'a', await offer('b'))).toMatchObject({ isWritten: true, version: 'b' });

    expect(await store.exchange('last', '')).toMatchObject({ isWritten: false, version: 'b', state: 'state of b' });
  });

  test('rejects a write that is based on an older version, and returns the current one', async () => {
    const store = storeOf();
    await store.exchange('older', '', await offer('a'));
    await store.exchange('older', 'a', await offer('b'));

    const refused = await store.exchange('older', 'a', await offer('c'));
    const first = await store.exchange('older', '', await offer('d'));

    expect(refused).toMatchObject({ isWritten: false, version: 'b', state: 'state of b' });
    expect(first).toMatchObject({ isWritten: false, version: 'b' });
  });

  test.each([2_000, -2_000])('rejects a writer whose clock differs by %i ms', async (lateMs) => {
    const store = storeOf();

    const refused = await store.exchange(`off ${lateMs}`, '', await offer('a', 'state', lateMs));

    expect(refused).toMatchObject({ isWritten: false, version: '' });
  });

  test('one of many simultaneous writers succeeds', async () => {
    const store = storeOf();
    const offers = await Promise.all(Array.from({ length: 20 }, (_, place) => offer(`v${place}`)));

    const replies = await Promise.all(offers.map((each) => store.exchange('race', '', each)));

    expect(replies.filter(({ isWritten }) => isWritten)).toHaveLength(1);
  });

  test('stores each name separately and any text unchanged', async () => {
    const store = storeOf();
    const text = '{"a":"ä € \u0000 \\u0000 \'"}\n';
    await store.exchange('one', '', await offer('a', text));
    await store.exchange('other', '', await offer('b'));

    expect(await store.exchange('one', '')).toMatchObject({ version: 'a', state: text });
  });
}

describe('in memory', () => {
  const store = new MemoryLimitStore(new FakeClock());
  limitStoreContract(() => store);
});

describe('in files', () => {
  const folder = temporaryFolder();
  const store = fileStore(join(folder, 'one'));

  describe('by one process', () => limitStoreContract(() => store));
  describe('by a new process each time', () => limitStoreContract(() => fileStore(join(folder, 'many'))));
});

describe.skipIf(!hasRedis)('over a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.kill());

  function replacesOtherTypes(create: () => LimitStore): void {
    test('replaces a value of another type', async () => {
      const other = new Redis(server.url);
      await other.set('fxrates:limits:typed', 'x');
      other.disconnect();
      const store = create();

      const { version, state, nowMs } = await store.exchange('typed', '');
      expect({ version, state }).toEqual({ version: '', state: '' });
      await store.exchange('typed', '', { version: '1', state: 'mine', nowMs, keepMs: 5_000 });

      expect(await store.exchange('typed', '')).toMatchObject({ version: '1', state: 'mine' });
    });
  }

  describe('by ioredis', () => {
    let redis: Redis;
    beforeAll(() => {
      redis = new Redis(server.url);
    });
    afterAll(() => redis.disconnect());

    limitStoreContract(() => redisStore(redis, { prefix: 'by-ioredis' }));
    replacesOtherTypes(() => redisStore(redis));

    test('a name without writes expires, and all names begin with the prefix', async () => {
      const store = redisStore(redis, { prefix: 'mine' });
      const { nowMs } = await store.exchange('name', '');
      await store.exchange('name', '', { version: 'a', state: 'x', nowMs, keepMs: 5_000 });

      expect(await redis.keys('mine*')).toEqual(['mine:limits:name']);
      expect(await redis.pttl('mine:limits:name')).toBeGreaterThan(4_000);
      expect(await redis.pttl('mine:limits:name')).toBeLessThanOrEqual(5_000);
    });

    test('sends the script again to a Redis that has lost it', async () => {
      const store = redisStore(redis, { prefix: 'flushed' });
      await store.exchange('name', '');
      await redis.script('FLUSH');

      expect(await store.exchange('name', '')).toMatchObject({ isWritten: false });
    });
  });

  describe('by node-redis', () => {
    const connect = () => createClient({ url: server.url }).connect();
    let redis: Awaited<ReturnType<typeof connect>>;
    beforeAll(async () => {
      redis = await connect();
    });
    afterAll(() => redis.destroy());

    limitStoreContract(() => redisStore(redis, { prefix: 'by-node-redis' }));
    replacesOtherTypes(() => redisStore(redis));
  });
});

test('what redisStore() refuses does not compile either', async () => {
  const evaluates = async () => ['0', '', '', '0'];
  const upstash = { eval: async (_script: string, _keys: string[]) => [], evalsha: evaluates, createScript() {} };
  const refusals = [
    // @ts-expect-error Without the name of the other method, the order of the parameters is unknown.
    () => redisStore({ eval: evaluates }),
    // @ts-expect-error
    () => redisStore({ evalsha: evaluates }),
    // @ts-expect-error
    () => redisStore({ evalSha: evaluates }),
    // @ts-expect-error
    () => redisStore({}),
    // @ts-expect-error
    () => redisStore(null),
    // @ts-expect-error
    () => redisStore(undefined),
    // @ts-expect-error
    () => redisStore('redis://user:password@localhost'),
    // @ts-expect-error The parameters of its `eval` differ.
    () => redisStore(upstash),
  ];

  for (const refusal of refusals) {
    expect(refusal).toThrow(/expected a client of ioredis \(with eval and evalsha\).*, got (?!.*password)/);
  }
  for (const client of [
    { eval: evaluates, evalsha: evaluates },
    { eval: evaluates, evalSha: evaluates },
  ]) {
    await expect(redisStore(client).exchange('name', '')).resolves.toMatchObject({ isWritten: false });
  }
});

test.each([
  ['staging', "redisStore options: expected an object of options, got 'staging'"],
  [null, 'redisStore options: expected an object of options, got null'],
  [{ keyPrefix: 'staging' }, "redisStore options: unknown option 'keyPrefix'"],
  [{ prefix: 7 }, 'redisStore options.prefix: expected a string, got 7'],
])('redisStore(client, %j) throws', (options, message) => {
  expect(() => redisStore({ eval: async () => [], evalSha: () => undefined }, options as never)).toThrow(message);
});

test.each([
  ['texts', ['1', 'v', '', '17']],
  ['bytes', ['1', 'v', '', '17'].map((text) => Buffer.from(text))],
  ['numbers', [1, 'v', '', 17]],
])('reads the reply of a Redis client that is set to return %s', async (_, reply) => {
  const store = redisStore({ eval: async () => reply, evalSha: () => undefined });

  expect(await store.exchange('name', '')).toEqual({ isWritten: true, version: 'v', state: '', nowMs: 17 });
});

test.each([[true], [undefined], [['0', 'v']]])(
  'names the reply of a client that is not that of Redis: %j',
  async (reply) => {
    const store = redisStore({ eval: async () => reply, evalSha: () => undefined });

    await expect(store.exchange('name', '')).rejects.toThrow(
      /^the Redis client returned .*, expected a list of four texts$/,
    );
  },
);
