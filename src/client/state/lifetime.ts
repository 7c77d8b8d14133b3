import type { Call } from '../call/call.ts';
import { AbortError, type Attempt, ConfigError } from '../errors/errors.ts';
import { Cancellation } from '../time/abort.ts';

/** The part of a key's state that determines when the state is released. */
export interface RetainedState {
  /** Clients that use it and have not been closed. */
  clients: number;
  /** Its last client is closed. Resolves when the store has the results of all its calls, or has failed. */
  close(): Promise<void>;
}

type EndableCall = Pick<Call, 'signal' | 'attempts'>;

interface CallInFlight {
  readonly call: EndableCall;
  readonly response: Promise<unknown>;
  readonly lifetime: Lifetime;
  /** Its index in the list; -1 after its end. */
  index: number;
}

/** The calls of a client and of clients that `withOptions` created from it, and their key states, until it is closed. */
export class Lifetime {
  /** Texts of the warnings that were given, also by the clients created from it. */
  readonly warned: Map<string, number>;
  /** That of the client from which this one was created. */
  readonly #parent: Lifetime | undefined;
  /** Without an order; a Set costs a tenth of the throughput. A client and those created from it have one list. */
  readonly #calls: CallInFlight[];
  readonly #own = new Set<RetainedState>();
  /** The states of the client and of those created from it, each with the number of these clients. */
  readonly #entries = new Map<RetainedState, number>();
  readonly #closing = new Cancellation();
  #closed: Promise<void> | undefined;

  constructor(parent?: Lifetime) {
    this.#parent = parent;
    this.#calls = parent === undefined ? [] : parent.#calls;
    this.warned = parent?.warned ?? new Map();
  }

  /** One of them aborts when the client is closed; the reason is the error of the loop that this ends. */
  get signals(): readonly AbortSignal[] {
    const own = this.#closing.toSignal();
    return this.#parent === undefined ? [own] : [...this.#parent.signals, own];
  }

  /**
   * A call, or the write of its response to the cache, has started. If the client was closed meanwhile, it is aborted.
   * Returns a function for its end.
   */
  add(call: EndableCall, response: Promise<unknown>): () => void {
    const calls = this.#calls;
    if (this.isClosed) call.signal.cancel(closedError(call.attempts));
    const added = { call, response, lifetime: this, index: calls.length };
    calls.push(added);
    return () => {
      if (added.index < 0) return;
      const last = calls.pop();
      if (last !== undefined && last !== added) {
        calls[added.index] = last;
        last.index = added.index;
      }
      added.index = -1;
    };
  }

  /** That of the client from which all others of this family were created. */
  get root(): Lifetime {
    return this.#parent === undefined ? this : this.#parent.root;
  }

  get isClosed(): boolean {
    return this.#closing.aborted || this.#parent?.isClosed === true;
  }

  requireOpen(): void {
    if (this.isClosed) throw new ConfigError('The client is closed (close()); create a new one');
  }

  /** Prevents the removal of a key's state while this client is open. */
  retain(entry: RetainedState): void {
    if (this.#own.has(entry)) return;
    this.#own.add(entry);
    this.#count(entry, 1);
    entry.clients += 1;
  }

  /** Numbers instead of the clients, because a program may create one per request, and close none of them. */
  #count(entry: RetainedState, change: number): void {
    const count = (this.#entries.get(entry) ?? 0) + change;
    if (count > 0) this.#entries.set(entry, count);
    else this.#entries.delete(entry);
    if (this.#parent !== undefined) this.#parent.#count(entry, change);
  }

  /**
   * Ends all calls and releases the states of the keys. Resolves when no call is in flight, and the stores of the limits
   * and of the cache have the results.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #endsWith(closed: Lifetime): boolean {
    if (this.#parent === undefined) return this === closed;
    return this === closed || this.#parent.#endsWith(closed);
  }

  async #close(): Promise<void> {
    const own = () => this.#calls.filter(({ lifetime }) => lifetime.#endsWith(this));
    // Copied before a batch or a poll aborts its calls.
    const calls = own();
    this.#closing.cancel(closedError());
    for (const { call } of calls) call.signal.cancel(closedError([...call.attempts])); // each error has the ID of its call
    await Promise.allSettled(calls.map(({ response }) => response));
    await Promise.allSettled(own().map(({ response }) => response)); // a call that had its response stores it
    if (this.#parent?.isClosed) return; // which releases the states
    const entries = [...this.#entries];
    for (const [entry, count] of entries) {
      this.#count(entry, -count);
      entry.clients -= count;
    }
    // Otherwise, a process that exits now would hold its slots until it is considered dead.
    await Promise.all(entries.filter(([{ clients }]) => clients === 0).map(([entry]) => entry.close()));
  }
}

function closedError(attempts: readonly Attempt[] = []): AbortError {
  return new AbortError({ message: 'The call was aborted because its client was closed (close())', attempts });
}

/** The error of a loop that `signal` ends. For `close()`, it is the reason of the signal. */
export function abortErrorOf({ reason }: AbortSignal): AbortError {
  return reason instanceof AbortError ? reason : new AbortError({ cause: reason });
}
