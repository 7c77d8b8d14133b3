import type { OperationId, operations } from '../generated/operations.ts';
import type { ApiCall, ResponseMeta } from './api-call.ts';
import type { CallOptions } from './call-options.ts';
import { type AnyFxRatesError, ConfigError, FxRatesError } from './errors/errors.ts';
import { callHook } from './errors/program-values.ts';
import { abortErrorOf } from './lifetime.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import { onAbort, onReturn } from './time/abort.ts';
import type { SteadyTime } from './time/clock.ts';

/** The operations that take a query. */
export type QueryOperation = {
  [Id in OperationId]: (typeof operations)[Id]['query'] extends 'none' ? never : Id;
}[OperationId];

/** The progress of a batch, for `onProgress`. */
export interface BatchProgress {
  /** Number of calls that have ended, including failed ones. */
  readonly done: number;
  /** Number of calls that have ended with an error. */
  readonly failed: number;
  /** Number of queries: the `length` or `size` of the iterable; `undefined` if it has neither. */
  readonly total: number | undefined;
  /** Number of calls of the key in the queue of this process; 0 with `rateLimit: false`. */
  readonly waiting: number;
  /**
   * Estimated milliseconds until the last call ends, from the limit and the speed of the service; `undefined` if `total` is.
   * Other users of the key, and a limit that is not known yet, make it longer.
   */
  readonly etaMs: number | undefined;
}

/** Options of a batch. Those of a call apply to each of its calls. */
export interface BatchOptions<Id extends QueryOperation = QueryOperation>
  extends Omit<CallOptions, 'deadlineMs' | 'onLimit' | 'priority'> {
  /**
   * Time limit for each call in milliseconds, from its start and including the queue; `false` for none. The client's option
   * does not apply.
   *
   * @default false
   */
  readonly deadlineMs?: number | false | undefined;
  /**
   * Whether each call waits for the rate limit, or fails with `RateLimitError`. The client's option does not apply.
   *
   * @default 'wait'
   */
  readonly onLimit?: 'wait' | 'throw' | undefined;
  /**
   * When each call is sent: before (`'high'`), among (`'normal'`) or after (`'low'`) the other waiting calls of the key.
   *
   * @default 'low'
   */
  readonly priority?: 'high' | 'normal' | 'low' | undefined;
  /**
   * Maximum number of calls that wait, are in flight, or have a result that the loop has not read. With `rateLimit: false`,
   * the default is 16.
   *
   * @default 256
   */
  readonly concurrency?: number | undefined;
  /**
   * Name of the operation to call. The queries have the type of its query.
   *
   * @default 'latest'
   */
  readonly operation?: Id | undefined;
  /**
   * Called after each call, with the progress so far.
   *
   * @default undefined
   * @example ({ done, total, etaMs }) => console.log(`${done}/${total}, ${etaMs} ms left`)
   */
  readonly onProgress?: ((progress: BatchProgress) => void) | undefined;
}

/** The result of one query: the data (`value`) and the rest of the response (`meta`), or the `error` of its call. */
export type BatchItem<Query, Value> =
  | { readonly query: Query; readonly value: Value; readonly meta: ResponseMeta; readonly error?: undefined }
  | { readonly query: Query; readonly value?: undefined; readonly meta?: undefined; readonly error: AnyFxRatesError };

/** The queries of a batch: an array, a generator, the lines of a file, … The batch reads them one at a time. */
export type BatchQueries<Query> = Iterable<Query> | AsyncIterable<Query>;

/** The queries of a batch that have no result. */
export interface RemainingQueries<Query> extends AsyncIterable<Query> {
  /** Number of these queries; `undefined` if the number of all queries is unknown. */
  readonly size: number | undefined;
}

/** The parts of a client that a batch uses. */
export interface BatchParts<Query> {
  readonly send: (query: Query, signal: AbortSignal) => ApiCall<unknown>;
  readonly limiter: () => RateLimiter | undefined;
  readonly time: SteadyTime;
  /** Signals that end the batch: that of its options, and that of the client. */
  readonly signals: readonly AbortSignal[];
  readonly concurrency: number;
  readonly onProgress: BatchOptions['onProgress'];
}

interface QueryEntry<Query, Value> {
  readonly query: Query;
  /** Set when the call has ended. */
  item?: BatchItem<Query, Value>;
}

/**
 * An async iterable of results, in the order in which the calls end. The first call is sent when the iteration starts. At
 * most `concurrency` queries and results are in memory.
 */
export class Batch<Query, Value> implements AsyncIterable<BatchItem<Query, Value>> {
  readonly #parts: BatchParts<Query>;
  readonly #source: Iterator<Query> | AsyncIterator<Query>;
  readonly #total: number | undefined;
  /** Queries whose result has not been read, in their order. */
  readonly #entries = new Set<QueryEntry<Query, Value>>();
  /** In the order in which the calls ended. */
  readonly #ended: QueryEntry<Query, Value>[] = [];
  readonly #stop = new AbortController();
  /** Resolves when the requested query of the source has arrived. */
  #reading: Promise<void> | undefined;
  #isSourceDone = false;
  /** Ends the batch immediately. */
  #failure: { readonly error: unknown } | undefined;
  /** Ends the batch after the calls with earlier queries. */
  #sourceFailure: { readonly error: unknown } | undefined;
  #phase: 'new' | 'running' | 'over' = 'new';
  #wake = (): void => undefined;
  #startedAt = 0;
  #done = 0;
  #failed = 0;
  #delivered = 0;

  constructor(queries: BatchQueries<Query>, parts: BatchParts<Query>) {
    this.#parts = parts;
    this.#total = countOf(queries);
    this.#source = Symbol.asyncIterator in queries ? queries[Symbol.asyncIterator]() : queries[Symbol.iterator]();
  }

  /**
   * Iterates the results. It works once. Leaving the loop aborts the calls in flight; `left()` has their queries.
   *
   * The loop throws `AbortError` after the results so far, if the signal aborts or the client is closed. An error that a
   * schema throws ends the loop in the same way. An error of the queries' iterator ends it after all earlier calls.
   */
  [Symbol.asyncIterator](): AsyncGenerator<BatchItem<Query, Value>, void, undefined> {
    const returned = new AbortController();
    return onReturn(this.#run(returned.signal), () => returned.abort());
  }

  async *#run(returned: AbortSignal): AsyncGenerator<BatchItem<Query, Value>, void, undefined> {
    if (this.#phase !== 'new')
      throw new ConfigError('batch: already iterated; for the remaining queries, call fx.batch(batch.left())');
    this.#phase = 'running';
    this.#startedAt = this.#parts.time.now();
    const { signals } = this.#parts;
    const abort = (signal: AbortSignal) => this.#fail(abortErrorOf(signal));
    const listeners = signals.map((signal) => onAbort(signal, () => abort(signal)));
    for (const signal of signals) if (signal.aborted) abort(signal);
    returned.addEventListener('abort', () => this.#wake());
    try {
      for (let item = await this.#next(returned); item !== undefined; item = await this.#next(returned)) yield item;
    } finally {
      for (const unlisten of listeners) unlisten();
      this.#phase = 'over';
      this.#stop.abort();
    }
  }

  /**
   * Returns the queries whose result the loop has not received, for another batch: those of aborted calls and of results
   * that were not read, then those not started yet. Queries whose calls failed are not included. After them, the iteration
   * throws an error of the queries' iterator that the loop has not thrown.
   *
   * @example fx.batch(batch.left())
   * @throws {ConfigError} during the loop over the batch
   */
  left(): RemainingQueries<Query> {
    if (this.#phase === 'running')
      throw new ConfigError('batch: left() was called during the loop over the batch; call it after the loop');
    const size = this.#total === undefined ? undefined : this.#total - this.#delivered;
    return { size, [Symbol.asyncIterator]: () => this.#remaining() };
  }

  async *#remaining(): AsyncGenerator<Query, void, undefined> {
    await this.#reading;
    for (const entry of this.#entries) {
      this.#entries.delete(entry);
      yield entry.query;
    }
    this.#throwSourceFailure();
    for (let next = await this.#source.next(); !next.done; next = await this.#source.next()) yield next.value;
  }

  /** The next result; `undefined` after the last, or after `return()`. */
  async #next(returned: AbortSignal): Promise<BatchItem<Query, Value> | undefined> {
    for (;;) {
      this.#readMore();
      const ended = this.#ended.shift();
      if (ended !== undefined) {
        this.#entries.delete(ended);
        this.#delivered += 1;
        return ended.item;
      }
      if (returned.aborted || this.#isOver()) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Whether there will be no further result. @throws the error that ends the batch early */
  #isOver(): boolean {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (!this.#isSourceDone || this.#entries.size > 0) return false;
    this.#throwSourceFailure();
    return true;
  }

  /** Throws it once: the loop or `left()` reports it, whichever reaches the end of the queries. */
  #throwSourceFailure(): void {
    const failure = this.#sourceFailure;
    this.#sourceFailure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  /** Requests one query at a time from the source, without waiting: a slow source delays no results. */
  #readMore(): void {
    if (this.#isSourceDone || this.#stop.signal.aborted || this.#reading !== undefined) return;
    if (this.#entries.size >= this.#parts.concurrency) return;
    this.#reading = this.#readQuery().then(() => {
      this.#reading = undefined;
      this.#readMore();
      this.#wake();
    });
  }

  async #readQuery(): Promise<void> {
    try {
      const next = await this.#source.next();
      if (next.done) this.#isSourceDone = true;
      else this.#start({ query: next.value });
    } catch (error) {
      this.#isSourceDone = true;
      this.#sourceFailure = { error };
    }
  }

  /** `left()` includes a query that arrives after the end. */
  #start(entry: QueryEntry<Query, Value>): void {
    this.#entries.add(entry);
    const { query } = entry;
    if (this.#stop.signal.aborted) return;
    const call = this.#parts.send(query, this.#stop.signal).withMeta();
    call.then(
      // The operation's data, or the output of the schema.
      ({ data, meta }) => this.#end(entry, { query, value: data as Value, meta }),
      (error: unknown) => {
        if (FxRatesError.is(error) && error.kind !== 'aborted') this.#end(entry, { query, error });
        else this.#fail(error);
      },
    );
  }

  #end(entry: QueryEntry<Query, Value>, item: BatchItem<Query, Value>): void {
    this.#ended.push(Object.assign(entry, { item }));
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
    const queue = limiter();
    const waiting = queue?.limits().waiting ?? 0;
    if (total === undefined) return { done, failed, total, waiting, etaMs: undefined };
    const left = total - done;
    const perCallMs = (time.now() - this.#startedAt) / done;
    const etaMs = left <= 0 ? 0 : (queue?.etaMs(left, concurrency) ?? Math.ceil(left * perCallMs));
    return { done, failed, total, waiting, etaMs };
  }
}

function countOf(queries: object): number | undefined {
  const count = 'length' in queries ? queries.length : 'size' in queries ? queries.size : undefined;
  return typeof count === 'number' ? count : undefined;
}
