import type { Cancellation } from '../cancellation.ts';
import { refuseKeyParameters } from '../config/target.ts';
import { ConfigError } from '../errors/errors.ts';
import type { KeyedRequest } from '../request.ts';
import { readResponse } from '../transport/fetch-transport.ts';
import type { TransportResponse } from '../transport/transport.ts';

/** One attempt as middleware sees it: without the key, which is added after the last middleware. */
export interface MiddlewareRequest {
  /** Where the request goes. Path and query can be replaced, the host cannot: the key goes with it. */
  readonly url: string;
  readonly method: 'GET';
  /** Can be changed in place, except for those that the client or the transport sets (`authorization`, `host`, …). */
  readonly headers: Headers;
  /** `latest`, `quota`, …; for `get` the path. */
  readonly operation: string;
  /** 1 for the first attempt of the call. */
  readonly attempt: number;
  /** The same for all attempts of a call. */
  readonly callId: string;
  /** Aborts when the attempt takes longer than `timeoutMs`, or the call is aborted. */
  readonly signal: AbortSignal;
  /** The key in full, for a signature. Keep it out of logs. */
  readonly revealKey: () => string;
}

/**
 * Code around each attempt, in the shape of `fetch`: passes the request on with `next`, and returns the response or
 * another one. What it throws itself is not retried. An attempt is one request, so a second `next()` that would send
 * another one rejects with `ConfigError`.
 */
export type Middleware = (
  request: MiddlewareRequest,
  next: (request: MiddlewareRequest) => Promise<Response>,
) => Promise<Response>;

const SENT_TWICE =
  'middleware: it called next() a second time, but the rate limit allowed one request; let the error of next() pass, and the client sends the call again (maxRetries)';

interface InterceptParts {
  readonly middleware: readonly Middleware[];
  readonly request: KeyedRequest;
  readonly attempt: Cancellation;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Checks the headers, adds the key and sends. */
  readonly transmit: (url: string, headers: Headers) => Promise<TransportResponse>;
}

/** Sends one attempt through the middleware, the first of the list outermost. */
export async function intercept(parts: InterceptParts): Promise<TransportResponse> {
  const { middleware, request, attempt, url, headers, maxBytes, transmit } = parts;
  /** A response that came back untouched need not be read a second time. */
  const received = new WeakMap<Response, TransportResponse>();
  let hasSent = false;
  const send = async (outgoing: MiddlewareRequest): Promise<Response> => {
    if (hasSent) throw new ConfigError(SENT_TWICE);
    hasSent = true;
    const response = await transmit(checkUrl(outgoing.url, url), new Headers(outgoing.headers));
    const shown = responseOf(response);
    received.set(shown, response);
    return shown;
  };
  const chain = middleware.reduceRight<(outgoing: MiddlewareRequest) => Promise<Response>>(
    (next, current) => async (outgoing) => current(outgoing, next),
    send,
  );
  const response = await chain({
    url,
    method: 'GET',
    headers: new Headers(headers),
    operation: request.endpoint.name,
    attempt: request.log.attempts.length + 1,
    callId: request.log.callId,
    signal: attempt.toSignal(),
    revealKey: () => request.key.reveal(),
  });
  if (!(response instanceof Response))
    throw new ConfigError('middleware: it must return the Response of next(), or another one');
  const untouched = response.bodyUsed ? undefined : received.get(response);
  return untouched ?? readResponse(response, maxBytes);
}

/** @throws ConfigError for another host, which must not get the key */
function checkUrl(url: string, original: string): string {
  const { origin, search, href, hash } = new URL(url);
  if (origin !== new URL(original).origin) {
    throw new ConfigError(`middleware: the request cannot go to ${origin}, because the key would go with it`);
  }
  refuseKeyParameters(Object.fromEntries(new URLSearchParams(search)), 'middleware');
  return href.slice(0, href.length - hash.length);
}

const NO_BODY_STATUSES: readonly number[] = [101, 204, 205, 304];

function responseOf({ status, headers, text }: TransportResponse): Response {
  const isPlain = status >= 200 && status <= 599;
  const body = NO_BODY_STATUSES.includes(status) ? null : text;
  const response = new Response(body, { status: isPlain ? status : 200, headers: headers.toHeaders() });
  // A `Response` cannot be made with a status that HTTP does not define; a service can send one.
  return isPlain ? response : Object.defineProperty(response, 'status', { value: status });
}
