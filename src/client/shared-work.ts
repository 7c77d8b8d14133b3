import { abortable, Cancellation, type CancelSignal } from './cancellation.ts';
import { AbortError } from './errors/errors.ts';

interface Work<T> {
  readonly result: Promise<T>;
  readonly cancellation: Cancellation;
  askers: number;
}

/**
 * One piece of work for all who ask for it at the same time. When the last of them leaves, it is cancelled and
 * forgotten: work that hangs must not hang everybody who comes later.
 */
export class SharedWork<T> {
  #work: Work<T> | undefined;

  /** Joins the work under way, or starts it. Rejects with the signal's reason as soon as that aborts. */
  async join(start: (cancellation: Cancellation) => Promise<T>, signal: CancelSignal): Promise<T> {
    const work = this.#work ?? this.#begin(start);
    work.askers += 1;
    try {
      return await abortable(work.result, signal);
    } finally {
      work.askers -= 1;
      if (work.askers === 0) this.#end(work);
    }
  }

  #begin(start: (cancellation: Cancellation) => Promise<T>): Work<T> {
    const cancellation = new Cancellation();
    const work = { result: start(cancellation), cancellation, askers: 0 };
    this.#work = work;
    return work;
  }

  #end(work: Work<T>): void {
    if (this.#work === work) this.#work = undefined;
    work.cancellation.cancel(new AbortError());
  }
}
