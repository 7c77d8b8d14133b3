import { Octokit } from '@octokit/core';
import { throttling } from '@octokit/plugin-throttling';

const ThrottledOctokit = Octokit.plugin(throttling);
const silent = () => undefined;

/** The plugin asks its user whether to retry; this one agrees `retries` times. */
export function createCaller({ origin, apiKey, retries }) {
  const mayRetry = (_retryAfter, _options, _octokit, retryCount) => retryCount < retries;
  const octokit = new ThrottledOctokit({
    baseUrl: `${origin}/api/v1`,
    auth: apiKey,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    throttle: { onRateLimit: mayRetry, onSecondaryRateLimit: mayRetry },
  });
  return (n) => octokit.request('GET /latest', { n });
}
