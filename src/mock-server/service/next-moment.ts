import { quotaPeriod } from './quota-period.ts';
import { quotaUse } from './quota-use.ts';
import { limitPerMinute, type ServiceContext } from './service-state.ts';
import { WINDOW_MS } from './windows/rate-window.ts';

/** The next end of a quota period: of any key's, or of one that would begin now when there is no key. */
export function nextQuotaReset(context: ServiceContext): number {
  const { behaviour, state } = context;
  const now = context.now();
  const none = { createdAt: now, usedFrom: undefined };
  let earliest = Number.POSITIVE_INFINITY;
  for (const key of state.keys.values()) earliest = Math.min(earliest, quotaUse(key, now, behaviour).resetsAt);
  return Number.isFinite(earliest) ? earliest : quotaPeriod(behaviour.use('quotaPeriod'), now, none).end;
}

/** The first moment at which every key has its whole per-minute limit again; the next minute when none is in use. */
export function nextWindow({ state, now }: ServiceContext): number {
  let latest = 0;
  for (const { account, window, quotaEndpointWindow } of state.keys.values()) {
    for (const used of [window, quotaEndpointWindow]) {
      latest = Math.max(latest, used?.fullAt(limitPerMinute(account), now()) ?? 0);
    }
  }
  return latest > now() ? latest : (Math.floor(now() / WINDOW_MS) + 1) * WINDOW_MS;
}
