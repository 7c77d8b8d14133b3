import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { describe, expect, test } from 'vitest';
import { FxRates } from '../../src/client/index.ts';
import type { LimitStore } from '../../src/client/limits/shared/limit-store.ts';
import { redisStore } from '../../src/client/redis/index.ts';
import { hasRedis, startRedis, startRedisCluster } from '../helpers/redis-server.ts';
import { API_KEY, success } from '../helpers/service-replies.ts';
import { until } from '../helpers/until.ts';

const LIBRARIES = ['ioredis', 'node-redis'] as const;
/** Longer than the client waits for a store, on a busy machine, too. No command can end a pause of all clients. */
const PAUSE_MS = 4_000;
/** Longer than the client waits before it tries a failed store again. */
const RETRY_STORE_MS = 1_100;

type Library = (typeof LIBRARIES)[number];

interface Connection extends Disposable {
  readonly store: LimitStore;
}

const silence = () => undefined;

/** Connects as a user would; the library handles errors of the connection. */
async function connectTo(url: string, library: Library): Promise<Connection> {
  if (library === 'ioredis') {
    const redis = new Redis(url).on('error', silence);
    return { store: redisStore(redis), [Symbol.dispose]: () => redis.disconnect() };
  }
  const redis = await createClient({ url }).on('error', silence).connect();
  return { store: redisStore(redis), [Symbol.dispose]: () => redis.destroy() };
}

async function connectToCluster([port = 0]: readonly number[], library: Library): Promise<Connection> {
  if (library === 'ioredis') {
    const redis = new Cluster([{ host: '127.0.0.1', port }]).on('error', silence);
    return { store: redisStore(redis), [Symbol.dispose]: () => redis.disconnect() };
  }
  const redis = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] }).on('error', silence);
  await redis.connect();
  return { store: redisStore(redis), [Symbol.dispose]: () => redis.destroy() };
}

let clients = 0;

/** A client with a service that responds immediately; only the store is shared. */
function startClient({ store }: Connection) {
  clients += 1;
  const warnings: string[] = [];
  const { status, body } = success();
  const fx = new FxRates({
    baseUrl: `https://fx-${clients}.test`,
    apiKey: API_KEY,
    fetch: async () => Response.json(body, { status }),
    rateLimit: { perMinute: 1_000, store },
    logger: { warn: (text) => warnings.push(text) },
  });
  let calls = 0;
  const makeCalls = async (count = 5) => {
    const all = Array.from({ length: count }, () => fx.latest({ call: calls++ }, { deadlineMs: 5_000 }));
    const results = await Promise.allSettled(all);
    expect(results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))).toEqual([]);
  };
  return { makeCalls, warnings, store };
}

/** The version of the only state, or `null`. */
async function versionIn(admin: Redis): Promise<string | null> {
  const [key] = await admin.keys('fxrates:limits:*').catch(() => []);
  return key === undefined ? null : admin.hget(key, 'version');
}

/** Makes calls until one of them changes the state in the store: so few that they never use up the limit of a minute. */
async function untilUsedAgain(admin: Redis, makeCalls: (count: number) => Promise<void>): Promise<void> {
  const before = await versionIn(admin);
  await until(async () => {
    await pause(100);
    await makeCalls(1);
    return (await versionIn(admin)) !== before;
  });
}

/** Shorter than both stores together may take, and long enough for a busy machine. */
const SHORT_DEADLINE_MS = 1_400;

/** Stopped, or killed while ioredis queues the commands for its next connection. */
describe.skipIf(!hasRedis).each(['freeze', 'kill'] as const)('a Redis after its %s', (fault) => {
  test('delays or fails no call with a short deadline, as a store of the cache and of the limit', async () => {
    await using redis = await startRedis();
    const connection = new Redis(redis.url).on('error', silence);
    await connection.ping();
    const cache = {
      get: (name: string) => connection.get(name),
      set: (name: string, text: string, ttlMs: number) => connection.set(name, text, 'PX', ttlMs),
    };
    const requests: string[] = [];
    const warnings: string[] = [];
    const fx = new FxRates({
      baseUrl: `https://fx-${fault}.test`,
      apiKey: API_KEY,
      fetch: async (url) => {
        requests.push(String(url));
        return Response.json(success().body);
      },
      cache: { maxAgeMs: 60_000, store: cache },
      rateLimit: { perMinute: 1_000, store: redisStore(connection) },
      logger: { warn: (text) => warnings.push(text) },
    });
    await fx.latest({ base: 'EUR' });
    redis[fault]();

    for (let call = 0; call < 8; call += 1) await fx.latest({ base: 'EUR' }, { deadlineMs: SHORT_DEADLINE_MS });
    await until(() => warnings.length > 0);
    const { length } = requests;
    await fx.latest({ base: 'EUR' }, { deadlineMs: SHORT_DEADLINE_MS });

    expect(requests).toHaveLength(length); // from the memory of the client
    expect(warnings.filter((text) => text.startsWith('cache: the store failed'))).toHaveLength(1);
    connection.disconnect();
    await fx.close();
  });
});

/** Failures of a Redis whose connections stay open: the commands that start and end each, and the error of each write, if there is one. */
const OUTAGES: readonly [string, start: readonly string[], end: readonly string[], reason?: RegExp][] = [
  ['it becomes a replica (READONLY)', ['REPLICAOF 127.0.0.1 1'], ['REPLICAOF NO ONE'], /READONLY/],
  ['its memory is full (OOM)', ['CONFIG SET maxmemory 1'], ['CONFIG SET maxmemory 0'], /OOM/],
  ['the user may not run scripts', ['ACL SETUSER default -@scripting'], ['ACL SETUSER default +@all'], /NOPERM/],
  [
    'the user may run known scripts only, and it forgets them',
    ['ACL SETUSER default -eval', 'SCRIPT FLUSH'],
    ['ACL SETUSER default +@all'],
    /NOPERM/,
  ],
  ['clients are paused', [`CLIENT PAUSE ${PAUSE_MS}`], []],
  ['writes wait', ['CLIENT PAUSE 60000 WRITE'], ['CLIENT UNPAUSE']],
];

/** A Redis, and a client that shares its limit through it. */
async function startSharing(library: Library) {
  const redis = await startRedis();
  const admin = new Redis(redis.url).on('error', silence);
  const connection = await connectTo(redis.url, library);
  return {
    redis,
    admin,
    ...startClient(connection),
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]();
      admin.disconnect();
      await redis.kill();
    },
  };
}

async function send(admin: Redis, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const [name = '', ...args] = command.split(' ');
    await admin.call(name, ...args);
  }
}

// Each test has servers of its own and mostly waits, so they run side by side.
describe.skipIf(!hasRedis).concurrent.each(LIBRARIES)('a Redis that fails, by %s', (library) => {
  test.each(OUTAGES)('%s: no call fails, one warning, and Redis is used again', async (_, start, end, reason) => {
    await using sharing = await startSharing(library);
    const { admin, store, makeCalls, warnings } = sharing;
    await makeCalls();
    await send(admin, start);
    if (reason !== undefined) {
      const write = store.exchange('of the test', '', { version: 'a', state: 'x', nowMs: Date.now(), keepMs: 5_000 });
      await expect(write).rejects.toThrow(reason);
    }

    await makeCalls();
    await pause(RETRY_STORE_MS);
    if (end.length > 0) await makeCalls();
    await send(admin, end);
    await untilUsedAgain(admin, makeCalls);

    expect(warnings).toHaveLength(1);
    // On a busy machine, a Redis that is about to fail can be too slow before it does.
    expect(warnings[0]).toMatch(new RegExp(`${reason?.source}|1000 ms`));
  });

  test('Redis loses the script: no call fails, and no warning', async () => {
    await using sharing = await startSharing(library);
    const { admin, makeCalls, warnings } = sharing;
    await makeCalls();
    await admin.script('FLUSH');

    await untilUsedAgain(admin, makeCalls);

    const ofMachine = /no response within 1000 ms/; // one that stalls for a second
    expect(warnings.filter((warning) => !ofMachine.test(warning))).toEqual([]);
  });

  test('Redis restarts empty: no call fails, at most one warning, and it is used again', async () => {
    await using sharing = await startSharing(library);
    const { redis, admin, makeCalls, warnings } = sharing;
    await makeCalls();
    await redis.kill();
    await makeCalls();
    await redis.restart();

    await untilUsedAgain(admin, makeCalls);

    expect(warnings.length).toBeLessThanOrEqual(1);
  });
});

// One after the other: a node of a cluster that is slow counts as dead, and each cluster has three processes.
test.skipIf(!hasRedis).each(LIBRARIES)(
  'processes share a limit through the master of its slot, in a cluster of three, by %s',
  async (library) => {
    await using cluster = await startRedisCluster();
    using connection = await connectToCluster(cluster.ports, library);
    using other = await connectToCluster(cluster.ports, library);
    const { nowMs } = await connection.store.exchange('of the other test', '');
    const state = { version: 'a', state: 'x', nowMs, keepMs: 5_000 };

    const written = await connection.store.exchange('of the other test', '', state);
    const seen = await other.store.exchange('of the other test', '');

    expect([written.isWritten, seen.version, seen.state]).toEqual([true, 'a', 'x']);
  },
);
