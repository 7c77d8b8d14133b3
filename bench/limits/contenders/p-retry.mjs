import pRetry from 'p-retry';
import { createCaller as createFetch } from './fetch.ts';

/** Its own backoff, as in its README; it does not read Retry-After. */
export function createCaller(options) {
  const call = createFetch(options);
  return (n) => pRetry(() => call(n));
}
