import { onAnyAbort } from '../../foreign-values.ts';
import type { ResponseMeta } from '../call/api-call.ts';
import { type AnyFxRatesError, ConfigError, FxRatesError } from '../errors/errors.ts';
import { callHook, describeValue } from '../errors/program-values.ts';
import type {
  AnyCallOptions,
  BatchOptions,
  BatchProgress,
  QueryOperation,
  StandardSchema,
} from '../options/call-options.ts';
import { refuse } from '../options/checks.ts';
import { type CacheSettings, MemoryStore, readOptions } from '../options/option-table.ts';
import { resolveCall } from '../options/resolve-options.ts';
import { abortErrorOf } from '../state/lifetime.ts';
import { onReturn } from '../time/abort.ts';
import type { LoopClient } from './connect.ts';

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

/** The options of a batch, and its client. */
export interface BatchParts<Query> extends LoopClient<Query> {
  readonly options: BatchOptions<QueryOperation, StandardSchema | undefined>;
}

/** Calls that wait in the queue cost little memory, and are sent as soon as the limit allows. */
const CONCURRENCY = 256;
/** Without a queue, all of them would be sent at once. */
const CONCURRENCY_WITHOUT_QUEUE = 16;
/** For so long after its response, a query is not sent again. */
const REUSED_MS = 60_000;

interface QueryEntry<Query, Value> {
  readonly query: Query;
  /** Set when the call has ended. */
  item?: BatchItem<Query, Value>;
}

/**
 * An async iterable of results, in the order in which the calls end. The first call is sent when the iteration starts. At
 * most `concurrency` queries and results, and 16 MB of responses, are in memory.
 */
export class Batch<Query, Value> implements AsyncIterable<BatchItem<Query, Value>> {
  readonly #parts: ReturnType<typeof resolveBatch<Query>>;
  readonly #source: Iterator<Query> | AsyncIterator<Query>;
  readonly #total: number | undefined;
  /** Not after the end: it can be large. */
  #cache: CacheSettings | undefined;
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
  /** Whether `return()` was called. */
  #hasReturned = false;
  #wake = (): void => undefined;
  #startedAt = 0;
  /** Queries read from the source. */
  #read = 0;
  #done = 0;
  #failed = 0;
  /** Of the calls that have ended, those with a request. */
  #sent = 0;
  #delivered = 0;

  /** @internal */
  constructor(queries: BatchQueries<Query>, parts: BatchParts<Query>) {
    this.#parts = resolveBatch(queries, parts);
    this.#cache = cacheOfBatch(this.#parts.reusedMs);
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
    return onReturn(this.#run(), () => {
      this.#hasReturned = true;
      this.#wake();
    });
  }

  async *#run(): AsyncGenerator<BatchItem<Query, Value>, void, undefined> {
    if (this.#phase !== 'new')
      throw new ConfigError('batch: already iterated; for the remaining queries, call fx.batch(batch.left())');
    this.#phase = 'running';
    this.#startedAt = this.#parts.settings.time.now();
    const unlisten = onAnyAbort(this.#parts.signals, (signal) => this.#fail(abortErrorOf(signal)));
    try {
      for (let item = await this.#next(); item !== undefined; item = await this.#next()) yield item;
    } finally {
      unlisten();
      this.#phase = 'over';
      this.#stop.abort();
      this.#cache = undefined;
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
    for (let next = await this.#nextQuery(); !next.done; next = await this.#nextQuery()) yield next.value;
  }

  /** The next result; `undefined` after the last, or after `return()`. */
  async #next(): Promise<BatchItem<Query, Value> | undefined> {
    for (;;) {
      this.#readMore();
      const ended = this.#ended.shift();
      if (ended !== undefined) {
        this.#entries.delete(ended);
        this.#delivered += 1;
        return ended.item;
      }
      if (this.#hasReturned || this.#isOver()) return undefined;
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

  /** @throws TypeError if the iterator returns what a loop refuses as well */
  async #nextQuery(): Promise<IteratorResult<Query>> {
    const next = await this.#source.next();
    if (Object(next) === next) return next;
    throw new TypeError(`batch: the iterator of the queries returned ${describeValue(next)}, expected { value, done }`);
  }

  async #readQuery(): Promise<void> {
    try {
      const next = await this.#nextQuery();
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
    this.#read += 1;
    const { query } = entry;
    if (this.#stop.signal.aborted) return;
    const { request, operation, call } = this.#parts;
    const response = request<Value>(operation, query, { ...call, signal: this.#stop.signal }, this.#cache).withMeta();
    response.then(
      ({ data, meta }) => this.#end(entry, { query, value: data, meta }),
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
    this.#sent += (item.meta?.source ?? 'network') === 'network' ? 1 : 0;
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
    const { stateInUse, settings, concurrency, call } = this.#parts;
    const queue = stateInUse()?.limiter;
    const { waiting, inFlight } = queue?.limits() ?? { waiting: 0, inFlight: 0 };
    if (total === undefined) return { done, failed, total, waiting, etaMs: undefined };
    const left = total - done;
    const perCallMs = (settings.time.now() - this.#startedAt) / done;
    if (left <= 0) return { done, failed, total, waiting, etaMs: 0 };
    const unended = Math.min(this.#read - done, waiting + inFlight);
    // Of the queries to be read, as many need a request as of those read so far.
    const expected = Math.ceil(unended + (Math.max(0, total - this.#read) * (this.#sent + unended)) / this.#read);
    const isQueued = queue !== undefined && expected > 0;
    const etaMs = isQueued
      ? queue.etaMs(expected, { concurrency, priority: call.priority })
      : Math.ceil(left * perCallMs);
    return { done, failed, total, waiting, etaMs };
  }
}

/** The options of a batch, checked and complete. @throws ConfigError, also if `queries` is not iterable */
function resolveBatch<Query>(queries: unknown, { options, ...client }: BatchParts<Query>) {
  const { settings, lifetime } = client;
  const most = settings.rateLimit === false ? CONCURRENCY_WITHOUT_QUEUE : CONCURRENCY;
  const { operation = 'latest', concurrency = most, onProgress, signal, ...given } = readOptions('batch', options);
  const isList = typeof queries === 'object' && queries !== null;
  if (!isList || !(Symbol.iterator in queries || Symbol.asyncIterator in queries)) {
    refuse('batch', queries, 'an iterable of queries, such as an array');
  }
  const call: AnyCallOptions = { deadlineMs: false, onLimit: 'wait', priority: 'low', ...given };
  const { sharedBy, maxAgeMs = REUSED_MS } = resolveCall(call, settings); // throws before the first call
  const reusedMs = sharedBy === undefined ? 0 : Math.min(maxAgeMs, REUSED_MS);
  const signals = signal === undefined ? lifetime.signals : [...lifetime.signals, signal];
  return { ...client, signals, operation, onProgress, concurrency, call, reusedMs };
}

/** In which equal queries of a batch find their response, before they ask the cache of the client. */
function cacheOfBatch(maxAgeMs: number): CacheSettings | undefined {
  if (maxAgeMs === 0) return undefined;
  const store = new MemoryStore();
  return { maxAgeMs, store, staleIfLimitedMs: 0, staleIfErrorMs: 0, staleWhileRevalidateMs: 0 };
}

function countOf(queries: object): number | undefined {
  const count = 'length' in queries ? queries.length : 'size' in queries ? queries.size : undefined;
  return typeof count === 'number' ? count : undefined;
}
