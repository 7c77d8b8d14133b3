import type { Attempt } from './api-call.ts';
import { AbortError, TimeoutError } from './errors/errors.ts';
import { onAbort } from './on-abort.ts';
import type { Timers } from './timers.ts';

/** How long a caller waits. */
export interface Patience {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds for the whole call; Infinity for no deadline. */
  readonly deadlineMs: number;
  /** Time of `SteadyTime` at which they have passed. */
  readonly deadlineAt: number;
}

interface Waiting {
  readonly timers: Timers;
  readonly nowMs: number;
  /** For the error: the attempts made so far. Copied, since others may go on with the request. */
  readonly attempts?: readonly Attempt[];
  /** Called when the caller does not wait any longer. */
  readonly leave?: (error: AbortError | TimeoutError) => void;
}

/** Waits for `work`, but not longer than the caller's signal and deadline allow. */
export function withPatience<T>(
  work: Promise<T>,
  { signal, deadlineMs, deadlineAt }: Patience,
  { timers, nowMs, attempts = [], leave }: Waiting,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const quit = (error: AbortError | TimeoutError) => {
      stopWaiting();
      reject(error);
      leave?.(error);
    };
    const aborted = () => quit(new AbortError({ cause: signal?.reason, attempts: [...attempts] }));
    const late = () => quit(new TimeoutError({ scope: 'deadline', limitMs: deadlineMs, attempts: [...attempts] }));
    const unlisten = signal && onAbort(signal, aborted);
    const cancel = deadlineAt === Number.POSITIVE_INFINITY ? undefined : timers.after(deadlineAt - nowMs, late);
    const stopWaiting = () => {
      unlisten?.();
      cancel?.();
    };
    work.then(
      (value) => {
        stopWaiting();
        resolve(value);
      },
      (error: unknown) => {
        stopWaiting();
        reject(error);
      },
    );
    if (signal?.aborted) aborted();
  });
}
