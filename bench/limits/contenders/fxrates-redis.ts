import { Redis } from 'ioredis';
import { FxRates, type LimitStore } from '../../../src/client/index.ts';
import { redisStore } from '../../../src/client/redis/index.ts';
import type { CreateCaller } from '../contender.ts';
import { realNow } from '../time-scale.ts';

/** All processes share the limit through the Redis that main.ts has started. */
export const createCaller: CreateCaller = ({ origin, apiKey, perMinute }) => {
  const redis = new Redis(process.env['REDIS_URL'] ?? '', { lazyConnect: false });
  const rateLimit = { perMinute: perMinute ?? 'learn', store: inScaledTime(redisStore(redis)) } as const;
  const fx = new FxRates({ baseUrl: origin, apiKey, deadlineMs: false, timeoutMs: 600_000, rateLimit });
  return (n) => fx.latest({ n });
};

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
