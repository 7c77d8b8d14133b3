import type { Behaviour } from '../behaviour/behaviour.ts';
import { chargeQuota, currentPeriod, monthlyLimit, usedInPeriod } from './key-usage.ts';
import { type KeyRecord, limitPerMinute, type ServiceContext } from './service-state.ts';
import type { RateWindow } from './windows/rate-window.ts';
import { rateWindows } from './windows/rate-windows.ts';

/** What a request of a known key is about to do. */
export interface MeteredRequest<Answer> {
  readonly key: KeyRecord;
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** Whether it is counted in a window of its own, as the quota endpoint may be. */
  readonly hasOwnWindow: boolean;
  /** Makes the answer of a request within both limits. Called at most once, before anything is counted. */
  readonly answer: () => Answer;
}

/** What became of it, with the numbers it was decided on: those before a refusal, those after a served request. */
export type Decision<Answer> = { readonly rate: RateUse; readonly quota: QuotaUse } & (
  | { readonly kind: 'served'; readonly answer: Answer }
  /** A request fits again in `waitMs`. */
  | { readonly kind: 'rate-limited'; readonly waitMs: number }
  | { readonly kind: 'quota-exhausted' }
);

export interface RateUse {
  readonly limit: number;
  readonly used: number;
  /** When the whole limit is free again. */
  readonly fullAt: number;
}

export interface QuotaUse {
  /** `null` for any number. */
  readonly limit: number | null;
  readonly used: number;
  readonly resetsAt: number;
}

/**
 * Both limits in one synchronous step: nothing can happen between looking and counting, so exactly as many requests
 * are served as there is room for, and a refused one is never half charged.
 */
export function decide<Answer extends { readonly status: number }>(
  context: ServiceContext,
  request: MeteredRequest<Answer>,
): Decision<Answer> {
  const { behaviour, now } = context;
  const window = windowOf(request, behaviour);
  const limit = limitPerMinute(request.key.account);
  const waitMs = window.waitMs(limit, now());
  const isExhausted = !request.worksWhenQuotaExhausted && isQuotaExhausted(context, request.key);

  const refusal = chooseRefusal({ isLimited: waitMs > 0, isExhausted, behaviour });
  if (refusal !== undefined) {
    if (behaviour.use('rejectedCountsTowardRate')) window.count(limit, now());
    const uses = usesOf(context, request.key, window);
    if (refusal === 'quota-exhausted') return { kind: refusal, ...uses };
    return { kind: refusal, waitMs: window.waitMs(limit, now()), ...uses };
  }

  const answer = request.answer();
  window.count(limit, now());
  if (request.consumesQuota && isCharged(answer.status, behaviour)) chargeQuota(context, request.key);
  return { kind: 'served', answer, ...usesOf(context, request.key, window) };
}

function isQuotaExhausted(context: ServiceContext, key: KeyRecord): boolean {
  const limit = monthlyLimit(key.account, context);
  return limit !== null && usedInPeriod(context, key) >= limit;
}

interface LimitChecks {
  readonly isLimited: boolean;
  readonly isExhausted: boolean;
  readonly behaviour: Behaviour;
}

function chooseRefusal({ isLimited, isExhausted, behaviour }: LimitChecks) {
  if (isLimited && isExhausted) {
    return behaviour.use('checkOrder') === 'rate-then-quota' ? 'rate-limited' : 'quota-exhausted';
  }
  if (isLimited) return 'rate-limited';
  return isExhausted ? 'quota-exhausted' : undefined;
}

function isCharged(status: number, behaviour: Behaviour): boolean {
  // A success is charged whatever the switch says; then the answer does not depend on it.
  if (status < 300) return true;
  return { accepted: true, success: false, 'non-5xx': status < 500 }[behaviour.use('quotaChargesOn')];
}

function windowOf({ key, hasOwnWindow }: Pick<MeteredRequest<unknown>, 'key' | 'hasOwnWindow'>, behaviour: Behaviour) {
  const create = rateWindows[behaviour.use('rateWindow')];
  if (hasOwnWindow && behaviour.use('quotaEndpointBucket') === 'separate') {
    key.quotaEndpointWindow ??= create();
    return key.quotaEndpointWindow;
  }
  key.window ??= create();
  return key.window;
}

function usesOf(context: ServiceContext, key: KeyRecord, window: RateWindow) {
  const now = context.now();
  const limit = limitPerMinute(key.account);
  return {
    rate: { limit, used: window.used(limit, now), fullAt: window.fullAt(limit, now) },
    quota: {
      limit: monthlyLimit(key.account, context),
      used: usedInPeriod(context, key),
      resetsAt: currentPeriod(context, key).end,
    },
  };
}
