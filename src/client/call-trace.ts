import { tracingChannel } from 'node:diagnostics_channel';
import type { ResponseMeta } from './api-call.ts';
import type { Attempt } from './attempt.ts';
import { FxRatesError } from './errors/errors.ts';
import { maskKeysIn } from './keys/mask.ts';
import type { KeyLimits } from './state/key-limits.ts';

/**
 * One call, as the tracing channel `fxrates:call` tells of it: `start`, `end` and `asyncStart` with what is known then,
 * `asyncEnd` with all of it, after `error` if it failed. No field has a key in full.
 */
export interface CallTrace {
  /** `latest`, `quota`, …; for `get` the path. */
  readonly operation: string;
  /** Path and query, without the key. */
  readonly target: string;
  /** The key, masked. */
  key?: string | undefined;
  status?: number | undefined;
  source?: ResponseMeta['source'];
  /** The attempts, with the milliseconds waited before each. */
  attempts?: readonly Attempt[];
  /** What `fx.limits()` says at the end. */
  limits?: KeyLimits | undefined;
  /** After a failure. */
  readonly error?: unknown;
}

const channel = tracingChannel<unknown, CallTrace>('fxrates:call');
const channels = [channel.start, channel.end, channel.asyncStart, channel.asyncEnd, channel.error];

/** Nothing is built where nobody listens. */
export function isTraced(): boolean {
  return channels.some(({ hasSubscribers }) => hasSubscribers);
}

interface TracedCall<Result> {
  readonly operation: string;
  readonly target: string;
  readonly call: () => Promise<Result>;
  /** What is known at the end beside the attempts. */
  readonly describe: (result: Result | undefined) => Partial<CallTrace>;
}

/** Runs `call` and tells the channel of it. The data stays out of that: the service may repeat the key in it. */
export async function traceCall<Result>(traced: TracedCall<Result>): Promise<Result> {
  const { operation, target, call, describe } = traced;
  const trace: CallTrace = { operation, target: maskKeysIn(target) };
  const results: Result[] = [];
  await channel.tracePromise(async () => {
    try {
      const result = await call();
      results.push(result);
      Object.assign(trace, describe(result));
    } catch (error) {
      const { attempts = [], status } = FxRatesError.is(error) ? error : {};
      Object.assign(trace, describe(undefined), { attempts, status });
      throw error;
    }
  }, trace);
  return results[0] as Result; // pushed above, or the promise was rejected
}
