import { processState } from '../../process-state.ts';
import { ConfigError } from '../errors/errors.ts';
import { describeValue } from '../errors/program-values.ts';
import type { LimitExchange, LimitOffer, LimitStore } from '../limits/shared/limit-store.ts';
import { refuse, requireKnownNames } from '../options/checks.ts';

/** An ioredis client (Redis or Cluster), as far as the store uses it. */
export interface IoRedisClient {
  /** Runs the script. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Not called: shows that the client is one of ioredis, whose `eval` has these parameters. */
  evalsha(...parameters: never): unknown;
}

/** A node-redis client (the package `redis`, client or cluster), as far as the store uses it. */
export interface NodeRedisClient {
  /** Runs the script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Not called: shows that the client is one of node-redis. */
  evalSha(...parameters: never): unknown;
}

/** Options of `redisStore()`. */
export interface RedisStoreOptions {
  /**
   * Prefix of the Redis keys of the store. Processes with different prefixes do not share a limit.
   *
   * @default 'fxrates'
   * @example 'staging:fxrates'
   */
  readonly prefix?: string | undefined;
}

/**
 * One atomic step in Redis: compares the version and writes. A value that is no hash counts as absent. The time is that of
 * the clock of Redis. `EVAL` sends the few hundred bytes of the script each time; Redis compiles it once. KEYS[1]: the state.
 * ARGV: the version that the caller knows and, for a write, the new version, state, time and lifetime.
 */
const EXCHANGE_SCRIPT = `
local held = redis.pcall('HMGET', KEYS[1], 'version', 'state')
if held.err then
  if not string.find(held.err, 'WRONGTYPE', 1, true) then return held end
  redis.call('DEL', KEYS[1])
  held = {}
end
local version, state = held[1] or '', held[2] or ''
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local isKnown = version == ARGV[1]
if ARGV[2] and isKnown and math.abs(now - ARGV[4]) <= 1000 then
  redis.call('HSET', KEYS[1], 'version', ARGV[2], 'state', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  return {'1', ARGV[2], '', string.format('%.0f', now)}
end
return {'0', version, isKnown and '' or state, string.format('%.0f', now)}
`;

/**
 * Creates a store through which processes on several hosts share the limit of a key. It uses your connected ioredis or
 * node-redis client, with Redis 5 or later, Valkey or a cluster (each script uses one Redis key). A node-redis client needs a
 * listener for `error`: without one, a lost connection ends the process.
 *
 * The store keeps one hash of a few kB per API key and origin, until ten minutes after the last call, or after the end of
 * a Retry-After. It contains a SHA-256 of the API key, never the key. If Redis fails or takes longer than one
 * second, the client warns once, and each process uses its share of the limit until Redis responds again. Two calls with the
 * same client and prefix return the same store.
 *
 * @example new FxRates({ rateLimit: { store: redisStore(redis) } })
 * @throws {ConfigError} if `client` is not one of these clients, or an option is wrong
 */
export function redisStore(client: IoRedisClient | NodeRedisClient, options: RedisStoreOptions = {}): LimitStore {
  const run = scriptRunner(client);
  requireKnownNames(options, ['prefix'], 'redisStore options');
  const { prefix = 'fxrates' } = options;
  if (typeof prefix !== 'string') return refuse('redisStore options.prefix', prefix, 'a string');
  const ofClient = stores.get(client) ?? new Map<string, LimitStore>();
  const store = ofClient.get(prefix) ?? {
    exchange: async (name, known, offer) =>
      toExchange(await run(`${prefix}:limits:${name}`, argumentsOf(known, offer))),
  };
  stores.set(client, ofClient.set(prefix, store));
  return store;
}

/** By client and prefix. The clients of a key, also those of other copies of the package, warn of different stores. */
const stores = processState('redis-stores.1', () => new WeakMap<object, Map<string, LimitStore>>());

type ScriptRunner = (key: string, args: string[]) => Promise<unknown>;

function scriptRunner(client: IoRedisClient | NodeRedisClient): ScriptRunner {
  if (hasMethods(client, 'eval', 'evalSha')) {
    return (key, args) => (client as NodeRedisClient).eval(EXCHANGE_SCRIPT, { keys: [key], arguments: args });
  }
  // A client with createScript() is one of @upstash/redis: its `eval` has other parameters.
  if (hasMethods(client, 'eval', 'evalsha') && !hasMethods(client, 'createScript')) {
    return (key, args) => (client as IoRedisClient).eval(EXCHANGE_SCRIPT, 1, key, ...args);
  }
  // The URL of Redis can contain a password.
  const given = typeof client === 'string' ? 'a string' : describeValue(client);
  throw new ConfigError(
    `redisStore: expected a client of ioredis (with eval and evalsha) or of node-redis (with eval and evalSha), got ${given}`,
  );
}

function hasMethods(client: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => typeof (client as Record<string, unknown> | undefined | null)?.[name] === 'function');
}

function argumentsOf(known: string, offer: LimitOffer | undefined): string[] {
  if (!offer) return [known];
  return [known, offer.version, offer.state, `${Math.round(offer.nowMs)}`, `${offer.keepMs}`];
}

/** Texts, as Redis sends them, or the numbers or bytes to which the client of the program converts them. */
function toExchange(received: unknown): LimitExchange {
  const [flag, version = '', state = '', nowMs] = Array.isArray(received) ? received.map(String) : [];
  if (nowMs !== undefined) return { isWritten: flag === '1', version, state, nowMs: Number(nowMs) };
  throw new Error(`the Redis client returned ${describeValue(received)}, expected a list of four texts`);
}
