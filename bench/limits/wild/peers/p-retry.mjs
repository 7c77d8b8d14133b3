import pRetry from 'p-retry';
import { attempt } from './attempt.mjs';

/** Its own backoff with ten retries, as in its README; `onFailedAttempt` waits for Retry-After. */
export function createCall(target) {
  const onFailedAttempt = async ({ error }) => {
    if (error.retryAfterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs));
  };
  return (n, signal) => pRetry(() => attempt(target, n), { retries: 10, onFailedAttempt, signal });
}
