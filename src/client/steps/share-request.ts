import type { HeapNode } from '../../heap.ts';
import { parseJson } from '../../json.ts';
import { errorOfCall, type ResponseMeta } from '../api-call.ts';
import { type ApiResponse, Call, type Endpoint, type Handler, type KeyedCall } from '../call.ts';
import type { StandardSchema } from '../call-options.ts';
import type { CallerSettings } from '../config/settings.ts';
import { parseBody, sortedTarget } from '../endpoints.ts';
import { AbortError, type Attempt, requestIdOf, TimeoutError } from '../errors/errors.ts';
import { Cancellation, onAbort } from '../time/abort.ts';
import type { Timers } from '../time/timers.ts';
import { headerIn, headersOf } from '../transport/transport.ts';
import type { StepContext } from './send.ts';

/** One caller of a call. */
export interface Caller extends CallerSettings {
  readonly endpoint: Endpoint;
  /** Times of `SteadyTime` at which the call started, and of its deadline. */
  readonly startedAt: number;
  readonly deadlineAt: number;
  readonly schema: StandardSchema | undefined;
}

/** The response for one caller, with the attempts, its source and its age. */
export interface CallResponse {
  readonly response: ApiResponse;
  readonly call: KeyedCall;
  readonly source: ResponseMeta['source'];
  readonly ageMs: number;
}

export function metaOf({ response, call, source, ageMs }: CallResponse, durationMs: number): ResponseMeta {
  const { status, rawBody, headers: list } = response;
  let headers: Headers | undefined;
  return {
    status,
    /** Created at its first use, because Node.js then loads its fetch, which takes 20 ms. */
    get headers() {
      headers ??= headersOf(list);
      return headers;
    },
    rawBody,
    source,
    ageMs,
    attempts: call.attempts,
    requestId: requestIdOf({ get: (name) => headerIn(list, name) }),
    callId: call.id,
    durationMs,
  };
}

interface SharedCall extends Call {
  /** Identical calls have the same name; `undefined` for a call that no other caller joins. */
  readonly name: string | undefined;
  readonly response: Promise<ApiResponse>;
  callers: number;
  /** In the list of the calls in flight. */
  readonly node: HeapNode<unknown>;
}

/**
 * Identical calls in flight share one request. Each caller has its own signal; the request is aborted only with the last
 * caller. Calls with different settings (deadlines, retries, ages) do not share a request.
 */
export class SharedCalls {
  readonly #context: StepContext;
  /** Sends a call with its key. */
  readonly #next: Handler;
  /** By name. Not a Map: V8 retains the replaced tables of a Map, with their contents, until a full garbage collection. */
  readonly #calls: Record<string, SharedCall> = Object.create(null);

  constructor(context: StepContext, next: Handler) {
    this.#context = context;
    this.#next = next;
  }

  async send(caller: Caller): Promise<CallResponse> {
    const { timers } = this.#context;
    const call = this.#join(caller);
    const { attempts } = call;
    const isOwn = call.callers === 0;
    call.callers += 1;
    call.deadlineAt = Math.max(call.deadlineAt, caller.deadlineAt);
    try {
      const leave = () => this.#leave(call);
      const response = await waitAsCaller(call.response, caller, { timers, attempts, leave });
      const { source, ageMs } = response.cached ?? { source: isOwn ? 'network' : 'coalesced', ageMs: 0 };
      const keyed = call as SharedCall & KeyedCall; // its key was found before the request
      return { response: isOwn ? response : separate(response, call), call: keyed, source, ageMs };
    } catch (error) {
      throw errorOfCall(error, call);
    }
  }

  #join(caller: Caller): SharedCall {
    const { signal, settings, endpoint } = caller;
    if (signal?.aborted) throw new AbortError({ cause: signal.reason });
    if (settings.sharedBy === undefined) return this.#start(caller);
    const name = `${sortedTarget(endpoint.target)} ${settings.sharedBy}`;
    return this.#calls[name] ?? this.#start(caller, name);
  }

  /** Other callers can join the call under its `name`. */
  #start({ endpoint, settings, deadlineAt }: Caller, name?: string): SharedCall {
    const call = new Call({ endpoint, settings, deadlineAt, signal: new Cancellation(), quotaReason: 'call' });
    const response = this.#run(call);
    const node = this.#context.lifetime.add(call.signal, response);
    const shared = Object.assign(call, { name, callers: 0, response, node });
    if (name !== undefined) this.#calls[name] = shared;
    return shared;
  }

  async #run(call: Call): Promise<ApiResponse> {
    try {
      const key = await this.#context.keys.current(call.signal);
      return await this.#next(Object.assign(call, { key }));
    } finally {
      this.#ended(call);
    }
  }

  /** A caller stops waiting; the last one aborts the request. */
  #leave(call: SharedCall): void {
    call.callers -= 1;
    if (call.callers > 0) return;
    this.#ended(call);
    call.signal.cancel(new AbortError());
  }

  #ended(call: Call & Partial<Pick<SharedCall, 'name' | 'node'>>): void {
    const { name, node } = call;
    if (node !== undefined) this.#context.lifetime.remove(node);
    if (name !== undefined && this.#calls[name] === call) delete this.#calls[name];
  }
}

interface Waiting {
  readonly timers: Timers;
  /** For the error: the attempts made so far. Copied, because the request continues if it has other callers. */
  readonly attempts: readonly Attempt[];
  /** Called when the caller stops waiting. */
  readonly leave?: () => void;
}

/** Waits for `work`, but not longer than the caller's signal and deadline allow. */
export function waitAsCaller<T>(
  work: Promise<T>,
  { signal, deadlineMs, deadlineAt }: Caller,
  { timers, attempts, leave }: Waiting,
): Promise<T> {
  const hasDeadline = deadlineAt !== Number.POSITIVE_INFINITY;
  if (signal === undefined && !hasDeadline) return work;
  return new Promise((resolve, reject) => {
    const quit = (error: AbortError | TimeoutError) => {
      stopWaiting();
      reject(error);
      leave?.();
    };
    const aborted = () => quit(new AbortError({ cause: signal?.reason, attempts: [...attempts] }));
    const late = () => quit(new TimeoutError({ scope: 'deadline', limitMs: deadlineMs, attempts: [...attempts] }));
    const unlisten = signal && onAbort(signal, aborted);
    const cancel = hasDeadline ? timers.at(deadlineAt, late) : undefined;
    const stopWaiting = () => {
      unlisten?.();
      cancel?.();
    };
    work.finally(stopWaiting).then(resolve, reject);
    if (signal?.aborted) aborted();
  });
}

/**
 * With separate data, so that a change by one caller does not affect the others. Parsed again from the text, because a
 * recursive copy could overflow the stack with deeply nested data.
 */
function separate(response: ApiResponse, call: Call): ApiResponse {
  const parsed = parseBody(call.endpoint, parseJson(response.rawBody));
  if (parsed.issues !== undefined) throw new Error('a valid response cannot be parsed again');
  return { ...response, data: parsed.data };
}
