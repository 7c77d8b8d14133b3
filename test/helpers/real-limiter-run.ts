import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, type FetchLike, FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import { type LimitedService, startNginx, startVirtualTime } from './real-limiters.mjs';
import { API_KEY } from './service-replies.ts';

export interface RealRun {
  readonly failed: number;
  /** Requests that the limiter refused. */
  readonly refused: number;
  /** Time until the last call was settled, on the clock of the client. */
  readonly seconds: number;
}

const LATENCY_MS = 20;
/** Turns of the event loop after which the work that a timer started has ended, except that of sockets. */
const QUIET_TURNS = 4;

/** Makes so many calls at once, with the defaults of the client; time passes only while no request is underway. */
export async function runInVirtualTime(start: () => Promise<LimitedService>, calls: number): Promise<RealRun> {
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
export async function runOnNginx(calls: number, { speed }: { readonly speed: number }): Promise<RealRun> {
  await using service = await startNginx({ speed });
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
