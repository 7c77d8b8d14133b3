import type { Operation } from '../../generated/operations.ts';
import type { CheckAssumptions } from '../behaviour/assumptions.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { JournalEntry, NewJournalEntry } from '../journal/journal.ts';
import { authenticateKey } from '../service/authenticate.ts';
import { type Decision, decide } from '../service/decide.ts';
import type { QuotaUse } from '../service/quota.ts';
import type { KeyRecord, ServiceContext } from '../service/service-state.ts';
import { findStub, nearStubs, type StubRecord, stubResponse } from '../stubs/stub-record.ts';
import * as errors from './error-responses.ts';
import { presentedCredential, type RequestIdentity } from './identify-request.ts';
import type { MockRequest, MockResponse } from './mock-message.ts';
import { preferredResponse } from './preferred-response.ts';
import { queryOf, readTarget, recordBody, recordHeaders, type TargetReading } from './record-request.ts';
import { exampleResponder, type Responder } from './responders.ts';
import { isPreflight, preflightResponse, rateHeaders, withEtag } from './response-headers.ts';
import type { FindRoute, RouteMatch } from './router.ts';
import { dateHeader, type ServiceResponse, writeResponse } from './service-response.ts';

interface ServiceHandlerOptions {
  readonly context: ServiceContext;
  /** Can replace the response. */
  readonly checkAssumptions?: CheckAssumptions | undefined;
  readonly findRoute: FindRoute;
  /** By operation id; the other operations return their example. */
  readonly responders: Readonly<Record<string, Responder>>;
  /** Describes a request to the patterns of stubs. */
  readonly identify: (request: MockRequest) => RequestIdentity;
}

/** The emulated service: creates the response to one request, synchronously, and its journal entry. */
export type ServiceHandler = (request: MockRequest) => HandledRequest;

/** A response and its journal entry. */
export interface HandledRequest {
  /** `undefined`: the connection breaks off without a response. */
  readonly response: MockResponse | undefined;
  readonly entry: NewJournalEntry;
  /** Milliseconds of the mock's clock until the response is sent; infinity for never. Default: 0. */
  readonly waitMs?: number | undefined;
}

export function createServiceHandler(options: ServiceHandlerOptions): ServiceHandler {
  const { context, checkAssumptions, findRoute, responders, identify } = options;
  return (request) => {
    const { method } = request;
    const target = readTarget(request.target);
    const route = findRoute(method, target.path);
    const at = context.now();
    const { stubs } = context.state;
    // Discards the switches that the test, or the search for a stub, has used.
    const identity = stubs.length === 0 ? undefined : identify(request);
    const stub = identity && findStub(stubs, identity);
    context.behaviour.takeUsed();
    const decided = respondSafely({ context, responders, request, target, route, at, identity, stub });
    const switches = context.behaviour.takeUsed();
    const response = checkAssumptions?.(decided.response, switches) ?? decided.response;
    // Field by field, because a spread takes several times as long as the rest of the entry.
    const entry: NewJournalEntry = {
      number: 0,
      space: undefined,
      at,
      method,
      path: target.recorded.path,
      query: target.recorded.query,
      headers: recordHeaders(request.headers),
      body: recordBody(request.body),
      hasKeyInUrl: target.recorded.hasKeyInUrl,
      operation: operationOf(route)?.id,
      isUnknownRoute: route.kind === 'unknown' && stub === undefined,
      keyId: decided.keyId,
      keyTransport: decided.keyTransport,
      status: response.status,
      code: response.code,
      why: response.why,
      rate: decided.rate,
      quota: decided.quota,
      earlyByMs: decided.earlyByMs,
      switches,
      faults: NO_FAULTS,
      stub: response.stub,
      responseHeaders: undefined,
      responseBody: undefined,
    };
    return { response: writeResponse(response, method, dateHeader(at)), entry, waitMs: response.delayMs };
  };
}

const NO_FAULTS: JournalEntry['faults'] = Object.freeze([]);

/** A request, its route, and what its response depends on. */
interface RoutedRequest extends Pick<ServiceHandlerOptions, 'context' | 'responders'> {
  readonly request: MockRequest;
  readonly target: TargetReading;
  readonly route: RouteMatch;
  /** `undefined` without stubs. */
  readonly identity: RequestIdentity | undefined;
  /** The stub for it once it is admitted, even for a path that the service does not have. */
  readonly stub: StubRecord | undefined;
  /** The time used for every decision about it, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A response, and the facts of the request that were determined for it. */
type DecidedResponse = { readonly response: ServiceResponse } & Partial<
  Pick<JournalEntry, 'keyId' | 'keyTransport' | 'rate' | 'quota' | 'earlyByMs'>
>;

function respondSafely(routed: RoutedRequest): DecidedResponse {
  try {
    const response = unmeteredResponse(routed);
    return response === undefined ? respondByRoute(routed) : { response };
  } catch (error) {
    return { response: errors.internalError(error) };
  }
}

/** Responses that need no key and count toward no limit: to a preflight, and to a request with `Prefer`. */
function unmeteredResponse({ request, context, route }: RoutedRequest): ServiceResponse | undefined {
  // Only browsers send an origin, so only their responses depend on CORS.
  const isShared = request.headers['origin'] !== undefined && context.behaviour.use('cors') === 'any-origin';
  if (isShared && isPreflight(request)) return preflightResponse(request);
  return route.kind === 'operation' ? preferredResponse(request, route.operation, context) : undefined;
}

/** First step: finds the route. It needs no key. */
function respondByRoute(routed: RoutedRequest): DecidedResponse {
  const { context, route, request } = routed;
  const { behaviour } = context;
  if (routed.stub !== undefined) return respondToCaller(routed);
  switch (route.kind) {
    case 'operation':
      return respondToCaller(routed);
    case 'wrong-method':
      if (request.method === 'HEAD' && behaviour.use('headRequests') === 'like-get') return respondToCaller(routed);
      if (request.method === 'OPTIONS' && behaviour.use('optionsRequests') === 'allow-header') {
        return { response: errors.optionsResponse(behaviour) };
      }
      return { response: errors.methodRefusal(behaviour) };
    case 'unknown':
      if (behaviour.use('unknownRoute') === '404 before authentication') {
        return { response: unknownRoute(routed, route.nearest) };
      }
      return respondToCaller(routed);
  }
}

function unknownRoute({ context, identity }: RoutedRequest, nearest: string | undefined): ServiceResponse {
  return errors.unknownRoute(nearest, identity && nearStubs(context.state.stubs, identity));
}

function operationOf(route: RouteMatch): Operation | undefined {
  return route.kind === 'unknown' ? undefined : route.operation;
}

/** The operation whose limits apply. A stub for another method, such as POST, is part of none. */
function meteredOperation({ route, request }: RoutedRequest): Operation | undefined {
  return route.kind === 'operation' || request.method === 'HEAD' ? operationOf(route) : undefined;
}

/** Second step: authenticates the request. */
function respondToCaller(routed: RoutedRequest): DecidedResponse {
  const { context, request, target, at } = routed;
  const credential = presentedCredential(request, target.query, context.behaviour);
  const authentication =
    credential.kind === 'several'
      ? ({ refusedBy: 'malformedKey', why: 'the request has more than one credential' } as const)
      : authenticateKey(context, credential.kind === 'key' ? credential.key : undefined, at);
  const keyTransport = credential.kind === 'key' ? credential.transport : undefined;
  if (authentication.refusedBy === undefined) return respondToKey(routed, authentication.key, keyTransport);
  const response = errors.authenticationRefusal(authentication, context.behaviour);
  return { response, keyTransport, keyId: 'key' in authentication ? authentication.key?.id : undefined };
}

/** Third step: checks both limits. */
function respondToKey(
  routed: RoutedRequest,
  key: KeyRecord,
  keyTransport: JournalEntry['keyTransport'],
): DecidedResponse {
  const { at } = routed;
  const { behaviour } = routed.context;
  const operation = meteredOperation(routed);
  const leftMs = key.retryAt - at;
  const decision = decide(
    {
      key,
      at,
      consumesQuota: operation?.consumesQuota ?? false,
      worksWhenQuotaExhausted: operation?.worksWhenQuotaExhausted ?? true,
      hasOwnWindow: operation?.id === 'quota',
      respond: (quota) => withEtag(respondWithinLimits(routed, key, quota), routed.request, behaviour),
    },
    behaviour,
  );
  const response = responseOf(decision, behaviour, at);
  const headers = rateHeaders(decision.rate, at, behaviour);
  return {
    response: headers === undefined ? response : { ...response, headers: { ...response.headers, ...headers } },
    keyId: key.id,
    keyTransport,
    rate: decision.rate,
    quota: decision.quota,
    earlyByMs: leftMs > 0 ? leftMs : undefined,
  };
}

function responseOf(decision: Decision<ServiceResponse>, behaviour: Behaviour, at: number): ServiceResponse {
  switch (decision.kind) {
    case 'served':
      return decision.response;
    case 'rate-limited':
      return errors.rateRefusal(decision, behaviour);
    case 'quota-exhausted':
      return errors.quotaRefusal(decision, behaviour, at);
  }
}

function respondWithinLimits(routed: RoutedRequest, key: KeyRecord, quota: QuotaUse): ServiceResponse {
  const { context, responders, route, target, at, stub } = routed;
  try {
    if (stub !== undefined && stub.source.kind !== 'function') {
      return stubResponse(stub, stub.source, { query: queryOf(target), seed: context.state.seed });
    }
    if (route.kind === 'unknown') return unknownRoute(routed, route.nearest);
    const { operation, parameters } = route;
    const respondTo = responders[operation.id] ?? exampleResponder;
    const latest = stub?.source.kind === 'function' ? stub.source.latest : undefined;
    const admitted = { operation, parameters, key, at, quota, target, latest };
    if (stub === undefined) return respondTo(admitted, context);
    stub.served += 1;
    return { ...respondTo(admitted, context), stub: stub.id };
  } catch (error) {
    // Converted here, so that the exception of a responder counts like any other 500.
    return errors.internalError(error);
  }
}
