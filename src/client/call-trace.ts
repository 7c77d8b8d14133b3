import { tracingChannel } from 'node:diagnostics_channel';
import type { ResponseMeta } from './api-call.ts';
import type { Attempt } from './attempt.ts';
import { FxRatesError } from './errors/errors.ts';
import type { KeyLimits } from './key/key-limits.ts';
import { maskKeysIn } from './key/mask.ts';

/**
 * Message of the tracing channel `fxrates:call`. `start`, `end` and `asyncStart` have the fields that are known then,
 * `asyncEnd` has all of them. If the call fails, `error` is published before `asyncEnd`. No field contains the full key.
 */
export interface CallTrace {
  /** The operation, such as `latest`; for `get()` with another path, the path. */
  readonly operation: string;
  /** Path and query, without the key. */
  readonly target: string;
  /** ID of the call, also in its events, `meta` or error. Callers that share a request have the same ID. Known at the end. */
  readonly callId?: string | undefined;
  /** The masked key. Known at the end. */
  readonly key?: string | undefined;
  /** HTTP status; `undefined` if no response arrived. */
  readonly status?: number | undefined;
  /** Where the response comes from, as in `meta`. */
  readonly source?: ResponseMeta['source'];
  /** The attempts of the call, with the wait before each. */
  readonly attempts?: readonly Attempt[];
  /** The result of `fx.limits()` at the end. */
  readonly limits?: KeyLimits | undefined;
  /** The error of a failed call. */
  readonly error?: unknown;
}

const channel = tracingChannel<unknown, CallTrace>('fxrates:call');
const channels = [channel.start, channel.end, channel.asyncStart, channel.asyncEnd, channel.error];

/** Whether the channel has a subscriber. Without one, no trace is created. */
export function isTraced(): boolean {
  return channels.some(({ hasSubscribers }) => hasSubscribers);
}

interface TracedCall<Result> {
  readonly operation: string;
  readonly target: string;
  readonly call: () => Promise<Result>;
  /** The other fields when the call has ended; `undefined` after a failure. */
  readonly describe: (result: Result | undefined) => Partial<CallTrace>;
}

/** Runs `call` and publishes it on the channel, without its data, in which the service may repeat the key. */
export async function traceCall<Result>(traced: TracedCall<Result>): Promise<Result> {
  const { operation, target, call, describe } = traced;
  const trace: CallTrace = { operation: maskKeysIn(operation), target: maskKeysIn(target) };
  const results: Result[] = [];
  await channel.tracePromise(async () => {
    try {
      const result = await call();
      results.push(result);
      Object.assign(trace, describe(result));
    } catch (error) {
      const { attempts = [], status, callId } = FxRatesError.is(error) ? error : {};
      Object.assign(trace, describe(undefined), { attempts, status, callId });
      throw error;
    }
  }, trace);
  return results[0] as Result; // pushed above, unless the promise was rejected
}
