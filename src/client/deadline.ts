import type { Attempt } from './attempt.ts';
import { onAbort } from './cancellation.ts';
import { AbortError, TimeoutError } from './errors/errors.ts';
import type { Timers } from './timers.ts';

/** Signal and deadline of one caller. */
export interface CallDeadline {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds for the whole call; Infinity for no deadline. */
  readonly deadlineMs: number;
  /** Time of `SteadyTime` at which they have passed. */
  readonly deadlineAt: number;
}

interface Waiting {
  readonly timers: Timers;
  readonly nowMs: number;
  /** For the error: the attempts made so far. Copied, because the request continues if it has other callers. */
  readonly attempts?: readonly Attempt[];
  /** Called when the caller stops waiting. */
  readonly leave?: (error: AbortError | TimeoutError) => void;
}

/** Waits for `work`, but not longer than the caller's signal and deadline allow. */
export function withDeadline<T>(
  work: Promise<T>,
  { signal, deadlineMs, deadlineAt }: CallDeadline,
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
