/**
 * Ends one call or one attempt. An `AbortController` per call and attempt, with its event listeners, took a quarter of
 * the client's own time. This class serves the listeners of the client, and creates a real signal for other code.
 */
export class Cancellation {
  aborted = false;
  reason: unknown;
  /** Two or three, so an array is faster than a Set. */
  #listeners: (() => void)[] | undefined;
  #controller: AbortController | undefined;

  cancel(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener();
  }

  /** Calls back when it aborts; at once if it has. */
  listen(listener: () => void): void {
    if (this.aborted) listener();
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  unlisten(listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index !== -1) this.#listeners?.splice(index, 1);
  }

  /** The same as a real signal, for code that is not the client's. */
  toSignal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }
}

/** Resolves with `work`; rejects with the signal's reason as soon as it aborts, even if `work` ignores it. */
export function abortable<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.listen(stop);
    work.then(
      (value) => {
        signal.unlisten(stop);
        resolve(value);
      },
      (error: unknown) => {
        signal.unlisten(stop);
        reject(error);
      },
    );
  });
}

interface Work<T> {
  readonly result: Promise<T>;
  readonly cancellation: Cancellation;
  callers: number;
}

/**
 * Work that simultaneous callers share. If the last caller aborts, the work is cancelled with its reason, and the next
 * caller starts it again: work that hangs does not block later callers.
 */
export class SharedWork<T> {
  #work: Work<T> | undefined;

  /**
   * Joins the work in flight, or starts it. Rejects with the signal's reason as soon as that aborts. `continues`: whether
   * the work then continues for later callers, although no other caller waits for it.
   */
  async join(
    start: (cancellation: Cancellation) => Promise<T>,
    signal: Cancellation,
    continues: () => boolean = () => false,
  ): Promise<T> {
    const work = this.#work ?? this.#begin(start);
    work.callers += 1;
    try {
      return await abortable(work.result, signal);
    } finally {
      work.callers -= 1;
      if (work.callers === 0 && !continues()) this.#end(work, signal.reason);
    }
  }

  /** Cancels the work in flight. Resolves when it has ended. */
  async cancel(reason: unknown): Promise<void> {
    const work = this.#work;
    if (work === undefined) return;
    this.#end(work, reason);
    await Promise.allSettled([work.result]);
  }

  #begin(start: (cancellation: Cancellation) => Promise<T>): Work<T> {
    const cancellation = new Cancellation();
    const work = { result: start(cancellation), cancellation, callers: 0 };
    this.#work = work;
    const settled = () => this.#end(work);
    work.result.then(settled, settled);
    return work;
  }

  #end(work: Work<T>, reason?: unknown): void {
    if (this.#work === work) this.#work = undefined;
    work.cancellation.cancel(reason);
  }
}

/** Calls back when `items.return()` is called. The `return()` of a generator waits until a pending `next()` has ended. */
export function onReturn<T>(
  items: AsyncGenerator<T, void, undefined>,
  callback: () => void,
): AsyncGenerator<T, void, undefined> {
  const end = items.return.bind(items);
  const callAndEnd = () => {
    callback();
    return end();
  };
  // An assignment fails if the prototype is frozen, as by `node --frozen-intrinsics`.
  return Object.defineProperty(items, 'return', { value: callAndEnd, writable: true, configurable: true });
}
