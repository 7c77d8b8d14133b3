import type { RequestSource } from './adapters/active-adapters.ts';
import { nextTurn } from './clock/event-loop.ts';
import { applyFaults } from './faults/apply-fault.ts';
import type { StruckSettings } from './faults/fault-kinds.ts';
import { selectFaults } from './faults/select-faults.ts';
import { internalError } from './http/error-responses.ts';
import { type MockRequest, type MockResponse, noResponse } from './http/mock-message.ts';
import { type ParsedRequest, parseRequest, recordResponse, shortened } from './http/parse-request.ts';
import { identified, respond } from './http/respond.ts';
import { isPreflight, withCorsHeaders } from './http/response-headers.ts';
import { completed, errorResponse } from './http/responses.ts';
import type { JournalEntry } from './journal/journal.ts';
import type { MockParts } from './mock-parts.ts';
import { redactKeys } from './redact-keys.ts';

/** Handles a request, in the same way for every adapter. */
export type HandleRequest = (request: MockRequest, source: RequestSource) => MockResponse | Promise<MockResponse>;

/**
 * Handles requests for the mock or the space that `partsFor` chooses: parses the request, applies the faults before the
 * service, calls the handlers of `mock.use()` or the emulated service, applies the other faults, and writes the journal.
 * Synchronous without faults and such handlers.
 */
export function createHandler(partsFor: (request: ParsedRequest) => MockParts): HandleRequest {
  return (message, source) => {
    const request = parseRequest(message);
    const mock = partsFor(request);
    const exchange = { mock, request, source };
    if (mock.state.faults.length === 0 && mock.overrides.isEmpty) {
      return send(exchange, isTooLarge(request) ? refused(exchange, TOO_LARGE) : respond(mock, request));
    }
    return handleWithFaults(exchange).catch((error: unknown) => {
      // A fault that the adapter cannot reproduce. msw would send a response of its own, with a stack.
      if (source.adapter === 'msw') return send(exchange, refused(exchange, internalError(error)));
      throw error;
    });
  };
}

interface Exchange {
  readonly mock: MockParts;
  readonly request: ParsedRequest;
  readonly source: RequestSource;
}

async function handleWithFaults(exchange: Exchange): Promise<MockResponse> {
  const { mock, request, source } = exchange;
  const strike = (point: 'before' | 'after', response?: MockResponse) =>
    // A preflight has no part in a test's count of requests.
    isPreflight(request.message) && isReadableByAll(mock)
      ? []
      : selectFaults(mock.state, { request: identified(request, mock), adapter: source.adapter, response }, point);
  const before = strike('before');
  const hasWaited = await waitForLatency(exchange, before);
  const isOver = !hasWaited || before.some(({ kind }) => kind !== 'latency');
  const response = isOver
    ? identifiedResponse(exchange, noResponse(hasWaited ? '' : 'the client disconnected before the response'))
    : await respondWithHandlers(exchange);
  const struck = [...before, ...(isOver ? [] : strike('after', response))];
  const method = request.recorded.method;
  return send(exchange, applyFaults(response, struck, { method, now: mock.now() }), struck);
}

async function waitForLatency({ mock, source }: Exchange, struck: readonly StruckSettings[]): Promise<boolean> {
  for (const settings of struck) {
    if (settings.kind !== 'latency') continue;
    if (!(await mock.delays.wait(settings.latencyMs, source.getSignal?.()))) return false;
  }
  return true;
}

/** Calls the handlers of `mock.use()`, and the emulated service if none of them responds. */
async function respondWithHandlers(exchange: Exchange): Promise<MockResponse> {
  const { mock, request } = exchange;
  if (isTooLarge(request)) return refused(exchange, TOO_LARGE);
  if (mock.overrides.isEmpty) return respond(mock, request);
  const release = mock.clock.hold();
  try {
    const response = await mock.overrides.respond(request.message);
    return response === undefined ? respond(mock, request) : identifiedResponse(exchange, response);
  } catch (error) {
    return refused(exchange, internalError(error));
  } finally {
    release();
  }
}

function refused(exchange: Exchange, response: MockResponse): MockResponse {
  return identifiedResponse(exchange, completed(response, exchange.request.recorded.method, exchange.mock.now()));
}

/** The response to a request that does not reach the emulated service. */
function identifiedResponse({ mock, request }: Exchange, response: MockResponse): MockResponse {
  const { at, operation, keyId, keyTransport } = identified(request, mock);
  return { ...response, facts: { at, operation, keyId, keyTransport } };
}

/** No operation accepts a body; handlers of `mock.use()` may read one. */
export const MAX_REQUEST_BODY_BYTES = 1024 * 1024;

function isTooLarge({ message: { body } }: ParsedRequest): boolean {
  return body !== undefined && body.byteLength > MAX_REQUEST_BODY_BYTES;
}

const TOO_LARGE = errorResponse({
  status: 413,
  code: 'content_too_large',
  message: `The body is larger than ${MAX_REQUEST_BODY_BYTES} bytes.`,
});

function isReadableByAll({ behaviour }: MockParts): boolean {
  return behaviour.values.cors === 'any-origin';
}

/** Writes the journal, waits for the delays of the response, and returns it to the adapter. */
function send(
  { mock, request, source }: Exchange,
  decided: MockResponse,
  struck: readonly StruckSettings[] = [],
): MockResponse | Promise<MockResponse> {
  const { journal, delays } = mock;
  const shown = isReadableByAll(mock) && decided.status !== 0 ? withCorsHeaders(decided) : decided;
  let entry = entryOf(mock, request, { response: shown, struck });
  journal.add(entry);
  const amend = (change: Partial<JournalEntry>) => {
    entry = journal.replace(entry, { ...entry, ...change });
  };
  const onBodyEnded = (reason: string) => amend({ why: `${entry.why}; ${reason} before the end of the body` });
  const delivery = shown.delivery && {
    ...shown.delivery,
    wait: (ms: number, signal: AbortSignal | undefined) => delays.wait(ms, signal, { onEndedEarly: onBodyEnded }),
  };
  const response = delivery === undefined ? shown : { ...shown, delivery };
  const arrive = () => {
    trackRetryAfter(mock, response, { entry, source });
    return response;
  };
  const { delayMs = 0 } = response;
  if (delayMs === 0) return arrive();
  // The entry of a request that hangs has status 0 from the start. It ends with its fault.
  const isHanging = entry.status === 0;
  const onEndedEarly = (reason: string) =>
    isHanging ? undefined : amend({ ...NOTHING_SENT, why: `${entry.why}; ${reason} before the response` });
  const options = { faults: isHanging ? entry.faults : [], onEndedEarly };
  return delays
    .wait(delayMs, source.getSignal?.(), options)
    .then((hasWaited) => (hasWaited ? arrive() : noResponse(entry.why)));
}

const NOTHING_SENT = { status: 0, code: undefined, responseHeaders: undefined, responseBody: undefined };

/**
 * The entry of a request, with the response after its faults. It is in the journal from the arrival of the request on, because
 * a test can wait for the request before it advances the clock.
 */
function entryOf(
  { journal, now }: MockParts,
  { recorded }: ParsedRequest,
  { response, struck }: { readonly response: MockResponse; readonly struck: readonly StruckSettings[] },
): JournalEntry {
  const { facts = {}, delivery, delayMs } = response;
  const isSent = delivery?.sendsHead !== false && delayMs !== Number.POSITIVE_INFINITY;
  return {
    number: journal.last + 1,
    space: journal.space,
    at: facts.at ?? now(),
    method: recorded.method,
    path: recorded.path,
    query: recorded.query,
    headers: recorded.headers,
    body: recorded.body && shortened(recorded.body),
    hasKeyInUrl: recorded.hasKeyInUrl,
    operation: facts.operation,
    isUnknownRoute: facts.isUnknownRoute ?? false,
    keyId: facts.keyId,
    keyTransport: facts.keyTransport,
    rate: facts.rate,
    quota: facts.quota,
    earlyByMs: facts.earlyByMs,
    switches: facts.switches ?? [],
    faults: struck.map(({ id }) => id),
    stub: response.stub,
    why: redactKeys(response.why), // can contain the error of a handler of the test
    ...(isSent ? { status: response.status, code: response.code, ...recordResponse(response) } : NOTHING_SENT),
  };
}

/**
 * Stores the end of the Retry-After of a response, after its faults. It is stored when the client has the response: a
 * request that arrives before that was sent without knowledge of it, and is not early.
 */
function trackRetryAfter(
  { state, behaviour }: MockParts,
  { headers, delivery }: MockResponse,
  { entry: { keyId = '', at }, source }: { readonly entry: JournalEntry; readonly source: RequestSource },
): void {
  const value = headers['retry-after'];
  if (value === undefined || delivery?.sendsHead === false || !/^\d+(?:\.\d+)?$/.test(value)) return;
  const key = state.keys.get(keyId);
  if (key === undefined) return;
  const asksMs = behaviour.values.retryAfterUnit === 'seconds' ? Math.round(Number(value) * 1000) : Number(value);
  const store = () => {
    key.retryAt = at + asksMs;
  };
  // A client in process may react in the same turn of the event loop; over a socket, in the next one at the earliest.
  if (source.adapter === 'socket') void nextTurn().then(store);
  else void Promise.resolve().then(store); // fake timers also replace queueMicrotask
}
