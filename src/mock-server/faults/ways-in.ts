/** A way into the mock: `mock.fetch`, msw (`handlers`, `listen()`), undici (`dispatcher`, `listen()`), or `serve()`. */
export type Way = 'fetch' | 'msw' | 'undici' | 'socket';

export const WAYS: readonly Way[] = ['fetch', 'msw', 'undici', 'socket'];

/** One way or several, as a list; what else a user may give, `checkedFault` refuses. */
export function waysOf(via: unknown): readonly Way[] {
  return [via].flat() as Way[];
}

/** A request's way in. */
export interface Arrival {
  readonly way: Way;
  /** Aborts when nobody waits for the answer any more. A function, because only a fault ever asks. */
  readonly gone?: (() => AbortSignal | undefined) | undefined;
}

/** The ways that a test has opened, so that a fault which one of them cannot do is refused before any request. */
export class WaysIn {
  readonly #open: Way[] = [];

  /** `mock.fetch` is always there, and meant when nothing else is. */
  get inUse(): readonly Way[] {
    return this.#open.length === 0 ? ['fetch'] : Array.from(new Set(this.#open));
  }

  /** Gives a function that closes it again. */
  open(...ways: readonly Way[]): () => void {
    this.#open.push(...ways);
    return () => {
      for (const way of ways) this.#open.splice(this.#open.indexOf(way), 1);
    };
  }
}
