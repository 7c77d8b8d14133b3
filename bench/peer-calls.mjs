/**
 * The other packages, by name: each makes a function that calls `latest` with the parameter `n`. A package is loaded when it
 * is measured; all of them are in bench/package.json.
 */

export const peers = {
  fetch: callFetch,

  /** Calls the generic `get` of the SDK, which retries like all its methods. */
  async openai({ origin, apiKey }) {
    const { OpenAI } = await import('openai');
    const client = new OpenAI({ apiKey, baseURL: `${origin}/api/v1` });
    return (n) => client.get('/latest', { query: { n } });
  },

  async axios({ origin, apiKey }) {
    const { default: axios } = await import('axios');
    const client = axios.create({ baseURL: origin, headers: bearer(apiKey) });
    return async (n) => (await client.get('/api/v1/latest', { params: { n } })).data;
  },

  async ky({ origin, apiKey }) {
    const { default: ky } = await import('ky');
    const client = ky.create({ prefixUrl: `${origin}/api/v1`, headers: bearer(apiKey) });
    return (n) => client.get('latest', { searchParams: { n } }).json();
  },

  async got({ origin, apiKey }) {
    const { default: got } = await import('got');
    const client = got.extend({ prefixUrl: `${origin}/api/v1`, headers: bearer(apiKey) });
    return (n) => client.get('latest', { searchParams: { n } }).json();
  },

  async undici({ origin, apiKey }) {
    const { Agent, RetryAgent, request } = await import('undici');
    const dispatcher = new RetryAgent(new Agent());
    return async (n) => {
      const { body } = await request(`${origin}/api/v1/latest?n=${n}`, { dispatcher, headers: bearer(apiKey) });
      return body.json();
    };
  },

  'undici Pool': callPool,

  /** With as many requests at once as fxrates sends. */
  async 'p-queue'(options) {
    const { default: PQueue } = await import('p-queue');
    const queue = new PQueue({ concurrency: 16 });
    const call = await callPool(options);
    return (n) => queue.add(() => call(n));
  },

  /** With as many requests at once as fxrates sends. */
  async 'bottleneck, 16 at once'(options) {
    const { default: Bottleneck } = await import('bottleneck');
    const limiter = new Bottleneck({ maxConcurrent: 16 });
    const call = await callPool(options);
    return (n) => limiter.schedule(() => call(n));
  },

  /** Its own backoff, as in its README; it does not read Retry-After. */
  async 'p-retry'(options) {
    const { default: pRetry } = await import('p-retry');
    const call = callFetch(options);
    return (n) => pRetry(() => call(n));
  },

  /** The retry middleware of every AWS client in adaptive mode, around `fetch`. */
  async '@smithy/util-retry'(options) {
    const { retryMiddleware } = await import('@smithy/middleware-retry');
    const { HttpResponse } = await import('@smithy/protocol-http');
    const { AdaptiveRetryStrategy, DEFAULT_MAX_ATTEMPTS } = await import('@smithy/util-retry');
    const maxAttempts = async () => DEFAULT_MAX_ATTEMPTS;
    const strategy = new AdaptiveRetryStrategy(maxAttempts);
    const call = callFetch(options);
    const send = retryMiddleware({ maxAttempts, retryStrategy: async () => strategy })(async ({ input }) => {
      const body = await call(input).catch(({ response }) => {
        const { status, headers } = response;
        // The error that an AWS client makes of a throttled response.
        throw Object.assign(new Error(`${status}`), {
          name: status === 429 ? 'TooManyRequestsException' : 'UnknownError',
          $metadata: { httpStatusCode: status },
          $response: new HttpResponse({ statusCode: status, headers: Object.fromEntries(headers) }),
        });
      });
      return { response: {}, output: { body, $metadata: {} } };
    }, {});
    return (n) => send({ input: n });
  },

  /** The plugin asks its user whether to retry. Its README retries once, but not after a secondary limit, which this is. */
  async '@octokit/plugin-throttling'({ origin, apiKey }) {
    const { Octokit } = await import('@octokit/core');
    const { throttling } = await import('@octokit/plugin-throttling');
    const silent = () => undefined;
    const retryOnce = (_retryAfter, _options, _octokit, retryCount) => retryCount < 1;
    const octokit = new (Octokit.plugin(throttling))({
      baseUrl: `${origin}/api/v1`,
      auth: apiKey,
      log: { debug: silent, info: silent, warn: silent, error: silent },
      throttle: { onRateLimit: retryOnce, onSecondaryRateLimit: retryOnce },
    });
    return (n) => octokit.request('GET /latest', { n });
  },

  /** It sends POST only; the server of the bench ignores the method. */
  async '@slack/web-api'({ origin, apiKey }) {
    const { LogLevel, WebClient } = await import('@slack/web-api');
    const client = new WebClient(apiKey, { slackApiUrl: `${origin}/api/v1/`, logLevel: LogLevel.ERROR });
    return (n) => client.apiCall('latest', { n });
  },

  async '@discordjs/rest'({ origin, apiKey }) {
    const { REST } = await import('@discordjs/rest');
    const rest = new REST({ api: `${origin}/api`, version: '1', authPrefix: 'Bearer' }).setToken(apiKey);
    return (n) => rest.get('/latest', { query: new URLSearchParams({ n: String(n) }) });
  },

  bottleneck: (options) => callBottleneck(options, {}),

  /** One limit for all processes, in the Redis that main.ts has started; the origin differs in each run. */
  async 'bottleneck, clustered'(options) {
    const { Redis } = await import('ioredis');
    const clientOptions = { host: '127.0.0.1', port: Number(new URL(process.env.REDIS_URL).port) };
    // The address is new in each run. To clear the store would remove the other processes from it.
    const clustered = { id: options.origin, datastore: 'ioredis', Redis, clientOptions };
    return callBottleneck(options, clustered);
  },

  async 'p-throttle'({ perMinute, ...options }) {
    const { default: pThrottle } = await import('p-throttle');
    return pThrottle({ limit: perMinute, interval: 60_000, strict: true })(await peers.ky(options));
  },
};

/**
 * Reservoir, `maxConcurrent`, `minTime` and retry are those of the README of bottleneck: a refused call waits for Retry-After,
 * any number of times.
 */
async function callBottleneck({ perMinute, ...options }, store) {
  const { default: Bottleneck } = await import('bottleneck');
  const limiter = new Bottleneck({
    ...store,
    reservoir: perMinute,
    reservoirRefreshAmount: perMinute,
    reservoirRefreshInterval: 60_000,
    maxConcurrent: 1,
    minTime: 333,
  });
  limiter.on('failed', ({ response }) => response && Number(response.headers.get('retry-after')) * 1000);
  await limiter.ready();
  const call = callFetch(options);
  return (n) => limiter.schedule(() => call(n));
}

/** Sixteen connections with one request each; further requests wait. */
async function callPool({ origin, apiKey }) {
  const { Pool } = await import('undici');
  const { origin: server, pathname } = new URL(origin);
  const pool = new Pool(server, { connections: 16 });
  return async (n) => {
    const path = `${pathname}/api/v1/latest?n=${n}`;
    const { body } = await pool.request({ method: 'GET', path, headers: bearer(apiKey) });
    return body.json();
  };
}

/** The error has the refused response. */
function callFetch({ origin, apiKey }) {
  return async (n) => {
    const response = await fetch(`${origin}/api/v1/latest?n=${n}`, { headers: bearer(apiKey) });
    const body = await response.json();
    if (response.ok) return body;
    throw Object.assign(new Error(`${response.status}`), { response });
  };
}

function bearer(apiKey) {
  return { authorization: `Bearer ${apiKey}` };
}
