import type { QuotaData } from '../generated/types.ts';
import { Shelf } from './cache/shelf.ts';
import { snapshotAge } from './cache/snapshot-age.ts';
import type { ClientSettings } from './config/settings.ts';
import type { ClientEvents } from './events.ts';
import type { KeySource } from './keys/key-source.ts';
import { cache } from './middleware/cache.ts';
import { type Answer, type Caller, coalesce } from './middleware/coalesce.ts';
import { explainRefusal } from './middleware/explain-refusal.ts';
import { pace } from './middleware/pace.ts';
import { quotaGuard } from './middleware/quota-guard.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { retry } from './middleware/retry.ts';
import { send } from './middleware/send.ts';
import { useKey } from './middleware/use-key.ts';
import { waitAlone } from './middleware/wait-alone.ts';
import type { Endpoint } from './request.ts';
import type { KeyStates } from './state/key-states.ts';
import type { Timers } from './timers.ts';

interface Parts {
  readonly settings: ClientSettings;
  readonly events: ClientEvents;
  readonly timers: Timers;
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly quota: Endpoint;
  readonly userAgent: string;
}

type Send = (caller: Caller) => Promise<Answer>;

/**
 * The way of a call, from the outside in:
 * - `cache` and `coalesce` first: a call that another one answers needs nothing else;
 * - `useKey` outside of all that is kept per key, so that a rotated key gets its own retries, limit and quota;
 * - `quotaGuard` and `pace` outside of `retry`: they decide about a call, not about an attempt;
 * - `retry` outside of `rateLimit`: each attempt is a request to the service and needs a slot of its own;
 * - `rateLimit` around `explainRefusal`: only a refusal that is not the quota's is worth waiting for;
 * - `send` last: authentication, transport, timeout and parsing are one attempt.
 */
export function createPipeline({ settings, events, timers, keys, states, quota, userAgent }: Parts): Send {
  const { clock, random, maxRetryAfterMs, retryAfterUnit } = settings;
  const now = () => clock.now();
  const askQuota = async () => (await coalesced(quotaQuestion(quota, settings, now()))).response.data as QuotaData; // parsed by the endpoint

  const limit = settings.rateLimit
    ? rateLimit({ clock, states, events })
    : waitAlone({ clock, random, states, maxRetryAfterMs, retryAfterUnit });
  const attempt = explainRefusal({ states, quota })(send({ settings, timers, events, states, userAgent }));
  const persistent = retry({ clock, random, states, events, maxRetryAfterMs })(limit(attempt));

  const reserve = settings.quotaGuard?.reserve ?? 0;
  const paced = settings.pace ? pace({ clock, timers, states, reserve, askQuota })(persistent) : persistent;
  const { quotaGuard: guard } = settings;
  const guarded = guard ? quotaGuard({ ...guard, clock, states, askQuota })(paced) : paced;

  const coalesced = coalesce({ timers, now })(useKey(keys)(guarded));
  if (settings.cache === undefined) return coalesced;
  const { store, maxAgeMs, staleIfLimitedMs } = settings.cache;
  const ageOf = maxAgeMs === 'snapshot' ? snapshotAge({ keys, states, events, askQuota }) : async () => maxAgeMs;
  const shelf = new Shelf({ store, baseUrl: settings.baseUrl, keys, timers, events, now });
  return cache({ shelf, maxAgeMs: ageOf, staleIfLimitedMs, timers, now })(coalesced);
}

/** A question of the client's own: it goes the way of every call. */
function quotaQuestion(endpoint: Endpoint, settings: ClientSettings, nowMs: number): Caller {
  const { deadlineMs, timeoutMs, maxRetries, onLimit } = settings;
  const callSettings = { timeoutMs, maxRetries, onLimit, useReserve: false };
  const deadlineAt = nowMs + deadlineMs;
  return { endpoint, settings: callSettings, deadlineMs, deadlineAt, signal: undefined, maxAgeMs: undefined };
}
