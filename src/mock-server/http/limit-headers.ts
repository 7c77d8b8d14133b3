import type { Behaviour } from '../behaviour/behaviour.ts';
import type { RateUse } from '../service/decide.ts';
import { WINDOW_MS } from '../service/rate-windows.ts';

/** Headers about the per-minute limit, in the manner the switch names; none by default. */
export function rateHeaders(
  rate: RateUse,
  now: number,
  behaviour: Behaviour,
): Readonly<Record<string, string>> | undefined {
  const remaining = Math.max(0, rate.limit - rate.used);
  switch (behaviour.use('rateHeaders')) {
    case 'none':
      return undefined;
    case 'x-ratelimit':
      return {
        'x-ratelimit-limit': String(rate.limit),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(Math.ceil(rate.fullAt / 1000)),
      };
    // draft-ietf-httpapi-ratelimit-headers
    case 'ietf-draft':
      return {
        'ratelimit-policy': `"minute";q=${rate.limit};w=60`,
        ratelimit: `"minute";r=${remaining};t=${Math.ceil((rate.fullAt - now) / 1000)}`,
      };
  }
}

/** Writes a wait as the switches say. By default: whole seconds, rounded up, so that obeying it is always served. */
export function retryAfter(waitMs: number, behaviour: Behaviour): string {
  const unitMs = behaviour.use('retryAfterUnit') === 'seconds' ? 1000 : 1;
  const isDecimal = behaviour.use('retryAfterFormat') === 'decimal';
  const stepsPerUnit = isDecimal ? 1000 : 1;
  const shownMs = behaviour.use('retryAfterValue') === 'whole-minute' ? WINDOW_MS : waitMs;
  const steps = rounded((shownMs * stepsPerUnit) / unitMs, behaviour);
  return String(steps / stepsPerUnit);
}

function rounded(steps: number, behaviour: Behaviour): number {
  if (Number.isInteger(steps)) return steps;
  const round = { up: Math.ceil, nearest: Math.round, down: Math.floor }[behaviour.use('retryAfterRounding')];
  const whole = round(steps);
  return whole === 0 ? behaviour.use('retryAfterMin') : whole;
}
