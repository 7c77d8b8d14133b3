import Bottleneck from 'bottleneck';
import { attempt } from './attempt.mjs';

/** Wait before the next attempt after a failure without Retry-After. */
const RETRY_MS = 1_000;

/** Reservoir and retry as in its README: a failed call waits for Retry-After, any number of times. */
export function createCall({ perMinute, ...target }) {
  const limiter = new Bottleneck({
    reservoir: perMinute,
    reservoirRefreshAmount: perMinute,
    reservoirRefreshInterval: 60_000,
  });
  limiter.on('failed', (error) => error.retryAfterMs ?? RETRY_MS);
  return (n) => limiter.schedule(() => attempt(target, n));
}
