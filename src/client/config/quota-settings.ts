import type { CacheStore } from '../cache/cache-store.ts';
import { MemoryStore } from '../cache/memory-store.ts';
import type { CacheOptions, QuotaGuardOptions } from '../options.ts';
import { refuse, requireCount, requireFunction, requireKnownNames, requireMs } from './checks.ts';

/** The option `cache`, checked and complete. */
export interface CacheSettings {
  readonly maxAgeMs: number | 'snapshot';
  readonly store: CacheStore;
  readonly staleIfLimitedMs: number;
}

/** @throws ConfigError that names the part of the option */
export function resolveCache(option: 'snapshot' | CacheOptions | undefined): CacheSettings | undefined {
  if (option === undefined) return undefined;
  if (option === 'snapshot') return resolveCache({ maxAgeMs: 'snapshot' });
  requireKnownNames(option, ['maxAgeMs', 'store', 'staleIfLimitedMs'], 'cache');
  const { maxAgeMs, store = new MemoryStore(), staleIfLimitedMs = 0 } = option;
  return {
    maxAgeMs: maxAgeMs === 'snapshot' ? maxAgeMs : requireMs('cache.maxAgeMs', maxAgeMs),
    store: requireStore(store),
    staleIfLimitedMs: requireMs('cache.staleIfLimitedMs', staleIfLimitedMs),
  };
}

/** @throws ConfigError that names the part of the option */
export function resolveQuotaGuard(option: QuotaGuardOptions | undefined): QuotaGuardOptions | undefined {
  if (option === undefined) return undefined;
  requireKnownNames(option, ['reserve', 'onLow'], 'quotaGuard');
  requireCount('quotaGuard.reserve', option.reserve, { from: 0 });
  if (option.onLow !== undefined) requireFunction('quotaGuard.onLow', option.onLow);
  return option;
}

function requireStore(store: CacheStore): CacheStore {
  const isStore = (['get', 'set', 'delete'] as const).every((method) => typeof store?.[method] === 'function');
  return isStore ? store : refuse('cache.store', store, 'a Keyv instance, or an object with get, set and delete');
}
