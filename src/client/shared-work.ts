import { abortable, Cancellation, type CancelSignal } from './cancellation.ts';
import { AbortError } from './errors/errors.ts';

interface Work<T> {
  readonly result: Promise<T>;
  readonly cancellation: Cancellation;
  callers: number;
}

/**
 * One piece of work for all callers that need it at the same time. When the last of them leaves, it is cancelled, and the
 * next caller starts it again: work that hangs must not block later callers.
 */
export class SharedWork<T> {
  #work: Work<T> | undefined;

  /** Joins the work under way, or starts it. Rejects with the signal's reason as soon as that aborts. */
  async join(start: (cancellation: Cancellation) => Promise<T>, signal: CancelSignal): Promise<T> {
    const work = this.#work ?? this.#begin(start);
    work.callers += 1;
    try {
      return await abortable(work.result, signal);
    } finally {
      work.callers -= 1;
      if (work.callers === 0) this.#end(work);
    }
  }

  #begin(start: (cancellation: Cancellation) => Promise<T>): Work<T> {
    const cancellation = new Cancellation();
    const work = { result: start(cancellation), cancellation, callers: 0 };
    this.#work = work;
    return work;
  }

  #end(work: Work<T>): void {
    if (this.#work === work) this.#work = undefined;
    work.cancellation.cancel(new AbortError());
  }
}
