import type { ClientSettings } from './config/settings.ts';
import { AuthenticationError, RateLimitError } from './errors/errors.ts';
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
 * The way of a call, from the outside in:
 * - `coalesce` first: a call that another one answers needs nothing else;
 * - `useKey` outside of all that is kept per key, so that a rotated key gets its own answers, retries, limit and quota;
 * - `cache` outside of `quotaGuard`: an answer from the store costs no quota;
 * - `quotaGuard` outside of `retry`: it decides about a call, not about an attempt;
 * - `retry` outside of `rateLimit`: each attempt is a request to the service and needs a slot of its own;
 * - `rateLimit` around `explainRefusal`: only a refusal that is not the quota's is worth waiting for;
 * - `send` last: authentication, transport, timeout and parsing are one attempt.
 */
export function createPipeline({ settings, events, timers, lifetime, keys, states, quota, userAgent }: Parts): Send {
  const { baseUrl, clock, time, random, maxRetryAfterMs, retryAfterUnit } = settings;
  const now = () => clock.now();
  const askQuota = (request: KeyedRequest) =>
    coalesced(question(quota, request, { nowMs: time.now(), purpose: 'refresh' }));
  const askLimit = (request: KeyedRequest) =>
    coalesced(question(quota, request, { nowMs: time.now(), purpose: 'limit' }));
  const refreshQuota = quotaRefresher({ states, askQuota });

  const attempt = explainRefusal({ states, quota })(send({ settings, timers, events, states, userAgent }));
  const limited = rateLimit({ time, states, events, askLimit })(attempt);
  const persistent = retry({ clock, time, random, states, events, maxRetryAfterMs, retryAfterUnit })(limited);

  const { quotaGuard: guard, cache: keep } = settings;
  const guarded = guard ? quotaGuard({ ...guard, states, refreshQuota })(persistent) : persistent;
  const cached = keep ? cache({ ...keep, baseUrl, timers, events, states, refreshQuota, now })(guarded) : guarded;
  const coalesced = coalesce({ timers, lifetime, now: () => time.now() })(useKey(keys)(cached));
  return coalesced;
}

/**
 * Gives each call its key, and once another one: when the service refuses a key, the source is asked again, and a
 * call refused with the old key is sent with the new one (SERVICE.md, States: rotation).
 */
function useKey(keys: KeySource) {
  return (next: Handler): Handler<ApiRequest> => {
    const sendAgain = async (request: ApiRequest, refused: ApiKey, error: AuthenticationError) => {
      const key = await keys.replacementFor(refused, request.signal);
      if (key === undefined) throw error;
      request.log.again('key_rotated');
      return next(keyed(request, key));
    };

    return async (request) => {
      const current = keys.current(request.signal);
      const key = current instanceof ApiKey ? current : await current;
      return next(keyed(request, key)).catch((error: unknown) => {
        if (error instanceof AuthenticationError) return sendAgain(request, key, error);
        throw error;
      });
    };
  };
}

/** Field by field: V8 gives what is spread and then extended a hidden class of its own, one more for each call. */
function keyed({ endpoint, settings, signal, deadlineAt, log }: ApiRequest, key: ApiKey): KeyedRequest {
  return { endpoint, settings, signal, deadlineAt, log, key };
}

/**
 * A question of the client's own about the quota goes the way of every call, and lasts as long as the call that needs
 * the answer. It is tried once: what it would tell is worth less than the call itself.
 */
function question(
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

interface RefreshParts {
  readonly states: KeyStates;
  /** Asks the service for the quota, for as long as the call can wait; the answer goes into the ledger. */
  readonly askQuota: (request: KeyedRequest) => Promise<unknown>;
}

/**
 * The question is free (SERVICE.md, quota). A call does not fail because the quota cannot be read: it continues with
 * what is known, and the service decides.
 */
function quotaRefresher({ states, askQuota }: RefreshParts): RefreshQuota {
  return async (request, maxAgeMs) => {
    const { ledger } = states.of(request.key);
    if (ledger.isUpToDate(maxAgeMs)) return;
    try {
      await askQuota(request);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      // A question that the rate limit holds back says nothing about the service; the call will meet that limit too.
      if (!(error instanceof RateLimitError)) ledger.couldNotAsk();
    }
  };
}
