import type { Behaviour } from '../behaviour/behaviour.ts';
import { WINDOW_MS } from '../service/windows/rate-window.ts';

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
