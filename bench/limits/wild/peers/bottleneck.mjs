import Bottleneck from 'bottleneck';
import { attempt } from './attempt.mjs';

/** What fails without a hint is tried again after this. */
const RETRY_MS = 1_000;

/** Reservoir and retry as its README has them: what failed waits as long as the server says, any number of times. */
export function createCall({ perMinute, ...target }) {
  const limiter = new Bottleneck({
    reservoir: perMinute,
    reservoirRefreshAmount: perMinute,
    reservoirRefreshInterval: 60_000,
  });
  limiter.on('failed', (error) => error.retryAfterMs ?? RETRY_MS);
  return (n) => limiter.schedule(() => attempt(target, n));
}
