import { Agent, RetryAgent, request } from 'undici';

/** With more than the default retries, the longest wait is a minute, twice its default. */
export function createCaller({ origin, apiKey, retries }) {
  const dispatcher = new RetryAgent(new Agent(), retries ? { maxRetries: retries, maxTimeout: 60_000 } : {});
  return async (n) => {
    const { body } = await request(`${origin}/api/v1/latest?n=${n}`, {
      dispatcher,
      headers: { authorization: `Bearer ${apiKey}` },
    });
    return body.json();
  };
}
