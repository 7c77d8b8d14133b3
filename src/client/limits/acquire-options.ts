import type { CancelSignal } from '../cancellation.ts';
import type { Permit } from './permit.ts';

/** How a call waits for its slot. */
export interface AcquireOptions {
  readonly signal?: CancelSignal | undefined;
  /** Milliseconds of the limiter's clock; a function is asked again when the time has come. Default: none. */
  readonly deadlineAt?: number | (() => number) | undefined;
  /** High-priority calls go before all others. Default: `'low'`. */
  readonly priority?: 'high' | 'low' | undefined;
  /** False: be rejected (reason `'policy'`) instead of waiting for the limit. Default: true. */
  readonly wait?: boolean | undefined;
  /** The permit of the attempt before: the call keeps its place, at the head of the queue. */
  readonly retryOf?: Permit | undefined;
}

/** When the deadline is, asked as often as it matters; Infinity for none. */
export function deadlineOf({ deadlineAt }: AcquireOptions): () => number {
  if (typeof deadlineAt === 'function') return deadlineAt;
  return () => deadlineAt ?? Number.POSITIVE_INFINITY;
}
