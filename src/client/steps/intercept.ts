import { isUrl } from '../../foreign-values.ts';
import type { Call } from '../call/call.ts';
import { refuseKeyParameter } from '../call/endpoint.ts';
import { headersWithoutKey } from '../call/parse-response.ts';
import { ConfigError } from '../errors/errors.ts';
import { rethrowForeign } from '../errors/program-values.ts';
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
  const received = new Map<unknown, TransportResponse>();
  const own = new Set<unknown>();
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
    const problem = new TypeError(call.key.redact(String(response.problem)));
    const shown = responseOf(response, headersWithoutKey(response.headers, call.key), problem);
    received.set(shown, response).set(problem, response);
    return shown;
  };
  const sendOwn: Next = (outgoing) =>
    send(outgoing).catch((error) => {
      own.add(error);
      throw error;
    });
  const chain = middleware.reduceRight<Next>((next, current) => {
    const handled = withoutUnhandled(next);
    return async (outgoing) => current(outgoing, handled);
  }, sendOwn);
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
  const chained = chain(outgoing).finally(() => {
    hasReturned = true;
  });
  return readChained(chained, { received, own, maxBytes, attempt });
}

interface ChainedParts extends Pick<InterceptParts, 'maxBytes' | 'attempt'> {
  /** What arrived, by what the middleware sees: a response, which is not read a second time, or the error of its body. */
  readonly received: ReadonlyMap<unknown, TransportResponse>;
  /** The errors of `next()`, which a middleware may rethrow. */
  readonly own: ReadonlySet<unknown>;
}

async function readChained(
  chained: Promise<Response>,
  { received, own, maxBytes, attempt }: ChainedParts,
): Promise<TransportResponse> {
  try {
    const response = await chained.catch((error) => (own.has(error) ? Promise.reject(error) : rethrowForeign(error)));
    requireResponse(response, 'middleware');
    const known = received.get(response);
    if (known !== undefined) return { ...known, headers: [...response.headers] }; // the middleware may have changed them
    return await readResponse(response, { source: 'middleware', maxBytes, cancellation: attempt });
  } catch (error) {
    const unreadable = received.get(error); // its problem is the error of the call, unless its status is one
    if (unreadable === undefined) throw error;
    return unreadable;
  }
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

function responseOf({ status, rawBody, problem }: TransportResponse, headers: Headers, bodyError: Error): Response {
  const isPlain = status >= 200 && status <= 599;
  // The words of an error can be read from a body with a problem.
  const text = problem === undefined || status >= 400 ? rawBody : failingBody(bodyError);
  const body = NO_BODY_STATUSES.includes(status) ? null : text;
  const response = new Response(body, { status: isPlain ? status : STATUS_NOT_OK, headers });
  // A service can send a status that HTTP does not define, but a `Response` cannot be created with it.
  return isPlain ? response : Object.defineProperty(response, 'status', { value: status });
}

function failingBody(error: Error): ReadableStream {
  return new ReadableStream({ start: (controller) => controller.error(error) });
}
