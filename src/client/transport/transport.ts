import { isAscii, isUtf8 } from 'node:buffer';
import { types } from 'node:util';
import { CollectedBytes, decoded, isDecodingError } from '../../body-bytes.ts';
import { proxiedLoopbackProblem, withoutProxy } from '../../environment-proxy.ts';
import { isError } from '../../foreign-values.ts';
import { ConfigError } from '../errors/errors.ts';
import { describeValue } from '../errors/program-values.ts';
import { abortable, type Cancellation } from '../time/abort.ts';

/** The request as sent. Only transports and `authenticate` receive a URL or headers with the key. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  /** Longest body that is read, in bytes. */
  readonly maxBytes: number;
  /** Whether an attempt of the call has failed: the connections that are open may not work any longer. */
  readonly isRetry?: boolean;
}

/** A response, read to its end unless there was a problem with its body. */
export interface TransportResponse extends ReadBody {
  readonly status: number;
  readonly headers: HeaderList;
}

/**
 * Response headers as names in lower case and values. A `Headers` object is created only on demand, because that costs
 * more than the call's own work.
 */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** The value of a header; several values are joined as by `Headers`. */
export function headerIn(headers: HeaderList, name: string): string | undefined {
  let found: string | undefined;
  for (const [one, value] of headers) {
    if (one === name) found = found === undefined ? value : `${found}, ${value}`;
  }
  return found;
}

export function headersOf(list: HeaderList): Headers {
  const headers = new Headers();
  for (const [name, value] of list) headers.append(name, value);
  return headers;
}

/** Sends one request. Rejects if no complete response arrives, and with the reason as soon as it is cancelled. */
export interface Transport {
  (request: TransportRequest): Promise<TransportResponse>;
  /** Loads what it needs; `undefined` if that is loaded. A failure is the error of the next request. */
  prepare?(): Promise<void> | undefined;
}

/** A body as text, or the problem with it; the status is valid in both cases. */
interface ReadBody {
  /** With a problem, what the words of an error can be read from. */
  readonly rawBody: string;
  readonly problem: string | undefined;
  /** The next step. */
  readonly advice?: string | undefined;
}

/** The text of a body. One that is longer than `maxBytes` need not be complete. */
export function textBody(body: CollectedBytes, maxBytes: number): ReadBody {
  if (body.length > maxBytes) {
    return problemOf(`The body is longer than ${maxBytes} bytes`, 'maxResponseBytes sets the limit');
  }
  const bytes = body.bytes();
  if (isAscii(bytes)) return { rawBody: bytes.toString('latin1'), problem: undefined }; // faster than decoding UTF-8
  if (!isUtf8(bytes)) return { rawBody: bytes.toString('latin1'), problem: 'The body is not UTF-8' }; // RFC 8259 §8.1
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return { rawBody: bytes.toString('utf8', hasByteOrderMark ? 3 : 0), problem: undefined };
}

/** The same for a body with the codings of its `content-encoding`. */
export async function decodedBody(
  body: CollectedBytes,
  contentEncoding: string,
  limits: BodyLimits,
): Promise<ReadBody> {
  const hasNoText = body.length > limits.maxBytes || body.length === 0;
  return hasNoText ? textBody(body, limits.maxBytes) : readBody(decoded([body.bytes()], contentEncoding), limits);
}

function problemOf(problem: string, advice?: string): ReadBody {
  return { rawBody: '', problem, advice };
}

/** A WHATWG `fetch`, as far as the client uses it. */
export type FetchLike<Received = Response> = (
  url: string,
  init: {
    readonly method: 'GET';
    readonly headers: Record<string, string>;
    readonly signal: AbortSignal;
    readonly redirect: 'manual';
  },
) => Promise<Received>;

/** The response of any package, such as undici or `node-fetch`: their types differ. No interface, as in `OperationTypes`. */
export type FetchedResponse = {
  readonly status: number;
  /** Read with the iterator of `Headers`, which TypeScript declares only with the library `dom.iterable`, unlike `forEach`. */
  readonly headers: {
    get(name: string): string | null;
    forEach(use: (value: string, name: string) => void): void;
  };
  readonly body: object | null;
};

/**
 * Sends through the `fetch` of the user: the built-in one, that of a mock server, an instrumented one. `newConnection`
 * returns its options for a new connection, and `current` the function that it calls.
 */
export function fetchTransport(
  fetch: FetchLike,
  newConnection: () => object = () => ({}),
  current: () => unknown = () => fetch,
): Transport {
  const exchange = async (request: TransportRequest): Promise<TransportResponse> => {
    const { url, headers, cancellation } = request;
    const problem = proxiedLoopbackProblem(current(), url);
    if (problem !== undefined) throw new ConfigError(`baseUrl: ${problem}`);
    const response = await fetch(url, {
      method: 'GET',
      headers: { ...headers },
      signal: cancellation.toSignal(),
      redirect: 'manual',
      ...(request.isRetry ? newConnection() : {}),
      ...withoutProxy(url),
    });
    requireResponse(response, 'fetch');
    return readResponse(response, { ...request, source: 'fetch' });
  };
  return (request) => abortable(exchange(request), request.cancellation); // a `fetch` may ignore the signal
}

/**
 * A response of another realm or package, such as `node-fetch`, can be used as well.
 *
 * @throws ConfigError, which begins with `source`, if the client could not read it
 */
export function requireResponse(value: unknown, source: ResponseSource): asserts value is Response {
  const { status, headers, body, bodyUsed } = (value ?? {}) as Partial<Response>; // checked below
  if (bodyUsed || body?.locked) throw new ConfigError(`${source}: ${BODY_READ[source]}`);
  const hasBody = body === null || Symbol.asyncIterator in Object(body);
  const hasHeaders = typeof headers?.get === 'function' && Symbol.iterator in headers;
  if (Number.isInteger(status) && status !== 0 && hasHeaders && hasBody) return;
  refuseResponse(source, `${describeValue(value)}${status === 0 ? ' with status 0' : ''}`);
}

type ResponseSource = 'fetch' | 'middleware';

function refuseResponse(source: ResponseSource | undefined, got: string): never {
  throw new ConfigError(`${source}: expected it to return ${RESPONSE}, got ${got}`);
}

const RESPONSE =
  'a Response (status, headers with get() and an iterator, and a body that is null or a stream of Uint8Array)';

const BODY_READ = {
  fetch: 'expected a Response whose body nothing has read or locked; return a new one each time',
  middleware: 'the body of the response has been read or locked; read response.clone(), or return a new Response',
};

interface BodyLimits extends Pick<TransportRequest, 'maxBytes' | 'cancellation'> {
  /** Who returned the body; `undefined` for one whose chunks are bytes. */
  readonly source?: ResponseSource;
}

/** Reads a `Response` to its end, until its body is longer than `maxBytes`, or until the first chunk after a cancellation. */
export async function readResponse(response: Response, limits: BodyLimits): Promise<TransportResponse> {
  const body = await readBody(response.body ?? [], limits);
  // The headers can be those of another package, or a Map.
  const headers = [...response.headers].map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return { status: response.status, headers, ...body };
}

/** @throws ConfigError if a chunk is not bytes: a stream of the user can have texts or objects */
async function readBody(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxBytes, cancellation, source }: BodyLimits,
): Promise<ReadBody> {
  const body = new CollectedBytes();
  try {
    // A `fetch` that ignores the signal does not end the body.
    for await (const chunk of chunks) {
      if (!types.isUint8Array(chunk)) refuseResponse(source, `a stream with ${describeValue(chunk)}`);
      body.add(chunk);
      if (body.length > maxBytes || cancellation.aborted) break;
    }
  } catch (error) {
    if (isDecodingError(error)) return problemOf(`The body cannot be decoded: ${rootMessage(error)}`);
    throw error;
  }
  return textBody(body, maxBytes);
}

/** `fetch` has the error of the decoder as the cause. */
function rootMessage(error: unknown): string {
  const { message, cause } = error as Error; // as `isDecodingError` has checked
  return isError(cause) ? cause.message : message;
}
