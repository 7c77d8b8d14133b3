import type { ApiCall, CallOptions, ResponseMeta } from './api-call.ts';
import { abortErrorOf, onAbort } from './deadline.ts';
import { type AnyFxRatesError, ConfigError, FxRatesError } from './errors/errors.ts';
import { callHook } from './events.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import type { QueryOperation } from './operation-types.ts';
import type { SteadyTime } from './steady-time.ts';

/** The progress of a batch. */
export interface BatchProgress {
  /** Calls that have ended, failed ones included. */
  readonly done: number;
  /** Calls that have ended with an error. */
  readonly failed: number;
  /** Queries of the batch: the `length` or `size` of what was passed; `undefined` if it has neither. */
  readonly total: number | undefined;
  /** Calls of the key that wait in the queue of this process; 0 with `rateLimit: false`. */
  readonly waiting: number;
  /**
   * Milliseconds until the last call ends, by what is known of the limit and of the speed of the service; `undefined` if
   * `total` is. An estimate: other users of the key, and a limit that is not known yet, make it longer.
   */
  readonly etaMs: number | undefined;
}

/** Options of a batch: those of a call, which apply to each of its calls, and its own. */
export interface BatchOptions<Id extends QueryOperation = QueryOperation>
  extends Omit<CallOptions, 'signal' | 'deadlineMs' | 'onLimit'> {
  /** Ends the batch: calls under way are aborted, and the iteration throws `AbortError`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each call from its start, the queue included; `false` for none. Default: `false`, unlike a single call. */
  readonly deadlineMs?: number | false | undefined;
  /** What a rate limit does to each call. Default: `'wait'`, whatever the client's option is. */
  readonly onLimit?: 'wait' | 'throw' | undefined;
  /**
   * Calls under way at once, with those that wait and the results that have not been read: the next query is taken when
   * one of these is read. Default: 256, as many as the limiter ever sends at once; 16 with `rateLimit: false`.
   */
  readonly concurrency?: number | undefined;
  /** The operation to call. Default: `'latest'`. */
  readonly operation?: Id | undefined;
  /** Called after each call that ends. */
  readonly onProgress?: ((progress: BatchProgress) => void) | undefined;
}

/** The result of one query: the data in `value` and what is known about its answer in `meta`, or the error of its call. */
export type BatchItem<Query, Value> =
  | { readonly query: Query; readonly value: Value; readonly meta: ResponseMeta; readonly error?: undefined }
  | { readonly query: Query; readonly value?: undefined; readonly meta?: undefined; readonly error: AnyFxRatesError };

/** The queries of a batch: a list, a generator, the lines of a file, … Taken one by one. */
export type BatchQueries<Query> = Iterable<Query> | AsyncIterable<Query>;

/** Queries of a batch that have no result. */
export interface RemainingQueries<Query> extends AsyncIterable<Query> {
  /** Their number; `undefined` if that of all queries is not known. */
  readonly size: number | undefined;
}

/** The parts of a client that a batch uses. */
export interface BatchParts<Query> {
  readonly send: (query: Query, signal: AbortSignal) => ApiCall<unknown>;
  readonly limiter: () => RateLimiter | undefined;
  readonly time: SteadyTime;
  /** Each ends the batch: that of its options, and that of a client that is closed. */
  readonly signals: readonly AbortSignal[];
  readonly concurrency: number;
  readonly onProgress: BatchOptions['onProgress'];
}

interface Entry<Query, Value> {
  readonly query: Query;
  /** `undefined` while the call is under way. */
  item?: BatchItem<Query, Value>;
}

/**
 * Calls with many queries: an async iterable of the results in the order in which the calls end. The first call is sent
 * when the first result is asked for. Only `concurrency` queries and results are in memory at once.
 */
export class Batch<Query, Value> implements AsyncIterable<BatchItem<Query, Value>> {
  readonly #parts: BatchParts<Query>;
  readonly #source: Iterator<Query> | AsyncIterator<Query>;
  readonly #total: number | undefined;
  /** Queries whose result has not been read, in their order. */
  readonly #entries = new Set<Entry<Query, Value>>();
  readonly #ended: Entry<Query, Value>[] = [];
  readonly #stop = new AbortController();
  /** The query that the source has been asked for. */
  #taking: Promise<void> | undefined;
  #isSourceDone = false;
  /** Ends the batch at once. */
  #failure: { readonly error: unknown } | undefined;
  /** Ends the batch after the calls with earlier queries. */
  #sourceFailure: { readonly error: unknown } | undefined;
  #phase: 'new' | 'running' | 'over' = 'new';
  #wake = (): void => undefined;
  #startedAt = 0;
  #done = 0;
  #failed = 0;
  #read = 0;

  constructor(queries: BatchQueries<Query>, parts: BatchParts<Query>) {
    this.#parts = parts;
    this.#total = countOf(queries);
    this.#source = Symbol.asyncIterator in queries ? queries[Symbol.asyncIterator]() : queries[Symbol.iterator]();
  }

  /**
   * The results, once. Leaving the loop aborts the calls under way; `left()` has their queries.
   *
   * @throws AbortError if the signal of the batch aborts or the client is closed, after the results that have come until then. An error that a
   *   schema throws ends the batch in the same way; one of the queries' iterator, after all calls with earlier queries.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<BatchItem<Query, Value>, void, undefined> {
    if (this.#phase !== 'new') throw new ConfigError('batch: already iterated; start a new one with batch.left()');
    this.#phase = 'running';
    this.#startedAt = this.#parts.time.now();
    const { signals } = this.#parts;
    const abort = (signal: AbortSignal) => this.#fail(abortErrorOf(signal));
    const listeners = signals.map((signal) => onAbort(signal, () => abort(signal)));
    for (const signal of signals) if (signal.aborted) abort(signal);
    try {
      for (let item = await this.#next(); item !== undefined; item = await this.#next()) yield item;
    } finally {
      for (const unlisten of listeners) unlisten();
      this.#phase = 'over';
      this.#stop.abort();
    }
  }

  /**
   * The queries without a result, for another batch: those whose calls were aborted, then those not yet taken. Queries
   * whose calls failed are not among them.
   *
   * @throws ConfigError while the batch is iterated
   */
  left(): RemainingQueries<Query> {
    if (this.#phase === 'running')
      throw new ConfigError('batch: left() is known when the loop over the batch has ended');
    const size = this.#total === undefined ? undefined : this.#total - this.#read;
    return { size, [Symbol.asyncIterator]: () => this.#remaining() };
  }

  async *#remaining(): AsyncGenerator<Query, void, undefined> {
    await this.#taking;
    for (const entry of this.#entries) {
      this.#entries.delete(entry);
      yield entry.query;
    }
    for (let next = await this.#source.next(); !next.done; next = await this.#source.next()) yield next.value;
  }

  /** The next result; `undefined` after the last. */
  async #next(): Promise<BatchItem<Query, Value> | undefined> {
    for (;;) {
      this.#takeMore();
      const entry = this.#ended.shift();
      if (entry?.item !== undefined) {
        this.#entries.delete(entry);
        this.#read += 1;
        return entry.item;
      }
      if (this.#isOver()) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Whether there will be no further result. @throws what ends the batch early */
  #isOver(): boolean {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (!this.#isSourceDone || this.#entries.size > 0) return false;
    if (this.#sourceFailure !== undefined) throw this.#sourceFailure.error;
    return true;
  }

  /** Asks the source for one query at a time, without waiting: a slow source delays no results. */
  #takeMore(): void {
    const mayTake = !this.#isSourceDone && this.#failure === undefined && this.#phase === 'running';
    if (!mayTake || this.#taking !== undefined || this.#entries.size >= this.#parts.concurrency) return;
    this.#taking = this.#take().then(() => {
      this.#taking = undefined;
      this.#takeMore();
      this.#wake();
    });
  }

  async #take(): Promise<void> {
    try {
      const next = await this.#source.next();
      if (next.done) this.#isSourceDone = true;
      else this.#start({ query: next.value });
    } catch (error) {
      this.#isSourceDone = true;
      this.#sourceFailure = { error };
    }
  }

  /** A query that comes after the end is kept for `left()`. */
  #start(entry: Entry<Query, Value>): void {
    this.#entries.add(entry);
    const { query } = entry;
    if (this.#stop.signal.aborted) return;
    const call = this.#parts.send(query, this.#stop.signal).withMeta();
    call.then(
      // The operation's data, or what the schema makes of it.
      ({ data, meta }) => this.#end(entry, { query, value: data as Value, meta }),
      (error: unknown) => {
        if (!FxRatesError.is(error)) this.#fail(error);
        else if (error.kind !== 'aborted') this.#end(entry, { query, error });
        else this.#fail(error); // after the end of the batch, this changes nothing
      },
    );
  }

  #end(entry: Entry<Query, Value>, item: BatchItem<Query, Value>): void {
    entry.item = item;
    this.#ended.push(entry);
    this.#done += 1;
    this.#failed += item.error === undefined ? 0 : 1;
    const { onProgress } = this.#parts;
    if (onProgress !== undefined) callHook(onProgress, this.#progress());
    this.#wake();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop.abort();
    this.#wake();
  }

  #progress(): BatchProgress {
    const [done, failed, total] = [this.#done, this.#failed, this.#total];
    const { limiter, time, concurrency } = this.#parts;
    const waiting = limiter()?.limits().waiting ?? 0;
    if (total === undefined) return { done, failed, total, waiting, etaMs: undefined };
    const left = total - done;
    const perCallMs = (time.now() - this.#startedAt) / done;
    const etaMs = left <= 0 ? 0 : (limiter()?.etaMs(left, concurrency) ?? Math.ceil(left * perCallMs));
    return { done, failed, total, waiting, etaMs };
  }
}

function countOf(queries: object): number | undefined {
  const count = 'length' in queries ? queries.length : 'size' in queries ? queries.size : undefined;
  return typeof count === 'number' ? count : undefined;
}
