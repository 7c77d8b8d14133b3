/** A separate process that shares a limit through Redis. It makes a number of calls and reports their results. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import { FxRates, FxRatesError } from '../../src/client/index.ts';
import { redisStore } from '../../src/client/redis/index.ts';

export interface SharingOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly perMinute: number;
  readonly redisUrl: string;
}

export interface CallsOrder {
  readonly calls: number;
  readonly deadlineMs: number;
}

export interface CallsEnded {
  readonly ok: number;
  /** Kinds of the errors, or other thrown values. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** The longest time in milliseconds that the process has waited for a processor. */
  readonly longestDelayMs: number;
}

const { redisUrl, baseUrl, apiKey, perMinute } = JSON.parse(process.argv[2] ?? '') as SharingOptions;
const warnings: string[] = [];
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

const redis = new Redis(redisUrl);
redis.on('error', () => undefined); // the client of the limit reports an outage itself
const fx = new FxRates({
  baseUrl,
  apiKey,
  rateLimit: { perMinute, store: redisStore(redis) },
  logger: { warn: (text) => warnings.push(text) },
});
let calls = 0;

process.on('disconnect', () => process.exit());
process.on('message', async (order: CallsOrder) => {
  delay.reset();
  const all = Array.from({ length: order.calls }, () =>
    fx.latest({ call: `${process.pid}-${calls++}` }, { deadlineMs: order.deadlineMs }),
  );
  const results = await Promise.allSettled(all);
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [kindOf(result.reason)] : []));
  const longestDelayMs = delay.max / 1e6;
  process.send?.({ ok: all.length - errors.length, errors, warnings, longestDelayMs } satisfies CallsEnded);
});
process.send?.('ready');

function kindOf(error: unknown): string {
  return FxRatesError.is(error) ? error.kind : String(error);
}
