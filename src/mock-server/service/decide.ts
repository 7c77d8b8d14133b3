import * as z from 'zod';
import type { Switches } from '../behaviour/behaviour.ts';
import { chargeQuota, type QuotaUse, quotaUse } from './quota.ts';
import { limitPerMinute, type RateWindow, rateWindows } from './rate-windows.ts';
import type { KeyRecord } from './service-state.ts';

/** A request with a known key, before the limits are checked. */
interface MeteredRequest<Result> {
  readonly key: KeyRecord;
  /** Time for the whole decision, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** Whether it can be counted in a separate window, which the quota endpoint may have. */
  readonly hasOwnWindow: boolean;
  /** Creates the response to a request within both limits. Called at most once, before the request is counted. */
  readonly respond: (quota: QuotaUse) => Result;
}

/** The decision, with the usage of both limits. The usage includes a served request. */
export type Decision<Result> = { readonly rate: RateUse; readonly quota: QuotaUse } & (
  | { readonly kind: 'served'; readonly response: Result }
  /** A request is accepted after `waitMs`. */
  | { readonly kind: 'rate-limited'; readonly waitMs: number }
  | { readonly kind: 'quota-exhausted' }
);

export const minuteUsage = z.object({
  /** Requests per minute. */
  limit: z.int(),
  /** Requests counted in the window. */
  used: z.int(),
  /** Time at which the full limit is available again, in milliseconds since the Unix epoch. */
  fullAt: z.number().describe('Time at which the full limit is available again.'),
});

/** Usage of a key's per-minute limit at one moment. */
export type RateUse = Readonly<z.output<typeof minuteUsage>>;

/**
 * Checks both limits and counts the request in one synchronous step. No other request can run in between, so exactly
 * the allowed number is served, and a refused request is never charged in part.
 */
export function decide<Result extends { readonly status: number }>(
  request: MeteredRequest<Result>,
  behaviour: Switches,
): Decision<Result> {
  const { key, at } = request;
  const window = windowOf(request, behaviour);
  const limit = limitPerMinute(key.account);
  const quota = quotaUse(key, at, behaviour);

  const isLimited = window.waitMs(limit, at) > 0;
  const refusal = chooseRefusal({ isLimited, isExhausted: hasUsedUpQuota(request, quota), behaviour });
  if (refusal !== undefined) {
    if (behaviour.use('rejectedCountsTowardRate')) window.count(limit, at);
    const uses = { rate: rateUse(window, limit, at), quota };
    if (refusal === 'quota-exhausted') return { kind: refusal, ...uses };
    return { kind: refusal, waitMs: window.waitMs(limit, at), ...uses };
  }

  const response = request.respond(quota);
  window.count(limit, at);
  const isCharged = request.consumesQuota && charges(response.status, behaviour);
  const quotaAfter = isCharged ? chargeQuota(key, quota) : quota;
  return { kind: 'served', response, rate: rateUse(window, limit, at), quota: quotaAfter };
}

function hasUsedUpQuota({ worksWhenQuotaExhausted }: MeteredRequest<unknown>, { limit, used }: QuotaUse): boolean {
  return !worksWhenQuotaExhausted && limit !== null && used >= limit;
}

interface LimitChecks {
  readonly isLimited: boolean;
  readonly isExhausted: boolean;
  readonly behaviour: Switches;
}

function chooseRefusal({ isLimited, isExhausted, behaviour }: LimitChecks) {
  if (isLimited && isExhausted) {
    return behaviour.use('checkOrder') === 'rate-then-quota' ? 'rate-limited' : 'quota-exhausted';
  }
  if (isLimited) return 'rate-limited';
  return isExhausted ? 'quota-exhausted' : undefined;
}

function charges(status: number, behaviour: Switches): boolean {
  // A success is always charged, so its response does not depend on the switch.
  if (status < 300) return true;
  return { accepted: true, success: false, 'non-5xx': status < 500 }[behaviour.use('quotaChargesOn')];
}

function windowOf({ key, hasOwnWindow }: MeteredRequest<unknown>, behaviour: Switches): RateWindow {
  const Window = rateWindows[behaviour.use('rateWindow')];
  if (hasOwnWindow && behaviour.use('quotaEndpointBucket') === 'separate') {
    key.quotaEndpointWindow ??= new Window();
    return key.quotaEndpointWindow;
  }
  key.window ??= new Window();
  return key.window;
}

function rateUse(window: RateWindow, limit: number, at: number): RateUse {
  return { limit, used: window.used(limit, at), fullAt: window.fullAt(limit, at) };
}
