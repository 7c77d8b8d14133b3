import type { Attempt } from './attempt.ts';
import { AbortError, TimeoutError } from './errors/errors.ts';
import type { Timers } from './timers.ts';

/** How long a caller waits. */
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
  /** Called when the caller does not wait any longer. */
  readonly leave?: (error: AbortError | TimeoutError) => void;
}

/** The error of a loop that `signal` ends. `close()` aborts with the error itself. */
export function abortErrorOf({ reason }: AbortSignal): AbortError {
  return reason instanceof AbortError ? reason : new AbortError({ cause: reason });
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

type Callback = () => void;

const callbacksOf = new WeakMap<AbortSignal, Set<Callback>>();

/**
 * Calls back once when `signal` aborts. Returns a function that cancels it. All callbacks of a signal share one listener:
 * a signal for a hundred calls is common, and Node warns of a leak from eleven listeners on.
 */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  const callbacks = callbacksOf.get(signal) ?? listenTo(signal);
  callbacks.add(callback);
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) forget(signal);
  };
}

const tellAll = ({ target }: Event) => {
  const signal = target as AbortSignal; // nothing else is listened to
  const callbacks = callbacksOf.get(signal) ?? [];
  forget(signal);
  for (const callback of callbacks) callback();
};

function listenTo(signal: AbortSignal): Set<Callback> {
  const callbacks = new Set<Callback>();
  callbacksOf.set(signal, callbacks);
  signal.addEventListener('abort', tellAll);
  return callbacks;
}

function forget(signal: AbortSignal): void {
  callbacksOf.delete(signal);
  signal.removeEventListener('abort', tellAll);
}
