import { createHash } from 'node:crypto';
import * as z from 'zod';
import { ConfigError } from '../errors/errors.ts';
import type { LimitExchange, LimitOffer, LimitStore } from '../limits/shared/limit-store.ts';
import { EXCHANGE_SCRIPT } from './exchange-script.ts';

/** What is used of an ioredis client (Redis or Cluster). */
export interface IoRedisClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is used of a node-redis client (the package `redis`, client or cluster). */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

export interface RedisStoreOptions {
  /** What the names of its keys begin with. Default: `'fxrates'`. */
  readonly prefix?: string | undefined;
}

const SHA1 = createHash('sha1').update(EXCHANGE_SCRIPT).digest('hex');

/** Flag, version, state, time: texts, as Redis sends them, or numbers where the client converts. */
const reply = z.tuple([z.coerce.number(), z.string(), z.string(), z.coerce.number()]);

/**
 * Lets all processes and hosts with one API key share its limit through Redis 5 or later (or Valkey), by your own
 * connected ioredis or node-redis client: `rateLimit: { store: redisStore(redis) }`. One hash per key and origin, a few
 * kB, gone ten minutes after the last call; it holds no API key, only its SHA-256. Works in a cluster: each script
 * uses one key. If Redis is down or slower than 250 ms, the client warns once and each process uses its
 * share of the limit until Redis answers again.
 *
 * @throws {ConfigError} for something that is no Redis client.
 */
export function redisStore(
  client: IoRedisClient | NodeRedisClient,
  { prefix = 'fxrates' }: RedisStoreOptions = {},
): LimitStore {
  const run = scriptRunner(client);
  return {
    exchange: async (name, known, offer) =>
      toExchange(await run(`${prefix}:limits:${name}`, argumentsOf(known, offer))),
  };
}

type ScriptRunner = (key: string, args: string[]) => Promise<unknown>;

function scriptRunner(client: IoRedisClient | NodeRedisClient): ScriptRunner {
  if (isNodeRedis(client)) {
    return (key, args) =>
      withScript(
        () => client.evalSha(SHA1, { keys: [key], arguments: args }),
        () => client.eval(EXCHANGE_SCRIPT, { keys: [key], arguments: args }),
      );
  }
  if (isIoRedis(client)) {
    return (key, args) =>
      withScript(
        () => client.evalsha(SHA1, 1, key, ...args),
        () => client.eval(EXCHANGE_SCRIPT, 1, key, ...args),
      );
  }
  throw new ConfigError(`redisStore got ${typeof client}: expected a client of ioredis or of redis (node-redis)`);
}

/** Redis knows a script by its hash once it has seen it; a restart makes it forget. */
async function withScript(byHash: () => Promise<unknown>, whole: () => Promise<unknown>): Promise<unknown> {
  try {
    return await byHash();
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return whole();
    throw error;
  }
}

function isNodeRedis(client: unknown): client is NodeRedisClient {
  return typeof (client as NodeRedisClient | undefined)?.evalSha === 'function';
}

function isIoRedis(client: unknown): client is IoRedisClient {
  return typeof (client as IoRedisClient | undefined)?.evalsha === 'function';
}

function argumentsOf(known: string, offer: LimitOffer | undefined): string[] {
  if (!offer) return [known];
  return [known, offer.version, offer.state, `${Math.round(offer.nowMs)}`, `${offer.keepMs}`];
}

function toExchange(answer: unknown): LimitExchange {
  const [flag, version, state, nowMs] = reply.parse(answer);
  return { isWritten: flag === 1, version, state, nowMs };
}
