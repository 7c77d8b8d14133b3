import type { AdapterName } from '../adapters/active-adapters.ts';
import { nextTurn } from '../clock/event-loop.ts';
import type { ServiceContext } from '../service/service-state.ts';
import type { HandledRequest } from './handler.ts';

/**
 * Remembers until when an answer asks its key to wait, as the client was told, faults and all. It counts from the
 * moment the client has the answer: what comes before that was on its way already, and disobeys nobody.
 */
export function trackRetryAfter(
  { state, behaviour }: ServiceContext,
  { response, entry }: HandledRequest,
  adapter: AdapterName,
): void {
  const value = response?.delivery?.sendsHead === false ? undefined : response?.headers['retry-after'];
  if (value === undefined || !/^\d+(?:\.\d+)?$/.test(value)) return;
  const key = state.keys.get(entry?.keyId ?? '');
  if (key === undefined || entry === undefined) return;
  const asksMs = behaviour.values.retryAfterUnit === 'seconds' ? Math.round(Number(value) * 1000) : Number(value);
  const remember = () => {
    key.retryAt = entry.at + asksMs;
  };
  // In process a client may react in the same turn of the event loop, over a socket in the next one at the soonest.
  if (adapter === 'socket') void nextTurn().then(remember);
  else queueMicrotask(remember);
}
