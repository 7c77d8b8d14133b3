import { isUrl } from '../../foreign-values.ts';
import type { Call } from '../call/call.ts';
import { refuseKeyParameter } from '../call/endpoint.ts';
import { headersWithoutKey } from '../call/parse-response.ts';
import { ConfigError } from '../errors/errors.ts';
import type { Middleware, MiddlewareRequest } from '../options/client-options.ts';
import type { Cancellation } from '../time/abort.ts';
import { readResponse, requireResponse, type TransportResponse } from '../transport/transport.ts';

const SENT_TWICE =
  'middleware: next() was called twice, but an attempt sends one request; rethrow the error of next(), and the client retries the call (maxRetries)';

const SENT_LATE =
  'middleware: next() was called after the middleware had returned, and no limit would count the request; make a call of the client instead';

interface InterceptParts {
  readonly middleware: readonly Middleware[];
  readonly call: Call;
  readonly attempt: Cancellation;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Checks the headers, adds the key and sends. */
  readonly transmit: (url: string, headers: Headers) => Promise<TransportResponse>;
}

const NO_REQUEST = 'middleware: next() was called without a request; pass the one of the middleware: next(request)';

type Next = (outgoing: MiddlewareRequest) => Promise<Response>;

/** Sends one attempt through the middleware, the first of the list outermost. */
export async function intercept(parts: InterceptParts): Promise<TransportResponse> {
  const { middleware, call, attempt, url, headers, maxBytes, transmit } = parts;
  /** A response that the middleware did not read is not read a second time. */
  const received = new WeakMap<Response, TransportResponse>();
  let hasSent = false;
  let hasReturned = false;
  const send = async (outgoing: MiddlewareRequest): Promise<Response> => {
    if (hasSent) throw new ConfigError(SENT_TWICE);
    hasSent = true;
    if (attempt.aborted) throw attempt.reason; // the call has ended, so nothing may be sent
    if (hasReturned) throw new ConfigError(SENT_LATE);
    const given: unknown = outgoing?.url;
    const target = isUrl(given) ? String(given) : given; // a middleware may set a URL object
    if (typeof target !== 'string') throw new ConfigError(NO_REQUEST);
    const response = await transmit(checkUrl(target, url), new Headers(outgoing.headers));
    const shown = responseOf(response, headersWithoutKey(response.headers, call.key));
    received.set(shown, response);
    return shown;
  };
  const chain = middleware.reduceRight<Next>((next, current) => {
    const handled = withoutUnhandled(next);
    return async (outgoing) => current(outgoing, handled);
  }, send);
  const outgoing: MiddlewareRequest = {
    url,
    method: 'GET',
    headers: new Headers(headers),
    operation: call.endpoint.name,
    attempt: call.attempts.length + 1,
    waitedMs: call.next.waitedMs,
    callId: call.id,
    signal: attempt.toSignal(),
    revealKey: () => call.key.reveal(),
  };
  const response = await chain(outgoing).finally(() => {
    hasReturned = true;
  });
  requireResponse(response, 'middleware');
  const known = received.get(response);
  if (known === undefined) return readResponse(response, { source: 'middleware', maxBytes, cancellation: attempt });
  return { ...known, headers: [...response.headers] }; // the middleware may have changed them
}

/** A middleware may leave out the `await` of `next()`, whose rejection would then end the process. */
function withoutUnhandled(next: Next): Next {
  return (outgoing) => {
    const response = next(outgoing);
    response.catch(() => undefined);
    return response;
  };
}

/** @throws ConfigError for another host, which must not receive the key */
function checkUrl(url: string, original: string): string {
  if (!URL.canParse(url))
    throw new ConfigError(`middleware: next() was called with '${url}', which is not an absolute URL`);
  const target = new URL(url);
  const { origin, searchParams } = target;
  if (origin !== new URL(original).origin) {
    throw new ConfigError(
      `middleware: the request cannot be sent to ${origin}, because the client adds the key to it; keep the origin of baseUrl`,
    );
  }
  refuseKeyParameter(searchParams.keys(), 'middleware');
  target.hash = ''; // removes a lone # too
  return target.href;
}

/** `ok` of a response with another status is false. */
const STATUS_NOT_OK = 500;
const NO_BODY_STATUSES: readonly number[] = [101, 204, 205, 304];

function responseOf({ status, rawBody }: TransportResponse, headers: Headers): Response {
  const isPlain = status >= 200 && status <= 599;
  const body = NO_BODY_STATUSES.includes(status) ? null : rawBody;
  const response = new Response(body, { status: isPlain ? status : STATUS_NOT_OK, headers });
  // A service can send a status that HTTP does not define, but a `Response` cannot be created with it.
  return isPlain ? response : Object.defineProperty(response, 'status', { value: status });
}
