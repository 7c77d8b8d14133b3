import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
// @ts-expect-error It has no types.
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { type IRateLimiterOptions, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
// @ts-expect-error It has no types.
import sinon from 'sinon';
import { expect, test } from 'vitest';
import { type FetchLike, FxRates } from '../../src/client/index.ts';
import { close, listen } from '../helpers/listen.ts';
import { API_KEY, quotaRecord, rateLimited, success } from '../helpers/service-replies.ts';

/** A service behind a rate limiter of 30 requests per minute, on a port of the loopback. */
interface LimitedService extends AsyncDisposable {
  readonly origin: string;
}

interface RealRun {
  readonly failed: number;
  /** Requests that the limiter refused. */
  readonly refused: number;
  /** Time until the last call was settled, on the clock of the client. */
  readonly seconds: number;
}

const LATENCY_MS = 20;
/** Turns of the event loop after which the work that a timer started has ended, except that of sockets. */
const QUIET_TURNS = 4;

const PER_MINUTE = 30;
const LATEST = success().body;
const QUOTA = success(quotaRecord()).body;
const REFUSAL = rateLimited().body;

/** Makes so many calls at once, with the defaults of the client; time passes only while no request is underway. */
async function runInVirtualTime(start: () => Promise<LimitedService>, calls: number): Promise<RealRun> {
  using time = startVirtualTime();
  await using service = await start();
  let underway = 0;
  let refused = 0;
  const slowFetch: FetchLike = async (url, init) => {
    await sleep(LATENCY_MS);
    underway += 1;
    const response = await fetch(url, init);
    const body = await response.text();
    underway -= 1;
    if (response.status === 429) refused += 1;
    await sleep(LATENCY_MS);
    return new Response(body, { status: response.status, headers: response.headers });
  };
  const fx = new FxRates({ baseUrl: service.origin, apiKey: API_KEY, fetch: slowFetch });
  const startedAt = Date.now();
  let isSettled = false;
  const calling = Promise.allSettled(Array.from({ length: calls }, (_, n) => fx.latest({ n }))).finally(() => {
    isSettled = true;
  });
  while (!isSettled) {
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) await nextTurn();
    if (underway === 0 && !isSettled) await time.advance();
  }
  const failed = (await calling).filter(({ status }) => status === 'rejected').length;
  return { failed, refused, seconds: (Date.now() - startedAt) / 1_000 };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

interface JsonResponse {
  json(body: unknown): void;
}

/** Replaces `Date` and the timers of this process; `advance` runs the next timer. The sockets keep the real time. */
function startVirtualTime(): Disposable & { advance(): Promise<unknown> } {
  const toFake = ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'];
  const timers = sinon.useFakeTimers({ now: Date.now(), toFake });
  return { advance: () => timers.nextAsync(), [Symbol.dispose]: () => timers.restore() };
}

function startExpress(): Promise<LimitedService> {
  const app = express();
  app.use(rateLimit({ windowMs: 60_000, limit: PER_MINUTE, keyGenerator: keyOf, message: REFUSAL }));
  app.get('/api/v1/latest', (_: unknown, response: JsonResponse) => response.json(LATEST));
  app.get('/api/v1/quota', (_: unknown, response: JsonResponse) => response.json(QUOTA));
  return serve(app);
}

/** With the Retry-After of its README, which has decimals. */
function startFlexible(options: Partial<IRateLimiterOptions>): Promise<LimitedService> {
  const limiter = new RateLimiterMemory({ points: PER_MINUTE, duration: 60, ...options });
  return serve(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    try {
      await limiter.consume(keyOf(request));
      response.end(JSON.stringify(request.url?.startsWith('/api/v1/quota') ? QUOTA : LATEST));
    } catch (refusal) {
      const { msBeforeNext } = refusal as RateLimiterRes;
      response.writeHead(429, { 'retry-after': String(msBeforeNext / 1000) }).end(JSON.stringify(REFUSAL));
    }
  });
}

function keyOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return headers.authorization ?? '';
}

async function serve(listener: RequestListener): Promise<LimitedService> {
  const server = createServer(listener);
  const port = await listen(server);
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => close(server) };
}

test.each<[string, start: () => Promise<LimitedService>, seconds: number]>([
  ['express-rate-limit', startExpress, 121],
  ['rate-limiter-flexible', () => startFlexible({}), 121],
  ['rate-limiter-flexible, blockDuration: 75', () => startFlexible({ blockDuration: 75 }), 136],
])('%s: of 75 calls at once, two are refused and none fails', async (_, start, seconds) => {
  const run = await runInVirtualTime(start, 75);

  expect(run).toMatchObject({ failed: 0, refused: 2 }); // sent before quota() has shown the limit
  expect(run.seconds).toBeLessThanOrEqual(seconds);
});
