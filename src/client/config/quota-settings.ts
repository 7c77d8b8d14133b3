import type { CacheStore } from '../cache/cache-store.ts';
import { MemoryStore } from '../cache/cache-store.ts';
import type { CacheOptions, QuotaGuardOptions } from '../options.ts';
import { namesOf, refuse, requireCount, requireFunction, requireKnownNames, requireMs } from './checks.ts';

const CACHE_NAMES = namesOf<keyof CacheOptions>({ maxAgeMs: true, store: true, staleIfLimitedMs: true });
const QUOTA_GUARD_NAMES = namesOf<keyof QuotaGuardOptions>({ reserve: true, onLow: true });

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
  if (typeof option !== 'object' || option === null) refuse('cache', option, "'snapshot' or an object of options");
  requireKnownNames(option, CACHE_NAMES, 'cache');
  const { maxAgeMs, store = new MemoryStore(), staleIfLimitedMs = 0 } = option;
  return {
    maxAgeMs: requireAge(maxAgeMs),
    store: requireStore(store),
    staleIfLimitedMs: requireMs('cache.staleIfLimitedMs', staleIfLimitedMs),
  };
}

/** @throws ConfigError that names the part of the option */
export function resolveQuotaGuard(option: QuotaGuardOptions | undefined): QuotaGuardOptions | undefined {
  if (option === undefined) return undefined;
  requireKnownNames(option, QUOTA_GUARD_NAMES, 'quotaGuard');
  const { reserve, onLow } = option;
  requireCount('quotaGuard.reserve', reserve, { from: 0 });
  if (onLow !== undefined) requireFunction('quotaGuard.onLow', onLow);
  return { reserve, onLow };
}

function requireAge(maxAgeMs: unknown): number | 'snapshot' {
  if (maxAgeMs === 'snapshot') return maxAgeMs;
  const isAge = typeof maxAgeMs === 'number' && Number.isFinite(maxAgeMs) && maxAgeMs >= 0;
  return isAge ? maxAgeMs : refuse('cache.maxAgeMs', maxAgeMs, "a non-negative number of milliseconds, or 'snapshot'");
}

function requireStore(store: CacheStore): CacheStore {
  const isStore = (['get', 'set'] as const).every((method) => typeof store?.[method] === 'function');
  return isStore ? store : refuse('cache.store', store, 'a Keyv instance, or an object with get and set');
}
