import { setImmediate } from 'node:timers'; // that of `globalThis` may be faked before this file is loaded
import type { Dispatcher } from 'undici';
import { ACCEPTED_ENCODINGS, CollectedBytes } from '../../body-bytes.ts';
import { isError } from '../../foreign-values.ts';
import {
  decodedBody,
  type HeaderList,
  headerIn,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  textBody,
} from './transport.ts';

/** Shared by all clients, so that a client of `withOptions()` uses the open connections. */
let agent: Dispatcher | undefined;
let unpooled: Dispatcher | undefined;

/**
 * A connection attempt continues after the call that needed it has ended, and keeps the process alive: for the default of
 * `timeoutMs`. Node.js gives up an address that is not the last one of its host after 250 ms, which is too short for a
 * distant one.
 */
const CONNECT = { timeout: 10_000, autoSelectFamilyAttemptTimeout: 500 };

/**
 * The Agent of this package. For a retry, one that keeps no connection: the other open ones may be broken as well. After a
 * 5xx, they may lead to the same one of several servers, which may be the only bad one.
 */
export function ownAgent({ Agent }: Pick<typeof import('undici'), 'Agent'>, isRetry = false): Dispatcher {
  if (isRetry) {
    unpooled ??= new Agent({ connect: CONNECT, pipelining: 0 });
    return unpooled;
  }
  agent ??= new Agent({ connect: CONNECT });
  return agent;
}

/** Sends through the dispatcher that `dispatcherOf` returns for each request. */
export function undiciTransport(dispatcherOf: (request: TransportRequest) => Dispatcher): Transport {
  return (request) =>
    new Promise((resolve, reject) => {
      // Scheme and host, and the rest. Cheaper than a URL object; the base URL is already checked.
      const pathStart = request.url.indexOf('/', request.url.indexOf('://') + 3);
      const options = {
        origin: request.url.slice(0, pathStart),
        path: request.url.slice(pathStart),
        method: 'GET',
        headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...request.headers },
        // The client has its own timeouts, which use its clock.
        headersTimeout: 0,
        bodyTimeout: 0,
        // The interceptor retry() would wait for Retry-After within the attempt, until that times out.
        retryOptions: { statusCodes: [] },
      } as const;
      const dispatcher = dispatcherOf(request);
      const Handler = dispatcher === agent ? ExchangeHandler : ForeignExchangeHandler;
      const restore = useRealImmediate();
      try {
        dispatcher.dispatch(options, new Handler(request, { resolve, reject }));
      } finally {
        restore?.();
      }
    });
}

/** undici sends on an open connection, and frees one, after a `setImmediate`, which fake timers of a test would not run. */
function useRealImmediate(): (() => void) | undefined {
  const faked = globalThis.setImmediate;
  if (faked === setImmediate) return undefined;
  globalThis.setImmediate = setImmediate;
  return () => {
    globalThis.setImmediate = faked;
  };
}

interface Settle {
  readonly resolve: (response: TransportResponse | Promise<TransportResponse>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects one response directly from the dispatcher; `undici.request` would add a stream and an AbortSignal. The
 * methods are those that undici 6 calls, and undici 7 with the least work.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #settle: Settle;
  readonly #body = new CollectedBytes();
  #abort: ((error?: Error) => void) | undefined;
  #status = 0;
  #headers: readonly RawHeader[] = [];

  constructor(request: TransportRequest, settle: Settle) {
    this.#request = request;
    this.#settle = settle;
    request.cancellation.listen(this.#onCancel);
  }

  /** Called again if undici sends the request on another connection. */
  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#request.cancellation.aborted) this.#onCancel();
  }

  /** Also called for informational responses (1xx); the last headers are those of the response. */
  onHeaders(status: number, headers: readonly RawHeader[]): boolean {
    this.#status = status;
    this.#headers = headers;
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#body.add(chunk);
    if (this.#body.length <= this.#request.maxBytes) return true;
    this.onComplete();
    this.#abort?.(new Error('The rest of the body is not needed'));
    return false;
  }

  onComplete(): void {
    this.#request.cancellation.unlisten(this.#onCancel);
    const restore = useRealImmediate();
    if (restore) void Promise.resolve().then(restore); // undici frees the connection before that
    const status = this.#status;
    const { maxBytes } = this.#request;
    const headers = headerList(this.#headers);
    const encoding = headerIn(headers, 'content-encoding');
    // The spread body comes last: on Node 20, a field after it takes 2 µs.
    if (encoding === undefined) return this.#settle.resolve({ status, headers, ...textBody(this.#body, maxBytes) });
    const read = decodedBody(this.#body, encoding, this.#request);
    this.#settle.resolve(read.then((body) => ({ status, headers, ...body })));
  }

  onError(error: Error): void {
    this.#request.cancellation.unlisten(this.#onCancel);
    this.#settle.reject(error);
  }

  readonly #onCancel = () => {
    const { reason } = this.#request.cancellation;
    this.#settle.reject(reason);
    this.#abort?.(isError(reason) ? reason : new Error('cancelled', { cause: reason }));
  };
}

type Controller = Dispatcher.DispatchController;

/**
 * For dispatchers of all versions: undici 8 and the interceptors of undici 7 call the other methods. The global
 * dispatcher is that of Node 20, of undici 6, after a use of its `fetch`.
 */
class ForeignExchangeHandler extends ExchangeHandler {
  onRequestStart(controller: Controller): void {
    this.onConnect((reason) => controller.abort(reason ?? new Error('aborted')));
  }

  /** Not the raw headers of the controller: an interceptor may have changed the others. */
  onResponseStart(_: Controller, status: number, headers: HeaderRecord): void {
    const list = Object.entries(headers).flatMap(([name, value = '']): RawHeader[] => [name, value]);
    this.onHeaders(status, list);
  }

  onResponseData(_: Controller, chunk: Buffer): void {
    this.onData(chunk);
  }

  onResponseEnd(): void {
    this.onComplete();
  }

  onResponseError(_: Controller, error: Error): void {
    this.onError(error);
  }
}

type HeaderRecord = Readonly<Record<string, string | string[] | undefined>>;
type RawHeader = Buffer | string | (Buffer | string)[];

/**
 * The headers of undici's parser: name, value, name, value, … in bytes. Interceptors create texts, or a list of the values
 * of one name.
 */
export function headerList(raw: readonly RawHeader[]): HeaderList {
  if (!raw.every(Buffer.isBuffer)) return ofInterceptor(raw);
  // As one text, because to decode each name and value takes five times as long.
  const text = Buffer.concat(raw).toString('latin1');
  const lower = text.toLowerCase();
  const list: [string, string][] = [];
  let start = 0;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const middle = start + (raw[index]?.length ?? 0);
    const end = middle + (raw[index + 1]?.length ?? 0);
    list.push([lower.slice(start, middle), text.slice(middle, end)]);
    start = end;
  }
  return list;
}

function ofInterceptor(raw: readonly RawHeader[]): HeaderList {
  const list: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase();
    const value: RawHeader = raw[index + 1] ?? '';
    for (const one of Array.isArray(value) ? value : [value]) {
      list.push([name, typeof one === 'string' ? one : one.toString('latin1')]);
    }
  }
  return list;
}
