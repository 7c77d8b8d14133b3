import type { AdapterName, RequestSource } from './adapters/active-adapters.ts';
import type { Overrides } from './adapters/overrides.ts';
import type { DrivenClock } from './clock/clock.ts';
import { nextTurn } from './clock/event-loop.ts';
import { type AdapterHandler, withFaults } from './faults/with-faults.ts';
import { internalError } from './http/error-responses.ts';
import type { RequestIdentity } from './http/identify-request.ts';
import type { MockRequest, MockResponse } from './http/mock-message.ts';
import { recordResponse } from './http/record-request.ts';
import { withCorsHeaders } from './http/response-headers.ts';
import type { HandledRequest, ServiceHandler } from './http/service-handler.ts';
import { dateHeader, errorResponse, type ServiceResponse, writeResponse } from './http/service-response.ts';
import { type Journal, type NewJournalEntry, newJournalEntry } from './journal/journal.ts';
import type { ResponseDelays } from './response-delays.ts';
import { forgetLastKey } from './service/keys.ts';
import type { ServiceContext } from './service/service-state.ts';

/** Handles a request, in the same way for every adapter. `undefined`: the connection breaks off without a response. */
export type HandleRequest = (
  request: MockRequest,
  source: RequestSource,
) => MockResponse | undefined | Promise<MockResponse | undefined>;

interface RequestHandlerOptions {
  readonly handler: ServiceHandler;
  readonly overrides: Overrides;
  readonly clock: DrivenClock;
  readonly journal: Journal;
  readonly identify: (request: MockRequest) => RequestIdentity;
  readonly context: ServiceContext;
  readonly delays: ResponseDelays;
}

/**
 * Applies faults, then the handlers of `mock.use()`, then the emulated service. Synchronous without faults and such
 * handlers.
 */
export function createRequestHandler(options: RequestHandlerOptions): HandleRequest {
  const { journal, delays, context } = options;
  const handle = withFaults(withOverrides(options), options);

  function finish(handled: HandledRequest, { adapter, getSignal }: RequestSource): ReturnType<HandleRequest> {
    forgetLastKey();
    const { entry, waitMs = 0 } = handled;
    // Also for faults and handlers of `mock.use()`.
    const isShared = context.behaviour.values.cors === 'any-origin';
    const response = isShared && handled.response ? withCorsHeaders(handled.response) : handled.response;
    addEntry(journal, entry, response);
    const deliver = () => {
      trackRetryAfter(context, handled, adapter);
      return response;
    };
    if (waitMs === 0) return deliver();
    // A request that hangs has status 0, and ends with its fault.
    const faults = entry.status === 0 ? entry.faults : [];
    const options = { faults, onEndedEarly: (reason: string) => noteNoResponse(entry, reason) };
    return delays.wait(waitMs, getSignal?.(), options).then((hasWaited) => (hasWaited ? deliver() : undefined));
  }

  return (request, source) => {
    const handled = handle(request, source);
    if (!(handled instanceof Promise)) return finish(handled, source);
    const failed = (error: unknown) => {
      // A fault that the adapter cannot reproduce. msw would send a response of its own, with a stack.
      if (source.adapter === 'msw') return outsideService(request, internalError(error), options);
      throw error;
    };
    return handled.catch(failed).then((late) => finish(late, source));
  };
}

/** The response to a request that does not reach the emulated service, and its entry. */
function outsideService(
  request: MockRequest,
  refusal: ServiceResponse,
  { clock, identify }: RequestHandlerOptions,
): HandledRequest {
  const { status, code, why } = refusal;
  return {
    response: writeResponse(refusal, request.method, dateHeader(clock.now())),
    entry: newJournalEntry({ ...identify(request), status, code, why }),
  };
}

/** Adds the entry of a request, with the response after its faults. */
function addEntry(journal: Journal, entry: NewJournalEntry, response: MockResponse | undefined): void {
  // With status 0, the client receives nothing.
  if (response !== undefined && entry.status !== 0) {
    const { headers, body } = recordResponse(response);
    entry.responseHeaders = headers;
    entry.responseBody = body;
  }
  journal.add(entry);
}

/**
 * Changes the entry of a request whose wait for the response has ended early. The entry is in the journal from the arrival
 * of the request on, because a test can wait for the request before it advances the clock.
 */
function noteNoResponse(entry: NewJournalEntry, reason: string): void {
  // The entry of a request that hangs has status 0 from the start.
  if (entry.status === 0) return;
  entry.status = 0;
  entry.code = undefined;
  entry.responseHeaders = undefined;
  entry.responseBody = undefined;
  entry.why += `; ${reason} before the response`;
}

/** The handlers of `mock.use()` before the emulated service. */
function withOverrides(options: RequestHandlerOptions): AdapterHandler {
  const { handler, overrides, clock, identify } = options;

  async function overridden(request: MockRequest): Promise<HandledRequest> {
    const release = clock.hold();
    try {
      const response = await overrides.respond(request);
      if (response === 'not-handled') return handler(request);
      const why = 'the response is that of a handler of mock.use()';
      return { response, entry: newJournalEntry({ ...identify(request), status: response?.status ?? 0, why }) };
    } catch (error) {
      return outsideService(request, internalError(error), options);
    } finally {
      release();
    }
  }

  return (request) => {
    if (request.body !== undefined && request.body.byteLength > MAX_REQUEST_BODY_BYTES)
      return outsideService(request, TOO_LARGE, options);
    return overrides.isEmpty ? handler(request) : overridden(request);
  };
}

/** No operation accepts a body; handlers of `mock.use()` may read one. */
export const MAX_REQUEST_BODY_BYTES = 1024 * 1024;

const TOO_LARGE = errorResponse({
  status: 413,
  code: 'content_too_large',
  message: `The body is larger than ${MAX_REQUEST_BODY_BYTES} bytes.`,
});

/**
 * Stores the end of the Retry-After of a response, after its faults. It is stored when the client has the response: a
 * request that arrives before that was sent without knowledge of it, and is not early.
 */
function trackRetryAfter(
  { state, behaviour }: ServiceContext,
  { response, entry }: HandledRequest,
  adapter: AdapterName,
): void {
  const value = response?.delivery?.sendsHead === false ? undefined : response?.headers['retry-after'];
  if (value === undefined || !/^\d+(?:\.\d+)?$/.test(value)) return;
  const key = state.keys.get(entry.keyId ?? '');
  if (key === undefined) return;
  const asksMs = behaviour.values.retryAfterUnit === 'seconds' ? Math.round(Number(value) * 1000) : Number(value);
  const store = () => {
    key.retryAt = entry.at + asksMs;
  };
  // A client in process may react in the same turn of the event loop; over a socket, in the next one at the earliest.
  if (adapter === 'socket') void nextTurn().then(store);
  else queueMicrotask(store);
}
