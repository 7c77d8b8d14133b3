import type { Attempt } from './attempt.ts';
import type { Cancellation } from './cancellation.ts';
import { AbortError, ConfigError, TimeoutError } from './errors/errors.ts';
import type { Timers } from './timers.ts';

export interface OpenCall {
  readonly cancellation: Cancellation;
  /** `undefined` when it has ended. */
  readonly response: Promise<unknown> | undefined;
}

/** The part of a key's state that determines when the state is released. */
export interface HeldState {
  /** Clients that use it and have not been closed. */
  clients: number;
  /** Whether it was released. A client must then find the state again: another client may have created a new one. */
  isForgotten: boolean;
  /** Removes it from the registry, so that the next client of the key creates a new state. */
  readonly forget: () => void;
  /** Resolves when the store has the results of all its calls, or has failed. */
  readonly stored: () => Promise<void>;
}

/** The calls and key states of a client, and of clients that `withOptions` created from it, until it is closed. */
export class Lifetime {
  readonly calls = new Set<OpenCall>();
  /** Texts of the warnings that were given. */
  readonly warned = new Set<string>();
  readonly #entries = new Set<HeldState>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** Aborts when the client is closed; the reason is the error of the calls that this ends. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  requireOpen(): void {
    if (this.#closed !== undefined) throw new ConfigError('The client is closed (close()); create a new one');
  }

  /** Prevents the removal of a key's state while this client is open. */
  hold(entry: HeldState): void {
    if (this.#entries.has(entry)) return;
    for (const held of this.#entries) if (held.isForgotten) this.#entries.delete(held);
    this.#entries.add(entry);
    entry.clients += 1;
  }

  /**
   * Ends all calls and releases the states of the keys. Resolves when no call is in flight, and the stores of the limits
   * have the results.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const error = new AbortError({ message: 'The call was aborted because its client was closed (close())' });
    const calls = [...this.calls]; // copied before a batch or a poll aborts its calls
    const responses = calls.map(({ response }) => response);
    this.#closing.abort(error);
    for (const { cancellation } of calls) cancellation.cancel(error);
    await Promise.allSettled(responses);
    const entries = [...this.#entries];
    this.#entries.clear();
    for (const entry of entries) {
      entry.clients -= 1;
      if (entry.clients === 0) entry.forget();
    }
    // Otherwise, a process that exits now would hold its slots until it is considered dead.
    await Promise.all(entries.filter(({ clients }) => clients === 0).map((entry) => entry.stored()));
  }
}

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

/** The error of a loop that `signal` ends. For `close()`, it is the reason of the signal. */
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

const callAll = ({ target }: Event) => {
  const signal = target as AbortSignal; // the only event target with this listener
  const callbacks = callbacksOf.get(signal) ?? [];
  forget(signal);
  for (const callback of callbacks) callback();
};

function listenTo(signal: AbortSignal): Set<Callback> {
  const callbacks = new Set<Callback>();
  callbacksOf.set(signal, callbacks);
  signal.addEventListener('abort', callAll);
  return callbacks;
}

function forget(signal: AbortSignal): void {
  callbacksOf.delete(signal);
  signal.removeEventListener('abort', callAll);
}
