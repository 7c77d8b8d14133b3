import type { ClientSettings } from './config/settings.ts';
import type { ClientEvents } from './events.ts';
import type { KeySource } from './keys/key-source.ts';
import type { Lifetime } from './lifetime.ts';
import { cache } from './middleware/cache.ts';
import { type Caller, type CallResponse, coalesce } from './middleware/coalesce.ts';
import { explainRefusal } from './middleware/explain-refusal.ts';
import { quotaGuard } from './middleware/quota-guard.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { retry } from './middleware/retry.ts';
import { send } from './middleware/send.ts';
import { useKey } from './middleware/use-key.ts';
import { quotaRefresher } from './quota/refresh-quota.ts';
import type { Endpoint, KeyedRequest } from './request.ts';
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
