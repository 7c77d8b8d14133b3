import { randomUUID } from 'node:crypto';
import { onAbort } from '../../foreign-values.ts';
import { parseJson } from '../../json.ts';
import { type CallResult, dataWithTextNumbers, errorOfCall, type ResponseMeta } from '../call/api-call.ts';
import { type ApiResponse, Call, type Endpoint, FIRST, type Progress, waitedUntil, wasTried } from '../call/call.ts';
import { parseBody, sortedTarget } from '../call/endpoint.ts';
import { checkPayload } from '../call/parse-response.ts';
import { AbortError, type Attempt, requestIdOf, TimeoutError } from '../errors/errors.ts';
import type { ApiKey } from '../key/api-key.ts';
import type { CallSettings, StandardSchema } from '../options/call-options.ts';
import type { CallEvent } from '../options/hooks.ts';
import type { CacheSettings } from '../options/option-table.ts';
import { abortable, Cancellation } from '../time/abort.ts';
import type { SteadyTime } from '../time/clock.ts';
import { headerIn, headersOf } from '../transport/transport.ts';
import { type CachedHandler, storedInstead } from './cache.ts';
import type { StepContext } from './send.ts';

/** How a call ended. */
type CallEnd = Pick<CallEvent, 'source' | 'attempts'> & { readonly error?: unknown };

/** For an event, also without a key. */
type ReportedCall = Progress & Pick<Call, 'id'> & Partial<Pick<Call, 'key'>>;

/** One caller of a call. */
export interface Caller {
  readonly endpoint: Endpoint;
  /** Several callers share a call only if these are equal. */
  readonly settings: CallSettings;
  readonly signal: AbortSignal | undefined;
  /** Times of `SteadyTime` at which the call started, and of its deadline. */
  readonly startedAt: number;
  readonly deadlineAt: number;
  readonly schema: StandardSchema | undefined;
  /** That of the batch. */
  readonly cache: CacheSettings | undefined;
}

/** A call, and the callers that wait for it. */
interface SharedCall {
  readonly call: Call;
  /** Identical calls have the same name; `undefined` for a call that no other caller joins. */
  readonly name: string | undefined;
  readonly response: Promise<ApiResponse>;
  callers: number;
  /** Removes it from the calls of the client. */
  readonly remove: () => void;
}

/**
 * Identical calls in flight share one request. Each caller has its own signal; the request is aborted only with the last
 * caller. Calls with different settings (deadlines, retries, ages) do not share a request.
 */
export class SharedCalls {
  readonly #context: StepContext;
  /** Sends a call with its key. */
  readonly #next: CachedHandler;
  /** By name. Not a Map: V8 retains the replaced tables of a Map, with their contents, until a full garbage collection. */
  readonly #calls: Record<string, SharedCall> = Object.create(null);

  constructor(context: StepContext, next: CachedHandler) {
    this.#context = context;
    this.#next = next;
  }

  async send(caller: Caller): Promise<CallResult<unknown>> {
    let shared: SharedCall | undefined;
    let isOwn = false;
    try {
      shared = this.#join(caller, this.#context.keys.known() ?? (await this.#loadKey(caller)));
      const { call } = shared;
      isOwn = shared.callers === 0;
      shared.callers += 1;
      call.deadlineAt = Math.max(call.deadlineAt, caller.deadlineAt);
      const result = await this.#await(shared, isOwn, caller);
      if (this.#context.events.reportsCalls) this.#report(caller, call, result.meta());
      return result;
    } catch (thrown) {
      throw this.#reportFailure(thrown, caller, { call: shared?.call, isOwn });
    }
  }

  async #await(shared: SharedCall, isOwn: boolean, caller: Caller): Promise<CallResult<unknown>> {
    const { time } = this.#context.settings;
    const { call } = shared;
    const { attempts } = call;
    const waiting = { time, attempts, limit: deadlineOf(caller), leave: () => this.#leave(shared) };
    let part = { response: shared.response, call, isOwn };
    let response: ApiResponse;
    try {
      response = await waitAsCaller(this.#checked(part, caller), caller, waiting);
    } catch (error) {
      const stored = storedInstead(call, error, this.#context.settings); // such as after the deadline of this caller
      if (stored === undefined) throw error;
      part = { response: Promise.resolve(stored), call, isOwn: false };
      const { timeoutMs: limitMs } = caller.settings;
      const checking = { ...waiting, limit: { scope: 'attempt', limitMs }, leave() {} } as const;
      const deadlineAt = time.now() + limitMs;
      response = await waitAsCaller(this.#checked(part, caller), { ...caller, deadlineAt }, checking);
    }
    const durationMs = time.now() - caller.startedAt;
    return {
      data: caller.schema ? response.data : this.#dataOf(response, part),
      meta() {
        return metaOf(response, call, { isOwn, durationMs });
      },
    };
  }

  /** The first key of the client, which a function provides. */
  async #loadKey(caller: Caller): Promise<ApiKey> {
    const { keys, lifetime, settings } = this.#context;
    const signal = new Cancellation();
    const loading = keys.load(signal);
    const attempts: Attempt[] = [];
    const remove = lifetime.add({ signal, attempts }, loading);
    const leave = () => signal.cancel(new AbortError());
    const waiting = { time: settings.time, attempts, limit: deadlineOf(caller), leave };
    try {
      return await waitAsCaller(loading, caller, waiting);
    } finally {
      remove();
    }
  }

  /** Returns the error of this caller. A call without a key has only an ID. */
  #reportFailure(thrown: unknown, caller: Caller, { call, isOwn }: FailedPart): unknown {
    const failed: ReportedCall = call ?? { id: randomUUID(), attempts: [], next: FIRST };
    const error = errorOfCall(thrown, failed);
    const source = !wasTried(failed) ? undefined : isOwn ? 'network' : 'shared';
    this.#report(caller, failed, { source, error, attempts: [...failed.attempts] });
    return error;
  }

  #report({ startedAt, endpoint }: Caller, call: ReportedCall, { source, attempts, error }: CallEnd): void {
    const now = this.#context.settings.time.now();
    const operation = call.key?.redact(endpoint.name) ?? endpoint.name;
    const durationMs = now - startedAt;
    // A caller may have joined the call after the wait began.
    const waitedMs = Math.round(Math.min(durationMs, waitedUntil(now, call)));
    this.#context.events.call({ operation, source, durationMs, waitedMs, attempts, error, callId: call.id });
  }

  /** The response with the output of the caller's own schema. A schema that does not end does not outlive the client. */
  #checked(part: CallersPart, { schema }: Caller): Promise<ApiResponse> {
    if (schema === undefined) return part.response;
    const { call } = part;
    const check = async () => {
      const response = await part.response;
      const data = await checkPayload(schema, this.#dataOf(response, part), { response, call });
      return { ...response, data };
    };
    const closing = new Cancellation();
    const checked = abortable(check(), closing);
    return checked.finally(this.#context.lifetime.add({ signal: closing, attempts: call.attempts }, checked));
  }

  /**
   * The data of a caller with the numbers of this client. Others get their own, so that a change by one caller does not
   * affect them. Parsed again from the text: a recursive copy could overflow the stack with deeply nested data, and
   * clients with another option `numbers` share cached responses.
   */
  #dataOf({ rawBody, data }: ApiResponse, { call: { endpoint }, isOwn }: Omit<CallersPart, 'response'>): unknown {
    if (this.#context.settings.numbers === 'string') return dataWithTextNumbers(rawBody);
    return isOwn ? data : parseBody(endpoint, parseJson(rawBody)).data;
  }

  #join(caller: Caller, key: ApiKey): SharedCall {
    const { settings, endpoint } = caller;
    const { sharedBy } = settings;
    if (sharedBy === undefined) return this.#start(caller, key);
    const name = `${sortedTarget(endpoint.target)} ${sharedBy}`;
    return this.#calls[name] ?? this.#start(caller, key, name);
  }

  /** Other callers can join the call under its `name`. */
  #start({ endpoint, settings, deadlineAt, cache }: Caller, key: ApiKey, name?: string): SharedCall {
    const call = new Call({ endpoint, settings, key, deadlineAt, signal: new Cancellation() });
    const response = this.#run(call, cache, () => this.#ended(shared));
    const remove = this.#context.lifetime.add(call, response);
    const shared: SharedCall = { call, name, callers: 0, response, remove };
    if (name !== undefined) this.#calls[name] = shared;
    return shared;
  }

  async #run(call: Call, cache: Caller['cache'], onEnd: () => void): Promise<ApiResponse> {
    try {
      await undefined; // a caller that aborts immediately sends nothing
      return await this.#next(call, cache);
    } finally {
      onEnd();
    }
  }

  /** A caller stops waiting; the last one aborts the request. */
  #leave(shared: SharedCall): void {
    shared.callers -= 1;
    if (shared.callers > 0) return;
    this.#ended(shared);
    shared.call.signal.cancel(new AbortError());
  }

  #ended(shared: SharedCall): void {
    const { name, remove } = shared;
    remove();
    if (name !== undefined && this.#calls[name] === shared) delete this.#calls[name];
  }
}

/** The part of a caller in a call. */
interface CallersPart {
  readonly call: Call;
  readonly response: Promise<ApiResponse>;
  /** Whether the data itself is for this caller; others get copies. */
  readonly isOwn: boolean;
}

interface FailedPart {
  /** `undefined` if its key could not be loaded. */
  readonly call: Call | undefined;
  readonly isOwn: boolean;
}

interface Waiting {
  readonly time: SteadyTime;
  /** For the error: the attempts made so far. Copied, because the request continues if it has other callers. */
  readonly attempts: readonly Attempt[];
  /** For the error of a wait that takes too long. */
  readonly limit: Pick<TimeoutError, 'scope' | 'limitMs'>;
  /** Called when the caller stops waiting. */
  readonly leave: () => void;
}

function deadlineOf({ settings: { deadlineMs } }: Caller): Waiting['limit'] {
  return { scope: 'deadline', limitMs: deadlineMs };
}

/** Waits for `work`, but not longer than the caller's signal and deadline allow. */
function waitAsCaller<T>(
  work: Promise<T>,
  { signal, deadlineAt }: Caller,
  { time, attempts, limit, leave }: Waiting,
): Promise<T> {
  if (signal === undefined && deadlineAt === Number.POSITIVE_INFINITY) return work;
  const wait = new Cancellation();
  const abort = () => wait.cancel(new AbortError({ cause: signal?.reason, attempts: [...attempts] }));
  const late = () => wait.cancel(new TimeoutError({ ...limit, attempts: [...attempts] }));
  const unlisten = signal && onAbort(signal, abort);
  const cancelTimer = deadlineAt === Number.POSITIVE_INFINITY ? undefined : time.at(deadlineAt, late);
  const result = abortable(work, wait).finally(() => {
    unlisten?.();
    cancelTimer?.();
  });
  wait.listen(leave);
  if (signal?.aborted) abort();
  return result;
}

interface MetaParts {
  readonly isOwn: boolean;
  readonly durationMs: number;
}

function metaOf(response: ApiResponse, call: Call, { isOwn, durationMs }: MetaParts): ResponseMeta {
  const { status, rawBody, headers: list, cached } = response;
  let headers: Headers | undefined;
  return {
    status,
    /** Created at its first use, because Node.js then loads its fetch, which takes 20 ms. */
    get headers() {
      headers ??= headersOf(list);
      return headers;
    },
    rawBody,
    source: cached?.source ?? (isOwn ? 'network' : 'shared'),
    staleReason: cached?.staleReason,
    ageMs: cached?.ageMs ?? 0,
    attempts: [...call.attempts], // a shared call can continue
    requestId: requestIdOf((name) => headerIn(list, name)),
    callId: call.id,
    durationMs,
  };
}
