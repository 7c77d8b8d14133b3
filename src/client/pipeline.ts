import type { Handler } from './call.ts';
import type { ClientSettings } from './config/settings.ts';
import type { ClientEvents } from './events.ts';
import type { KeySource } from './key/key-source.ts';
import type { KeyStates } from './key/key-states.ts';
import type { Lifetime } from './lifetime.ts';
import { cache } from './steps/cache.ts';
import { QuotaGuard, refreshQuota } from './steps/quota.ts';
import { retry } from './steps/retry.ts';
import { send } from './steps/send.ts';
import { type Caller, type CallResponse, shareRequest } from './steps/share-request.ts';
import type { Timers } from './timers.ts';

interface Parts {
  readonly settings: ClientSettings;
  readonly events: ClientEvents;
  readonly timers: Timers;
  readonly lifetime: Lifetime;
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly userAgent: string;
}

type Send = (caller: Caller) => Promise<CallResponse>;

/**
 * The steps of a call, from the outermost to the innermost:
 * - `shareRequest` first: a call that shares a request needs no other step;
 * - the key before all steps with state per key;
 * - `cache` before `retry`: a cached response uses neither the quota nor the limit;
 * - `retry` sends again, and is the only step that does. Each attempt is admitted by the guard of the quota, waits for the
 *   limit, and reports its end to both;
 * - `send` last: authentication, middleware, transport, timeout and parsing are one attempt.
 */
export function createPipeline({ settings, events, timers, lifetime, keys, states, userAgent }: Parts): Send {
  const { baseUrl, clock, time, random, maxRetryAfterMs, quotaGuard, cache: cacheSettings } = settings;
  const refresh = refreshQuota({ states, events, settings });
  const guard = quotaGuard && new QuotaGuard({ ...quotaGuard, states, refresh });
  const attempt = send({ settings, timers, events, states, userAgent });
  const retried = retry({ keys, states, clock, time, random, events, maxRetryAfterMs, guard })(attempt);
  const cached = cacheSettings
    ? cache({
        ...{ ...cacheSettings, baseUrl, timers, events, states, now: () => clock.now() },
        refreshQuota: (call, maxAgeMs) => refresh(call, maxAgeMs, retried),
      })(retried)
    : retried;
  const keyed: Handler = async (call) => {
    call.key = await keys.current(call.signal);
    return cached(call);
  };
  return shareRequest({ timers, lifetime })(keyed);
}
