import { definedOf } from '../../json-object.ts';
import { DEFAULT_LIMITER_SETTINGS, type LimiterSettings } from '../limits/limiter-core.ts';
import type { LimitStore } from '../limits/shared/limit-store.ts';
import type { CacheOptions, CacheStore, QuotaGuardOptions, RateLimitOptions } from '../options.ts';
import {
  namesOf,
  refuse,
  requireBoolean,
  requireCount,
  requireFunction,
  requireKnownNames,
  requireMs,
} from './checks.ts';

const CACHE_NAMES = namesOf<keyof CacheOptions>({ maxAgeMs: true, store: true, staleIfLimitedMs: true });
const QUOTA_GUARD_NAMES = namesOf<keyof QuotaGuardOptions>({ reserve: true, onLow: true });

const RATE_LIMIT_NAMES = namesOf<keyof RateLimitOptions>({
  perMinute: true,
  maxConcurrent: true,
  probe: true,
  store: true,
});

/** The option `rateLimit` with its defaults. */
export interface RateLimitSettings
  extends Pick<LimiterSettings, 'perMinute' | 'maxConcurrent' | 'probe'>,
    Pick<RateLimitOptions, 'store'> {}

/** The option `cache`, checked and complete. */
export interface CacheSettings {
  readonly maxAgeMs: number | 'snapshot';
  readonly store: CacheStore;
  readonly staleIfLimitedMs: number;
}

/** @throws ConfigError that names the part of the option */
export function resolveRateLimit(value: RateLimitOptions | false): RateLimitSettings | false {
  if (value === false) return false;
  requireKnownNames(value, RATE_LIMIT_NAMES, 'rateLimit');
  const { perMinute, maxConcurrent, probe, store } = { ...DEFAULT_LIMITER_SETTINGS, ...definedOf(value) };
  return {
    perMinute:
      perMinute === 'learn'
        ? perMinute
        : requireCount('rateLimit.perMinute', perMinute, { from: 1, or: ", or 'learn'" }),
    maxConcurrent:
      maxConcurrent === 'adapt'
        ? maxConcurrent
        : requireCount('rateLimit.maxConcurrent', maxConcurrent, { from: 1, or: ", or 'adapt'" }),
    // A number is a cap: no request tests whether the service accepts more.
    probe: requireBoolean('rateLimit.probe', probe) && perMinute === 'learn',
    store: requireLimitStore(store),
  };
}

/** @throws ConfigError that names the part of the option */
export function resolveCache(option: 'snapshot' | CacheOptions | undefined): CacheSettings | undefined {
  if (option === undefined) return undefined;
  if (option === 'snapshot') return resolveCache({ maxAgeMs: 'snapshot' });
  if (typeof option !== 'object' || option === null) refuse('cache', option, "'snapshot' or an object of options");
  requireKnownNames(option, CACHE_NAMES, 'cache');
  const { maxAgeMs, store = new MemoryStore(), staleIfLimitedMs = 0 } = option;
  return {
    maxAgeMs: maxAgeMs === 'snapshot' ? maxAgeMs : requireMs('cache.maxAgeMs', maxAgeMs, ", or 'snapshot'"),
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

function requireStore(store: CacheStore): CacheStore {
  const isStore = (['get', 'set'] as const).every((method) => typeof store?.[method] === 'function');
  return isStore ? store : refuse('cache.store', store, 'a Keyv instance, or an object with get and set');
}

function requireLimitStore(store: LimitStore | undefined): LimitStore | undefined {
  if (store === undefined || typeof store?.exchange === 'function') return store;
  return refuse(
    'rateLimit.store',
    store,
    'fileStore() of fxrates/file-store, redisStore(client) of fxrates/redis, or an object with exchange()',
  );
}

/** In characters: about a thousand responses of 170 rates, or one response of the maximum length. */
const DEFAULT_CAPACITY = 16_000_000;

/** The default store: responses in memory. It evicts the least recently used response. */
export class MemoryStore implements CacheStore {
  readonly #capacity: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, string>();
  #size = 0;

  constructor(capacity = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get(key: string): string | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: string, value: string): void {
    this.#drop(key);
    this.#entries.set(key, value);
    this.#size += key.length + value.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#capacity) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const value = this.#entries.get(key);
    if (value !== undefined && this.#entries.delete(key)) this.#size -= key.length + value.length;
  }
}
