export type { LimitExchange, LimitOffer, LimitStore } from '../limits/shared/limit-store.ts';
export { type IoRedisClient, type NodeRedisClient, type RedisStoreOptions, redisStore } from './redis-store.ts';
