import type { LimiterView } from '../limits/limiter-view.ts';

/** The state of a key's limit, from `fx.limits()`. */
export interface KeyLimits extends LimiterView {
  /**
   * Why a call made now would wait. `'retry_after'`: the service refused a call. `'service'`: the service failed several times
   * in a row. `'window'`: the limit is used up. `'in_flight'`: requests in flight must end first. `undefined`: it would not
   * wait.
   */
  readonly reason: 'retry_after' | 'service' | 'window' | 'in_flight' | undefined;
}

export function keyLimits(view: LimiterView, nowMs: number): KeyLimits {
  return { ...view, reason: whyWait(view, nowMs) };
}

function whyWait({ service, gate, nextSlotAt, waiting }: LimiterView, nowMs: number): KeyLimits['reason'] {
  if (service !== 'up') return 'service';
  if (gate !== 'open') return 'retry_after';
  if (nextSlotAt.getTime() > nowMs) return 'window';
  return waiting > 0 ? 'in_flight' : undefined;
}
