import type { Cancellation } from './cancellation.ts';
import { AbortError, ConfigError } from './errors/errors.ts';

/** A call under way; emptied when it ends. */
export interface OpenCall {
  call: { readonly cancellation: Cancellation; readonly response: Promise<unknown> } | undefined;
}

/** The part of a key's state that decides when it is released. */
export interface HeldState {
  /** Clients that use it and have not been closed. */
  clients: number;
  /** A client that still has it must look the state up again: another client may have created a new one. */
  isForgotten: boolean;
  /** Removes it from the registry, so that the next client of the key creates a new state. */
  readonly forget: () => void;
}

/** The calls and key states of a client, and of those made from it by `withOptions`, until it is closed. */
export class Lifetime {
  readonly calls = new Set<OpenCall>();
  /** The texts of the warnings so far. */
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

  /** Keeps the state of a key for this client. */
  hold(entry: HeldState): void {
    if (this.#entries.has(entry)) return;
    for (const held of this.#entries) if (held.isForgotten) this.#entries.delete(held);
    this.#entries.add(entry);
    entry.clients += 1;
  }

  /** Ends all calls and releases the states of the keys. Resolves when no call is under way. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const error = new AbortError({ message: 'The call was aborted because its client was closed (close())' });
    const calls = [...this.calls].flatMap(({ call }) => call ?? []); // before a batch or a poll aborts its own
    this.#closing.abort(error);
    for (const { cancellation } of calls) cancellation.cancel(error);
    await Promise.allSettled(calls.map(({ response }) => response));
    for (const entry of this.#entries) {
      entry.clients -= 1;
      if (entry.clients === 0) entry.forget();
    }
    this.#entries.clear();
  }
}
