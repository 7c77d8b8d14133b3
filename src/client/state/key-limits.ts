import type { LimiterView } from '../limits/limiter-view.ts';

/** What can be said of a key's limit at this moment. */
export interface KeyLimits extends LimiterView {
  /**
   * Why calls wait: `'retry_after'`, the service refused one; `'service'`, it failed several times in a row; `'window'`,
   * those that the limit allows are used up;
   * `'in_flight'`, those under way must be answered first. `undefined`: a call that comes now is sent.
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
