import type { ClientSettings } from './config/settings.ts';
import { AuthenticationError, QuotaExhaustedError, RateLimitError } from './errors/errors.ts';
import type { ClientEvents } from './events.ts';
import { ApiKey } from './keys/api-key.ts';
import type { KeySource } from './keys/key-source.ts';
import type { Lifetime } from './lifetime.ts';
import { cache } from './middleware/cache.ts';
import { type Caller, type CallResponse, coalesce } from './middleware/coalesce.ts';
import { explainRefusal } from './middleware/explain-refusal.ts';
import { quotaGuard } from './middleware/quota-guard.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { retry } from './middleware/retry.ts';
import { send } from './middleware/send.ts';
import type { RefreshQuota } from './quota/quota-ledger.ts';
import type { ApiRequest, Endpoint, Handler, KeyedRequest } from './request.ts';
import type { KeyStates } from './state/key-states.ts';
import type { Timers } from './timers.ts';

interface Parts {
  readonly settings: ClientSettings;
  readonly events: ClientEvents;
  readonly timers: Timers;
  readonly lifetime: Lifetime;
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly quota: Endpoint;
  readonly userAgent: string;
}

type Send = (caller: Caller) => Promise<CallResponse>;

/**
 * The steps of a call, from the outermost to the innermost:
 * - `coalesce` first: a call that shares a request needs no other step;
 * - `useKey` before all steps with state per key, so that a rotated key has its own cache, retries, limit and quota;
 * - `cache` before `quotaGuard`: a cached response uses no quota;
 * - `quotaGuard` before `retry`: it admits a call, not an attempt;
 * - `retry` before `rateLimit`: each attempt is a request to the service and needs its own slot;
 * - `rateLimit` before `explainRefusal`: a call waits only for refusals that are not about the quota;
 * - `send` last: authentication, transport, timeout and parsing are one attempt.
 */
export function createPipeline({ settings, events, timers, lifetime, keys, states, quota, userAgent }: Parts): Send {
  const { baseUrl, clock, time, random, maxRetryAfterMs } = settings;
  const now = () => clock.now();
  const callQuota = (purpose: 'refresh' | 'limit') => (request: KeyedRequest) =>
    coalesced(quotaCaller(quota, request, { nowMs: time.now(), purpose }));
  const refreshQuota = quotaRefresher(states, callQuota('refresh'));

  const attempt = explainRefusal(states, quota)(send({ settings, timers, events, states, userAgent }));
  const limited = rateLimit({ time, states, events, fetchLimit: callQuota('limit') })(attempt);
  const retried = retry({ clock, time, random, states, events, maxRetryAfterMs })(limited);

  const { quotaGuard: guard, cache: cacheSettings } = settings;
  const guarded = guard ? quotaGuard({ ...guard, states, refreshQuota })(retried) : retried;
  const cached = cacheSettings
    ? cache({ ...cacheSettings, baseUrl, timers, events, states, refreshQuota, now })(guarded)
    : guarded;
  const coalesced = coalesce({ timers, lifetime, now: () => time.now() })(useKey(keys)(cached));
  return coalesced;
}

/**
 * Adds the key to each call. If the key cannot be used, the source is called again, and the call is sent once more with
 * the new key (docs/facts.md, States and transitions).
 */
function useKey(keys: KeySource) {
  return (next: Handler): Handler<ApiRequest> => {
    const sendAgain = async (request: ApiRequest, refused: ApiKey, error: unknown) => {
      const key = await keys.replacementFor(refused, request.signal);
      if (key === undefined) throw error;
      request.log.nextAttemptBecause('key_rotated');
      return next(keyed(request, key));
    };

    const send = (request: ApiRequest, key: ApiKey) =>
      next(keyed(request, key)).catch((error: unknown) => {
        if (makesKeyUnusable(error)) return sendAgain(request, key, error);
        throw error;
      });

    return (request) => {
      const key = keys.current(request.signal);
      return key instanceof ApiKey ? send(request, key) : key.then((received) => send(request, received));
    };
  };
}

/**
 * Whether all calls with the key have this error, for longer than a call waits. While a key is blocked for a day, no
 * request is sent with it, so no 401 would show that it was replaced.
 */
function makesKeyUnusable(error: unknown): boolean {
  if (error instanceof RateLimitError) return error.reason === 'max_retry_after';
  return error instanceof AuthenticationError || error instanceof QuotaExhaustedError;
}

/** Field by field: with a spread, V8 creates a new hidden class for each call. */
function keyed({ endpoint, settings, signal, deadlineAt, log }: ApiRequest, key: ApiKey): KeyedRequest {
  return { endpoint, settings, signal, deadlineAt, log, key };
}

/**
 * The client's own call of `quota()`, with the deadline of the call that needs it. It is not retried, because its result
 * is less important than the call itself.
 */
function quotaCaller(
  endpoint: Endpoint,
  { settings, signal, deadlineAt }: KeyedRequest,
  { nowMs, purpose }: { readonly nowMs: number; readonly purpose: 'refresh' | 'limit' },
): Caller {
  return {
    endpoint: { ...endpoint, purpose },
    settings: { ...settings, maxRetries: 0, useReserve: false, maxAgeMs: undefined, priority: 'high', coalesce: true },
    signal: signal.toSignal(),
    deadlineAt: deadlineAt(),
    deadlineMs: deadlineAt() - nowMs,
  };
}

/** `quota()` is free. If it fails, which `send` records, the call continues with the known record, and the service decides. */
function quotaRefresher(states: KeyStates, fetchQuota: (request: KeyedRequest) => Promise<unknown>): RefreshQuota {
  return async (request, maxAgeMs) => {
    if (states.of(request.key).ledger.isUpToDate(maxAgeMs)) return;
    await fetchQuota(request).catch(() => {
      if (request.signal.aborted) throw request.signal.reason;
    });
  };
}
