import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fastifyRateLimit from '@fastify/rate-limit';
// @ts-expect-error It has no types.
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import fastify from 'fastify';
import { type IRateLimiterOptions, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
// @ts-expect-error It has no types.
import sinon from 'sinon';
import { expect, test } from 'vitest';
import { accepts, freePort } from '../../bench/free-port.ts';
import { type Clock, type FetchLike, FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import { close, listen } from '../helpers/listen.ts';
import { API_KEY, quotaRecord, rateLimited, success } from '../helpers/service-replies.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

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

/** Without nginx, tests and rows that need it are skipped. */
const hasNginx = spawnSync('nginx', ['-v']).status === 0;

if (!hasNginx) process.stderr.write('SKIPPED: rate limits of a real nginx. Install nginx to run them.\n');

/** Makes so many calls at once, with the defaults of the client; time passes only while no request is underway. */
async function runInVirtualTime(start: () => Promise<LimitedService>, calls: number): Promise<RealRun> {
  using time = startVirtualTime();
  await using service = await start();
  let underway = 0;
  const slowFetch: FetchLike = async (url, init) => {
    await sleep(LATENCY_MS);
    underway += 1;
    const response = await fetch(url, init);
    const body = await response.text();
    underway -= 1;
    await sleep(LATENCY_MS);
    return new Response(body, { status: response.status, headers: response.headers });
  };
  let isSettled = false;
  const run = makeCalls(service, calls, { fetch: slowFetch, now: () => Date.now() }).finally(() => {
    isSettled = true;
  });
  for (;;) {
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) await nextTurn();
    if (isSettled) return run;
    if (underway === 0) await time.advance();
  }
}

/** The same on nginx, on a clock that is `speed` times as fast as the real one. */
async function runOnNginx(calls: number, { speed }: { readonly speed: number }): Promise<RealRun> {
  await using service = await startNginx(speed);
  const clock = fasterClock(speed);
  return await makeCalls(service, calls, { fetch, clock, now: clock.now });
}

interface CallsOptions extends Pick<FxRatesOptions, 'clock'> {
  readonly fetch: FetchLike;
  readonly now: () => number;
}

async function makeCalls(
  { origin }: LimitedService,
  calls: number,
  { fetch, now, ...options }: CallsOptions,
): Promise<RealRun> {
  let refused = 0;
  const countingFetch: FetchLike = async (url, init) => {
    const response = await fetch(url, init);
    if (response.status === 429) refused += 1;
    return response;
  };
  const fx = new FxRates({ baseUrl: origin, apiKey: API_KEY, fetch: countingFetch, ...options });
  const startedAt = now();
  const results = await Promise.allSettled(Array.from({ length: calls }, (_, n) => fx.latest({ n })));
  const failed = results.filter(({ status }) => status === 'rejected').length;
  return { failed, refused, seconds: (now() - startedAt) / 1_000 };
}

function fasterClock(speed: number): Clock {
  return {
    now: () => speed * performance.now(),
    sleep: (ms, signal) => sleep(ms / speed, signal),
  };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
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

async function startFastify(): Promise<LimitedService> {
  const app = fastify();
  await app.register(fastifyRateLimit, { max: PER_MINUTE, timeWindow: 60_000, keyGenerator: keyOf });
  app.get('/api/v1/latest', () => LATEST);
  app.get('/api/v1/quota', () => QUOTA);
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  return { origin, [Symbol.asyncDispose]: () => app.close() };
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

/** nginx reads the real time: for a client whose clock is `speed` times as fast, its rate is as much higher. */
async function startNginx(speed: number): Promise<LimitedService> {
  const folder = temporaryFolder();
  const port = await freePort();
  mkdirSync(join(folder, 'api/v1'), { recursive: true });
  writeFileSync(join(folder, 'api/v1/latest'), JSON.stringify(LATEST));
  writeFileSync(join(folder, 'api/v1/quota'), JSON.stringify(QUOTA));
  writeFileSync(join(folder, 'nginx.conf'), nginxConfiguration(folder, port, PER_MINUTE * speed));
  const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  nginx.stderr.on('data', (text) => log.push(String(text)));
  const close = async () => {
    process.off('exit', kill);
    if (nginx.exitCode === null && nginx.kill()) await once(nginx, 'exit');
  };
  const kill = () => nginx.kill('SIGKILL');
  process.once('exit', kill);
  while (!(await accepts(port))) {
    if (nginx.exitCode !== null) throw new Error(`nginx did not start:\n${log.join('')}`);
  }
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

/** Without a Retry-After, as nginx refuses by itself. */
function nginxConfiguration(folder: string, port: number, perMinute: number): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off; master_process off; pid ${folder}/nginx.pid;
    events {}
    http {
      ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      access_log off;
      default_type application/json;
      limit_req_zone $http_authorization zone=key:1m rate=${perMinute}r/m;
      limit_req_status 429;
      server {
        listen 127.0.0.1:${port};
        root ${folder};
        location /api/ { limit_req zone=key burst=10 nodelay; }
      }
    }`;
}

/** The limiters that read the time of this process. */
test.each<[string, start: () => Promise<LimitedService>, seconds: number]>([
  ['express-rate-limit', startExpress, 121],
  ['@fastify/rate-limit', startFastify, 121],
  ['rate-limiter-flexible', () => startFlexible({}), 121],
  ['rate-limiter-flexible, blockDuration: 75', () => startFlexible({ blockDuration: 75 }), 136],
])('%s: of 75 calls at once, two are refused and none fails', async (_, start, seconds) => {
  const run = await runInVirtualTime(start, 75);

  expect(run).toMatchObject({ failed: 0, refused: 2 }); // sent before quota() has shown the limit
  expect(run.seconds).toBeLessThanOrEqual(seconds);
});

test.skipIf(!hasNginx)('nginx without Retry-After: none of 40 calls fails, with at most one refusal each', async () => {
  const run = await runOnNginx(40, { speed: 20 });

  expect(run.failed).toBe(0);
  // The time is real, and twenty times as fast: 23 on an idle machine, 29 beside other tests.
  expect(run.refused).toBeLessThanOrEqual(40);
});
