import type { ClientSettings } from './config/settings.ts';
import type { ClientEvents } from './events.ts';
import type { KeySource } from './keys/key-source.ts';
import type { Answer, Caller } from './middleware/coalesce.ts';
import { coalesce } from './middleware/coalesce.ts';
import { explainRefusal } from './middleware/explain-refusal.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { retry } from './middleware/retry.ts';
import { send } from './middleware/send.ts';
import { useKey } from './middleware/use-key.ts';
import { waitAlone } from './middleware/wait-alone.ts';
import type { Endpoint } from './request.ts';
import type { KeyStates } from './state/key-states.ts';
import { Timers } from './timers.ts';

interface Parts {
  readonly settings: ClientSettings;
  readonly events: ClientEvents;
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly quota: Endpoint;
  readonly userAgent: string;
}

/**
 * The way of a call, from the outside in:
 * - `coalesce` first: a call that another one answers needs nothing else;
 * - `useKey` outside of all that is kept per key, so that a rotated key gets its own retries and its own limit;
 * - `retry` outside of `rateLimit`: each attempt is a request to the service and needs a slot of its own;
 * - `rateLimit` around `explainRefusal`: only a refusal that is not the quota's is worth waiting for;
 * - `send` last: authentication, transport, timeout and parsing are one attempt.
 */
export function createPipeline({
  settings,
  events,
  keys,
  states,
  quota,
  userAgent,
}: Parts): (caller: Caller) => Promise<Answer> {
  const { clock, random, rateLimit: queues, maxRetryAfterMs, retryAfterUnit } = settings;
  const timers = new Timers(clock);
  const limit = queues
    ? rateLimit({ clock, states, events })
    : waitAlone({ clock, random, states, maxRetryAfterMs, retryAfterUnit });

  const attempt = explainRefusal({ states, quota })(send({ settings, timers, events, states, userAgent }));
  const persistent = retry({ clock, random, states, events, maxRetryAfterMs })(limit(attempt));
  return coalesce({ timers, now: () => clock.now() })(useKey(keys)(persistent));
}
