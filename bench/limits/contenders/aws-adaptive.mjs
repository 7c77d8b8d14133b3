import { retryMiddleware } from '@smithy/middleware-retry';
import { HttpResponse } from '@smithy/protocol-http';
import { AdaptiveRetryStrategy } from '@smithy/util-retry';

const DEFAULT_ATTEMPTS = 3;

/** The retry middleware of every AWS client in adaptive mode, around `fetch`. */
export function createCaller({ origin, apiKey, retries }) {
  const attempts = retries === undefined ? DEFAULT_ATTEMPTS : retries + 1;
  const maxAttempts = async () => attempts;
  const strategy = new AdaptiveRetryStrategy(maxAttempts);
  const middleware = retryMiddleware({ maxAttempts, retryStrategy: async () => strategy });
  const send = middleware(async ({ input }) => {
    const response = await fetch(input, { headers: { authorization: `Bearer ${apiKey}` } });
    const body = await response.json();
    if (!response.ok) throw serviceError(response);
    return { response, output: { body, $metadata: {} } };
  }, {});
  return (n) => send({ input: `${origin}/api/v1/latest?n=${n}` });
}

/** The error that an AWS client makes of a throttled response. */
function serviceError({ status, headers }) {
  return Object.assign(new Error(`${status}`), {
    name: status === 429 ? 'TooManyRequestsException' : 'UnknownError',
    $metadata: { httpStatusCode: status },
    $response: new HttpResponse({ statusCode: status, headers: Object.fromEntries(headers) }),
  });
}
