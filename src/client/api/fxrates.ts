import { inspect } from 'node:util';
import { OperationMethods } from '../../generated/operation-methods.ts';
import type { OperationId } from '../../generated/operations.ts';
import { type ApiCall, type CallResult, createApiCall, type WithNumbers } from '../call/api-call.ts';
import {
  type GetOptions,
  type OperationData,
  type OperationQuery,
  operationEndpoint,
  pathEndpoint,
} from '../call/endpoint.ts';
import { ClientEvents } from '../call/events.ts';
import { AbortError } from '../errors/errors.ts';
import type { KeyLimits } from '../limits/rate-limiter.ts';
import type {
  AnyCallOptions,
  BatchOptions,
  CallSettings,
  Numbers,
  PollOptions,
  QueryOperation,
  SchemaOutput,
  StandardSchema,
} from '../options/call-options.ts';
import type { FxRatesOptions, QuotaEstimate } from '../options/client-options.ts';
import type { CacheSettings } from '../options/option-table.ts';
import { givenOptions, inheritedOptions, resolveCall, resolveOptions } from '../options/resolve-options.ts';
import type { KeyState } from '../state/key-state.ts';
import { Lifetime } from '../state/lifetime.ts';
import type { Caller, SharedCalls } from '../steps/share-request.ts';
import { Batch, type BatchQueries } from './batch.ts';
import { type ClientConnection, type ClientParts, connect, type LoopClient, requireConnection } from './connect.ts';
import { createPoll, type Poll, type PollQueries } from './poll.ts';

/** In the options of a client that `withOptions()` creates: a subclass passes it on with them. */
const PARENT: unique symbol = Symbol('fxrates.parent');

/** @internal */
interface Derived {
  /** What the client shares with the one that created it. */
  readonly [PARENT]?: Pick<ClientParts, 'lifetime' | 'keys'>;
}

/**
 * Client of the exchange-rate service. It authenticates, waits for rate limits and retries failed requests. Calls reject
 * with an `FxRatesError`, whose `kind` says what failed.
 *
 * @example
 * const fx = new FxRates({ baseUrl: 'https://rates.example', apiKey: process.env.FXRATES_API_KEY });
 * const rates = await fx.latest({ base: 'EUR' });
 */
export class FxRates<ClientNumbers extends Numbers = 'number'> extends OperationMethods<ClientNumbers> {
  readonly #parts: ClientParts;
  /** The settings of a call without options. */
  readonly #usual: CallSettings;
  #connection: ClientConnection | undefined;

  /** Creates a client whose data has numbers of the type that `numbers` says. */
  constructor(options: FxRatesOptions<ClientNumbers> & { readonly numbers: ClientNumbers });
  /**
   * Creates a client. A missing base URL or key is an error of the first call, not of the constructor, because a module can
   * create its client during a build or before the program loads its environment, where neither is set.
   *
   * @throws {ConfigError} if an option is wrong
   */
  constructor(options?: FxRatesOptions);
  constructor(given: FxRatesOptions<Numbers> & Derived = {}) {
    super();
    const options = givenOptions(given);
    const settings = resolveOptions(options);
    const { [PARENT]: parent } = options;
    const lifetime = new Lifetime(parent?.lifetime);
    const events = new ClientEvents(options, lifetime.warned);
    this.#usual = resolveCall({}, settings);
    this.#parts = { options, settings, lifetime, events, keys: parent?.keys };
    if (settings.auth === 'query') {
      events.warnOnce("auth: 'query' puts the API key into URLs, which appear in logs; use 'bearer' if possible");
    }
    this.#connection = connect(this.#parts);
  }

  /**
   * Sends a GET request to an endpoint that has no method, with the same authentication, limits and errors. Rejects with
   * `ConfigError`, without a request, if the path or the query is wrong. The type parameter is the type of the data.
   *
   * @param path such as `/api/v1/latest`, without host or query
   * @example await fx.get('/api/v1/latest', { query: { base: 'EUR' } })
   */
  get<Schema extends StandardSchema>(
    path: string,
    options: GetOptions<Schema> & { readonly schema: Schema },
  ): ApiCall<SchemaOutput<Schema>>;
  get<Data = unknown>(path: string, options?: GetOptions): ApiCall<Data>;
  get(path: string, options?: GetOptions<StandardSchema | undefined>): ApiCall<unknown> {
    return createApiCall(this.#call({ id: undefined, path, query: options?.query, options }));
  }

  /**
   * Calls an operation once per query, as fast as the limit allows. Results arrive in the order in which the calls end; the
   * error of a call is a result too. Queries are read one at a time, so there can be any number of them.
   *
   * @example
   * for await (const { query, value, error } of fx.batch([{ base: 'EUR' }, { base: 'USD' }])) {
   *   console.log(query, error ?? value);
   * }
   * @throws {ConfigError} if an option is wrong or the client is closed
   */
  batch<
    Schema extends StandardSchema,
    Id extends QueryOperation = 'latest',
    Query extends OperationQuery<Id> = OperationQuery<Id>,
  >(
    queries: BatchQueries<Query>,
    options: BatchOptions<Id, Schema> & { readonly schema: Schema },
  ): Batch<Query, SchemaOutput<Schema>>;
  batch<Data = never, Id extends QueryOperation = 'latest', Query extends OperationQuery<Id> = OperationQuery<Id>>(
    queries: BatchQueries<Query>,
    options?: BatchOptions<Id>,
  ): Batch<Query, DataOf<Id, Data, ClientNumbers>>;
  batch(
    queries: BatchQueries<object>,
    options: BatchOptions<QueryOperation, StandardSchema | undefined> = {},
  ): Batch<object, unknown> {
    return new Batch<object, unknown>(queries, { ...this.#asLoopClient(), options });
  }

  /**
   * Repeats a call at the interval `every`; by default, as often as the monthly quota allows. The first call is made
   * immediately. If the loop takes longer than the interval, the next call follows immediately; skipped calls are not made later.
   * With a list of queries, each round makes a call per query.
   *
   * @example
   * for await (const rates of fx.poll({ base: 'EUR' })) console.log(rates);
   * for await (const { query, data } of fx.poll([{ base: 'EUR' }, { base: 'USD' }]).withMeta()) console.log(query, data);
   * @throws {ConfigError} if an option is wrong or the client is closed
   */
  poll<
    Schema extends StandardSchema,
    Id extends OperationId = 'latest',
    Query extends OperationQuery<Id> | undefined = OperationQuery<Id>,
  >(
    query: PollQueries<Query>,
    options: PollOptions<Id, Schema> & { readonly schema: Schema },
  ): Poll<SchemaOutput<Schema>, Query>;
  poll<Data = never, Id extends OperationId = 'latest'>(
    query?: undefined,
    options?: PollOptions<Id>,
  ): Poll<DataOf<Id, Data, ClientNumbers>, undefined>;
  poll<
    Data = never,
    Id extends OperationId = 'latest',
    Query extends OperationQuery<Id> | undefined = OperationQuery<Id>,
  >(query: PollQueries<Query>, options?: PollOptions<Id>): Poll<DataOf<Id, Data, ClientNumbers>, Query>;
  poll(query?: PollQueries<object>, options: PollOptions<OperationId, StandardSchema | undefined> = {}): Poll<unknown> {
    return createPoll(query, { ...this.#asLoopClient(), options });
  }

  /**
   * Creates a client with other options that shares the key, the limit, the quota estimate and the cache of this one. It is
   * closed with this one, or alone. It is cheap enough to call per request. For a subclass, it calls the constructor of the
   * subclass with all options; one with other parameters must override this method.
   *
   * @example fx.withOptions({ deadlineMs: 2_000, onLimit: 'throw' })
   * @throws {ConfigError} if an option is wrong
   */
  withOptions(options?: FxRatesOptions<ClientNumbers>): this;
  withOptions<Chosen extends Numbers>(options: FxRatesOptions<Chosen> & { readonly numbers: Chosen }): FxRates<Chosen>;
  withOptions(options: FxRatesOptions<Numbers> = {}): FxRates<Numbers> {
    const { lifetime, settings, options: own } = this.#parts;
    const merged = inheritedOptions(options, { options: own, cache: settings.cache });
    const keys = options.apiKey === undefined ? this.#connection?.keys : undefined;
    const Client = this.constructor as new (options: object) => FxRates<Numbers>;
    return new Client({ ...merged, [PARENT]: { lifetime, keys } });
  }

  /**
   * Ends all calls, batches and polls of this client, and of clients created from it, with `AbortError`. Resolves when all
   * have ended and the stores have their results: that of the cache may take 0.5 s, then that of the limit 1 s. Later calls
   * reject with `ConfigError`. Other clients of the key, and the client from which `withOptions()` created this one, are
   * not affected.
   */
  close(): Promise<void> {
    return this.#parts.lifetime.close();
  }

  /** Closes the client at the end of the block: `await using fx = new FxRates()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the state of the key's limit; `undefined` before the first key, and with `rateLimit: false`. Sends nothing. */
  limits(): KeyLimits | undefined {
    return this.#stateInUse()?.limits();
  }

  /** Returns the last quota record and the requests since; `undefined` before the first record, and after its reset. */
  quotaEstimate(): QuotaEstimate | undefined {
    return this.#stateInUse()?.quota.estimate();
  }

  /** @throws ConfigError if the client is closed */
  #asLoopClient(): LoopClient<object | undefined> {
    this.#parts.lifetime.requireOpen();
    return {
      ...this.#parts,
      stateInUse: () => this.#stateInUse(),
      request: (id, query, options, cache) => this.request(id, query, options, cache),
    };
  }

  /** `undefined` before the first key. */
  #stateInUse(): KeyState | undefined {
    const { keys, states } = this.#connection ?? {};
    const key = keys?.known();
    return key && states?.of(key);
  }

  protected override request<Data>(
    id: OperationId,
    query: object | undefined,
    options?: AnyCallOptions,
    cache?: CacheSettings,
  ): ApiCall<Data> {
    return createApiCall(this.#call<Data>({ id, query, options, cache }));
  }

  async #call<Data>(request: CallRequest): Promise<CallResult<Data>> {
    const { settings, events } = this.#parts;
    const startedAt = settings.time.now();
    let prepared: { readonly calls: SharedCalls; readonly caller: Caller };
    try {
      prepared = this.#prepare(request, startedAt);
    } catch (error) {
      const durationMs = settings.time.now() - startedAt;
      const nothing = { source: undefined, waitedMs: 0, attempts: [], callId: undefined };
      events.call({ operation: request.id ?? 'get', durationMs, error, ...nothing });
      throw error;
    }
    // The data has been checked by the schema of the operation or of the caller.
    return prepared.calls.send(prepared.caller) as Promise<CallResult<Data>>;
  }

  /** @throws the error of a call that is not made */
  #prepare({ id, path, query, options, cache }: CallRequest, startedAt: number) {
    const { settings: client, lifetime } = this.#parts;
    lifetime.requireOpen();
    this.#connection ??= requireConnection(this.#parts);
    const { calls } = this.#connection;
    const place = id === undefined ? 'get' : 'call';
    const settings = options === undefined ? this.#usual : resolveCall(options, client, place);
    const { schema, signal } = options ?? {};
    const endpoint = id === undefined ? pathEndpoint(path, query) : operationEndpoint(id, query);
    if (signal?.aborted) throw new AbortError({ cause: signal.reason });
    const deadlineAt = startedAt + settings.deadlineMs;
    return { calls, caller: { endpoint, settings, signal, deadlineAt, startedAt, schema, cache } };
  }

  /** Returns the base URL and the masked key, for `JSON.stringify()` and `console.log()`. */
  toJSON(): Record<string, unknown> {
    const { keys } = this.#connection ?? {};
    const apiKey = keys === undefined ? 'not set' : (keys.known()?.masked ?? 'from a function');
    return { baseUrl: this.#parts.settings.baseUrl ?? 'not set', apiKey };
  }

  /** @internal A type from `node:util` would require `@types/node` of every program. */
  [inspect.custom](): string {
    return `FxRates ${inspect(this.toJSON())}`;
  }
}

/** A call as its method describes it. */
interface CallRequest {
  /** `undefined` for a path. */
  readonly id: OperationId | undefined;
  readonly path?: unknown;
  readonly query: object | undefined;
  readonly options: AnyCallOptions | undefined;
  /** That of the batch. */
  readonly cache?: CacheSettings | undefined;
}

/** The type that the caller gives to open data; otherwise, that of the contract. */
type DataOf<Id extends OperationId, Data, Chosen extends Numbers> = [Data] extends [never]
  ? WithNumbers<OperationData<Id>, Chosen>
  : Data;
