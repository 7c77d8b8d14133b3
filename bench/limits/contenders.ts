import { Redis } from 'ioredis';
import { FxRates, type FxRatesOptions, type LimitStore } from '../../src/client/index.ts';
import { redisStore } from '../../src/client/redis/index.ts';
import { type CreateCaller, peerCaller } from '../peers.ts';
import { realNow } from './time-scale.ts';

/** One row of the table. Everything that `settings` does not name is the default of the package. */
export interface Contender {
  readonly title: string;
  /** The options that a user sets, beside address and key. */
  readonly settings: string;
  /** The limit that each process is given. Default: none, so that the package must learn it. */
  readonly told?: 'limit' | 'quarter';
  /** Numbers of processes to run with. Default: all. */
  readonly processes?: readonly number[];
  readonly needsRedis?: true;
  /** Package of bench/package.json. */
  readonly peer?: string;
  readonly createCaller: CreateCaller;
}

/** Of bottleneck, beside the size of the reservoir. */
const AS_IN_README =
  'per minute; `maxConcurrent: 1`, `minTime: 333`, and a 429 waits for Retry-After, all as in its README';

/**
 * By their names for `--only`. A package that must be configured with the limit runs twice in several processes: each gets the
 * whole limit, or its share.
 */
export const CONTENDERS: Readonly<Record<string, Contender>> = {
  fxrates: { title: 'fxrates', settings: 'none', createCaller: ours() },
  'fxrates-told': {
    title: 'fxrates, told the limit',
    settings: '`perMinute: 30`',
    told: 'limit',
    createCaller: ours(),
  },
  'fxrates-redis': shared({ title: 'fxrates, shared in Redis', settings: '`store: redisStore(redis)`' }),
  'fxrates-redis-told': shared({
    title: 'fxrates, shared in Redis, told the limit',
    settings: '`store`, `perMinute: 30`',
    told: 'limit',
  }),
  fetch: { title: 'plain fetch', settings: 'none', createCaller: peerCaller('fetch') },
  openai: peer('openai', { settings: 'none (2 retries)' }),
  ky: peer('ky', { settings: 'none (2 retries, 10 s per call)' }),
  got: peer('got', { settings: 'none (2 retries)' }),
  'undici-retry-agent': peer('undici', { title: 'undici RetryAgent', settings: 'none (5 retries)' }),
  'p-retry': peer('p-retry', { title: 'p-retry + fetch', settings: 'none (10 retries)' }),
  'aws-adaptive': peer('@smithy/util-retry', {
    title: 'AWS adaptive',
    settings: '`AdaptiveRetryStrategy` (3 attempts)',
  }),
  'octokit-throttling': peer('@octokit/plugin-throttling', {
    title: 'octokit throttling',
    settings: 'one retry after each refusal; its README retries only a primary limit',
  }),
  'slack-web-api': peer('@slack/web-api', { title: 'slack web-api', settings: 'none (10 retries)' }),
  'discordjs-rest': peer('@discordjs/rest', { title: 'discord.js rest', settings: 'none' }),
  bottleneck: peer('bottleneck', {
    title: 'bottleneck, told the limit',
    settings: `reservoir of 30 ${AS_IN_README}`,
    told: 'limit',
  }),
  'bottleneck-quarter': peer('bottleneck', {
    title: 'bottleneck, told a quarter',
    settings: `reservoir of 7 ${AS_IN_README}`,
    told: 'quarter',
    processes: [4],
  }),
  'bottleneck-redis': peer('bottleneck', {
    title: 'bottleneck, clustered in Redis, told the limit',
    settings: `\`datastore: 'ioredis'\`, reservoir of 30 ${AS_IN_README}`,
    told: 'limit',
    processes: [4],
    needsRedis: true,
  }),
  'p-throttle': peer('p-throttle', {
    title: 'p-throttle + ky, told the limit',
    settings: '30 per minute, `strict`; ky with its defaults',
    told: 'limit',
  }),
  'p-throttle-quarter': peer('p-throttle', {
    title: 'p-throttle + ky, told a quarter',
    settings: '7 per minute, `strict`; ky with its defaults',
    told: 'quarter',
    processes: [4],
  }),
};

/** The parameter makes each call different: identical concurrent calls share one request. */
function ours(limit: FxRatesOptions['rateLimit'] = {}): CreateCaller {
  return ({ origin, apiKey, perMinute }) => {
    const fx = new FxRates({ baseUrl: origin, apiKey, rateLimit: { ...limit, perMinute } });
    return (n) => fx.latest({ n });
  };
}

/** All processes share the limit through the Redis that main.ts has started. */
function shared(row: Pick<Contender, 'title' | 'settings' | 'told'>): Contender {
  const createCaller: CreateCaller = (options) => {
    const redis = new Redis(process.env['REDIS_URL'] ?? '');
    return ours({ store: inScaledTime(redisStore(redis)) })(options);
  };
  return { ...row, processes: [4], needsRedis: true, createCaller };
}

/** The clock of Redis is not scaled. */
function inScaledTime(store: LimitStore): LimitStore {
  return {
    async exchange(name, known, offer) {
      const aheadMs = Date.now() - realNow();
      const reply = await store.exchange(name, known, offer && { ...offer, nowMs: offer.nowMs - aheadMs });
      return { ...reply, nowMs: reply.nowMs + Date.now() - realNow() };
    },
  };
}

/** `name`: the package whose version is printed, and the name of the call in peer-calls.mjs. */
function peer(
  name: string,
  row: Omit<Contender, 'title' | 'peer' | 'createCaller'> & { readonly title?: string },
): Contender {
  return { title: name, ...row, peer: name, createCaller: peerCaller(row.needsRedis ? `${name}, clustered` : name) };
}
