import { nextTurn } from '../clock/event-loop.ts';
import { type HandleRequest, type MockResponse, noResponse, type RequestSource } from '../http/message.ts';
import { type ParsedRequest, parseRequest, recordResponse, shortened } from '../http/parse-request.ts';
import { completed, internalError, isPreflight, withCorsHeaders } from '../http/responses.ts';
import { MockServerError } from '../input/mock-server-error.ts';
import type { JournalEntry } from '../journal/journal.ts';
import type { StruckFault } from '../rules/fault-kinds.ts';
import { applyFaults, selectFaults } from '../rules/mock-faults.ts';
import { type MockState, mockFor } from './mock-state.ts';
import { identified, isTooLarge, respond } from './respond.ts';

/**
 * Handles requests that reach a mock or a space: parses the request, finds the space of its key, applies the faults before the
 * service, calls the handlers of `mock.use()` or the emulated service, applies the other faults, and writes the journal.
 * Synchronous without faults and such handlers.
 */
export function createHandler(receiver: MockState): HandleRequest {
  const targets: Parameters<typeof parseRequest>[1] = new Map();
  return (message, source) => {
    const request = parseRequest(message, targets);
    const mock = mockFor(receiver, request);
    const exchange = { mock, request, source };
    mock.clock.noteRequest();
    try {
      const { state, overrides } = mock;
      if (state.faults.length === 0 && overrides.handlers.length === 0) return send(exchange, respond(mock, request));
      return handleWithFaults(exchange).catch((error: unknown) => sendFailure(exchange, error));
    } catch (error) {
      return sendFailure(exchange, error);
    }
  };
}

/** Reports a fault that msw cannot reproduce. */
function sendFailure(exchange: Exchange, error: unknown): MockResponse | Promise<MockResponse> {
  // msw would send a response of its own, with a stack.
  if (exchange.source.adapter !== 'msw') throw error;
  return send(exchange, failed(exchange, error));
}

function failed({ mock, request }: Exchange, error: unknown): MockResponse {
  return completed(internalError(error), { method: request.recorded.method, now: mock.now() });
}

interface Exchange {
  readonly mock: MockState;
  readonly request: ParsedRequest;
  readonly source: RequestSource;
}

async function handleWithFaults(exchange: Exchange): Promise<MockResponse> {
  const { mock, request, source } = exchange;
  const strike = (point: 'before' | 'after', response?: MockResponse) =>
    // A preflight has no part in a test's count of requests.
    isPreflight(request.message) && mock.behaviour.values.cors === 'any-origin'
      ? []
      : selectFaults(mock.state, { request: identified(request, mock), adapter: source.adapter, response }, point);
  const before = strike('before');
  const finish = (response: MockResponse, struck = before) =>
    send(exchange, applyFaults(response, struck, { method: request.recorded.method, now: mock.now() }), struck);
  const early: { response?: MockResponse | Promise<MockResponse> } = {};
  const onEndedEarly = (reason: string) => {
    // Immediately, before `reset()` clears the journal.
    early.response = finish(noResponse(`${reason} before the response`));
  };
  const latency = before.filter(({ settings }) => settings.kind === 'latency');
  const waitMs = latency.reduce((sum, fault) => sum + fault.waitMs, 0);
  if (waitMs > 0) await mock.delays.wait(waitMs, source.getSignal?.(), { onEndedEarly });
  if (early.response !== undefined) return early.response;
  if (before.length > latency.length) return finish(noResponse(''));
  const response = await respondWithHandlers(exchange);
  return finish(response, [...before, ...strike('after', response)]);
}

/** Calls the handlers of `mock.use()`, and the emulated service if none of them responds. */
async function respondWithHandlers(exchange: Exchange): Promise<MockResponse> {
  const { mock, request } = exchange;
  if (mock.overrides.handlers.length === 0 || isTooLarge(request)) return respond(mock, request);
  const release = mock.clock.hold();
  try {
    return (await mock.overrides.respond(request.message)) ?? respond(mock, request);
  } catch (error) {
    const text = `A handler of mock.use() threw ${error}.`;
    return failed(exchange, new MockServerError(text, { code: 'internal_error' }));
  } finally {
    release();
  }
}

/** Writes the journal, waits for the delays of the response, and returns it to the adapter. */
function send(
  exchange: Exchange,
  decided: MockResponse,
  struck: readonly StruckFault[] = [],
): MockResponse | Promise<MockResponse> {
  const { mock, request } = exchange;
  const isReadableByAll = mock.behaviour.values.cors === 'any-origin' && decided.status !== 0;
  const response = isReadableByAll ? withCorsHeaders(decided) : decided;
  const entry = entryOf(mock, request, { response, struck });
  mock.journal.add(entry);
  mock.parent?.journal.notifyOfSpace(entry);
  if (response.status === 429) requireOwnClock(exchange);
  if (response.delivery === undefined && !response.delayMs) return arrived(exchange, response, entry);
  return sendLate(exchange, response, entry);
}

/** A client that waits on another virtual clock than that of its limit would send requests without an end. */
function requireOwnClock({ mock: { clock, name }, source }: Exchange): void {
  if (source.clock === undefined || source.clock === clock || clock.mode === 'real') return;
  throw new Error(`the key belongs to ${name ?? 'the mock'}; use its clientOptions()`);
}

/** Sends a response after its delay, or in pieces. If the connection ends before, another entry replaces that of the request. */
async function sendLate(exchange: Exchange, response: MockResponse, first: JournalEntry): Promise<MockResponse> {
  const { journal, delays } = exchange.mock;
  let entry = first;
  const amend = (change: Partial<JournalEntry>) => {
    entry = journal.replace(entry, { ...entry, ...change });
  };
  const { delivery, delayMs = 0 } = response;
  // The entry of a request that hangs has status 0 from the start. It ends with its fault.
  const isHanging = entry.status === 0;
  const onEndedEarly = (reason: string) =>
    isHanging ? undefined : amend({ ...NOTHING_SENT, why: `${entry.why}; ${reason} before the response` });
  const options = { faults: isHanging ? entry.faults : [], onEndedEarly };
  const signal = exchange.source.getSignal?.();
  if (delayMs > 0 && !(await delays.wait(delayMs, signal, options))) return noResponse(entry.why);
  const onBodyEnded = (reason: string) => amend({ why: `${entry.why}; ${reason} before the end of the body` });
  const wait = (ms: number, ended: AbortSignal | undefined) => delays.wait(ms, ended, { onEndedEarly: onBodyEnded });
  return arrived(exchange, delivery === undefined ? response : { ...response, delivery: { ...delivery, wait } }, entry);
}

const NONE: readonly string[] = Object.freeze([]);

const NOTHING_SENT = { status: 0, code: undefined, responseHeaders: undefined, responseBody: undefined };

/**
 * The entry of a request, with the response after its faults. It is in the journal from the arrival of the request on, because
 * a test can wait for the request before it advances the clock.
 */
function entryOf(
  mock: MockState,
  request: ParsedRequest,
  { response, struck }: { readonly response: MockResponse; readonly struck: readonly StruckFault[] },
): JournalEntry {
  const { recorded } = request;
  const { delivery, delayMs } = response;
  // The service has identified the requests that it has read.
  const facts: Partial<JournalEntry> = request.facts ?? identified(request, mock);
  const isSent = delivery?.sendsHead !== false && delayMs !== Number.POSITIVE_INFINITY;
  const { responseHeaders, responseBody } = isSent ? recordResponse(response) : NOTHING_SENT;
  return {
    number: mock.journal.last + 1,
    space: mock.name,
    at: facts.at ?? mock.now(),
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
    faults: struck.length === 0 ? NONE : struck.map(({ settings }) => settings.id),
    stub: response.stub,
    why: response.why,
    // Not spread: V8 takes microseconds to add fields to an object of this size.
    status: isSent ? response.status : 0,
    code: isSent ? response.code : undefined,
    responseHeaders,
    responseBody,
  };
}

/**
 * Stores the end of the Retry-After of a response, after its faults. It is stored when the client has the response: a
 * request that arrives before that was sent without knowledge of it, and is not early.
 */
function arrived({ mock, source }: Exchange, response: MockResponse, { keyId = '', at }: JournalEntry): MockResponse {
  const { headers, delivery } = response;
  const value = headers['retry-after'];
  if (typeof value !== 'string' || delivery?.sendsHead === false || !/^\d+(?:\.\d+)?$/.test(value)) return response;
  const { state, behaviour } = mock;
  const key = state.keys.get(keyId);
  const asksMs = behaviour.values.retryAfterUnit === 'seconds' ? Math.round(Number(value) * 1000) : Number(value);
  const store = () => {
    if (key !== undefined) key.retryAt = at + asksMs;
  };
  // A client in process may react in the same turn of the event loop; over a socket, in the next one at the earliest.
  if (source.adapter === 'socket') void nextTurn().then(store);
  else void Promise.resolve().then(store); // fake timers also replace queueMicrotask
  return response;
}
