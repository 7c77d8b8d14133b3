import type { Dispatcher } from 'undici';
import { ACCEPTED_ENCODINGS } from '../../content-encoding.ts';
import { ConfigError } from '../errors/errors.ts';
import {
  BodyReader,
  type ResponseHeaders,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts';

/** Sends through the dispatcher that `dispatcherOf` returns for each request. */
export function undiciTransport(dispatcherOf: () => Dispatcher): Transport {
  return (request) => exchange(dispatcherOf(), request);
}

function exchange(dispatcher: Dispatcher, request: TransportRequest): Promise<TransportResponse> {
  const { origin, path } = splitUrl(request.url);
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(request, { resolve, reject });
    // The client has its own timeouts, which use its clock.
    const options = {
      origin,
      path,
      method: 'GET',
      headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...request.headers },
      headersTimeout: 0,
      bodyTimeout: 0,
    } as const;
    try {
      dispatcher.dispatch(options, handler);
    } catch (error) {
      reject(refusedBy(error));
    }
  });
}

/** A dispatcher throws for a request that it cannot send; it is probably of another version of undici, so there is no retry. */
function refusedBy(error: unknown): unknown {
  const isRefusal = error instanceof Error && 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
  if (!isRefusal) return error;
  return new ConfigError(`dispatcher: cannot send the request (${error.message}); pass a dispatcher of undici 7`);
}

/** Scheme and host, and the rest. Cheaper than a URL object; the base URL is already checked. */
function splitUrl(url: string): { readonly origin: string; readonly path: string } {
  const pathStart = url.indexOf('/', url.indexOf('://') + 3);
  return { origin: url.slice(0, pathStart), path: url.slice(pathStart) };
}

interface Settle {
  readonly resolve: (response: TransportResponse | Promise<TransportResponse>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects one response directly from the dispatcher; `undici.request` would add a stream and an AbortSignal. The
 * methods are those that the dispatchers of undici 6 and 7 both call: after a use of the built-in `fetch`, the global
 * dispatcher is that of Node 20, of undici 6.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #settle: Settle;
  readonly #body: BodyReader;
  #abort: ((error?: Error) => void) | undefined;
  #status = 0;
  #headers: readonly (Buffer | string)[] = [];

  constructor(request: TransportRequest, settle: Settle) {
    this.#request = request;
    this.#settle = settle;
    this.#body = new BodyReader(request.maxBytes);
    request.cancellation.addEventListener('abort', this.#onCancel);
  }

  /** Called again if undici sends the request on another connection. */
  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#request.cancellation.aborted) this.#onCancel();
  }

  /** Also called for informational responses (1xx); the last headers are those of the response. */
  onHeaders(status: number, headers: Buffer[]): boolean {
    this.#status = status;
    this.#headers = headers;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#body.add(chunk)) return true;
    this.onComplete();
    this.#abort?.(new Error('The rest of the body is not needed'));
    return false;
  }

  onComplete(): void {
    this.#stopListening();
    const head = { status: this.#status, headers: new UndiciHeaders(this.#headers) };
    const encoding = head.headers.get('content-encoding');
    if (encoding === undefined) this.#settle.resolve({ ...head, ...this.#body.end() });
    else this.#settle.resolve(this.#body.endEncoded(encoding, this.#request).then((body) => ({ ...head, ...body })));
  }

  onError(error: Error): void {
    this.#stopListening();
    this.#settle.reject(error);
  }

  readonly #onCancel = () => {
    const { reason } = this.#request.cancellation;
    this.#settle.reject(reason);
    this.#abort?.(reason instanceof Error ? reason : new Error('cancelled', { cause: reason }));
  };

  #stopListening(): void {
    this.#request.cancellation.removeEventListener('abort', this.#onCancel);
  }
}

type RawHeader = Buffer | string | readonly (Buffer | string)[];

/**
 * Response headers of undici's parser: name, value, name, value, … in bytes. Interceptors create a list of the values of
 * one name. Decoded on demand.
 */
export class UndiciHeaders implements ResponseHeaders {
  readonly #raw: readonly RawHeader[];

  constructor(raw: readonly RawHeader[]) {
    this.#raw = raw;
  }

  get(name: string): string | undefined {
    let found: string | undefined;
    for (let index = 0; index + 1 < this.#raw.length; index += 2) {
      if (this.#raw[index]?.length !== name.length || this.#text(index).toLowerCase() !== name) continue;
      const value = this.#text(index + 1);
      found = found === undefined ? value : `${found}, ${value}`;
    }
    return found;
  }

  toHeaders(): Headers {
    const headers = new Headers();
    for (let index = 0; index + 1 < this.#raw.length; index += 2) {
      headers.append(this.#text(index), this.#text(index + 1));
    }
    return headers;
  }

  #text(index: number): string {
    const raw = this.#raw[index] ?? '';
    return Array.isArray(raw) ? raw.map(textOf).join(', ') : textOf(raw as Buffer | string);
  }
}

function textOf(bytes: Buffer | string): string {
  return typeof bytes === 'string' ? bytes : bytes.toString('latin1');
}
