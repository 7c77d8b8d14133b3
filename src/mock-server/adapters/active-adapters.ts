import type { AdapterName } from '../http/message.ts';

/** The adapters in use. A rule that one of them does not support is rejected before the first request. */
export class ActiveAdapters {
  readonly #open: AdapterName[] = [];

  /** `mock.fetch` is always available. It is in use if no other adapter is. */
  get inUse(): readonly AdapterName[] {
    return this.haveTransit ? Array.from(new Set(this.#open)) : ['fetch'];
  }

  /** Whether requests are in transit for a while before they reach the mock. Those of `mock.fetch` are not. */
  get haveTransit(): boolean {
    return this.#open.length > 0;
  }

  /** Returns a function that closes it again. */
  open(name: AdapterName): () => void {
    this.#open.push(name);
    return () => void this.#open.splice(this.#open.indexOf(name), 1);
  }
}
