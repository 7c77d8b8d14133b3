import { apiKeyPattern } from '../../generated/service.ts';
import { RequestSwitches, type Switches } from '../behaviour/behaviour.ts';
import type { SwitchName } from '../behaviour/switches.ts';
import type { FindRoute, RouteMatch } from '../http/find-route.ts';
import { MAX_REQUEST_BODY_BYTES, type MockResponse, noResponse } from '../http/message.ts';
import type { ParsedRequest, SentCredential } from '../http/parse-request.ts';
import {
  type AuthenticationRefusal,
  authenticationRefusal,
  completed,
  errorResponse,
  internalError,
  isPreflight,
  methodRefusal,
  optionsResponse,
  parameterRefusal,
  preflightResponse,
  quotaRefusal,
  rateHeaders,
  rateRefusal,
  servedResponse,
  toJson,
  unknownRoute,
  withEtag,
  withUnknownParameters,
} from '../http/responses.ts';
import type { JournalEntry } from '../journal/journal.ts';
import type { AppliedRules } from '../rules/applied-rules.ts';
import { answerOf } from '../rules/rule-effects.ts';
import type { RuleRequest, RuleState } from '../rules/rule-schema.ts';
import { keysAboveCap } from '../service/accounts.ts';
import { decide, type MeteredDecision, type QuotaUse } from '../service/decide.ts';
import type { KeyRecord, ServiceContext } from '../service/service-state.ts';
import type { OnAssumption } from './options.ts';
import { inventedFor } from './respond-latest.ts';

/** The emulated service, and the rules of a test. */
export interface EmulatedService extends ServiceContext {
  readonly state: RuleState;
  readonly options: { readonly onAssumption: OnAssumption };
  readonly findRoute: FindRoute;
  /** By operation id; the other operations return the example of openapi.yaml. */
  readonly responders: Readonly<Record<string, Responder>>;
  /** The assumptions that a process warning has named. */
  readonly warned: Set<string>;
}

/** What the journal shows of a request, beside the message and the response. */
interface RequestFacts extends Pick<JournalEntry, 'at' | 'operation' | 'isUnknownRoute' | 'switches'> {
  readonly use: Use;
}

/** The key of a request, and the usage of its limits. */
type Use = Pick<JournalEntry, 'keyId' | 'keyTransport' | 'rate' | 'quota' | 'earlyByMs'>;

/** A response, and what it depended on. */
export interface Reply {
  readonly response: MockResponse;
  readonly facts: RequestFacts;
}

/** Reads a request with the current keys and switches, before any decision. */
export function identified(
  { recorded, target, credentials }: ParsedRequest,
  { state, behaviour, now, findRoute }: EmulatedService,
): RuleRequest & Pick<Use, 'keyTransport'> {
  const chosen = chosenCredential(credentials, behaviour);
  return {
    ...recorded,
    at: now(),
    operation: findRoute(recorded.method, target.path).operation?.id,
    keyId: chosen && state.keysByHash.get(chosen.hash)?.id,
    keyTransport: chosen?.transport,
  };
}

/** Responds to one request in one synchronous step, so that it is counted completely or not at all. */
export function respond(service: EmulatedService, request: ParsedRequest, applied?: AppliedRules): Reply {
  const { behaviour, now, findRoute, options } = service;
  const switches = new RequestSwitches(behaviour);
  const { method } = request.recorded;
  const route = findRoute(method, request.target.path);
  const at = now();
  const decided = decideByRoute({ service, switches, request, route, at, applied });
  const { used } = switches;
  const response =
    options.onAssumption === 'ignore' ? decided.response : checkAssumptions(service, decided.response, used);
  return {
    response: applied === undefined ? completedOnce(response, request, at) : completed(response, { now: at }),
    facts: {
      at,
      operation: route.operation?.id,
      isUnknownRoute: route.kind === 'unknown' && applied?.answering === undefined,
      switches: used,
      use: decided.use,
    },
  };
}

/**
 * The response, or 501 `assumption` in its place, which clients do not retry, so the test fails immediately with this text.
 * `'warn'` warns once of each assumption.
 */
function checkAssumptions(
  { behaviour, options, warned }: EmulatedService,
  response: MockResponse,
  switches: readonly SwitchName[],
): MockResponse {
  const assumptions = behaviour
    .assumptionsAmong(switches)
    .map((name) => `${name}: ${JSON.stringify(behaviour.values[name])}`)
    .filter((assumption) => !warned.has(assumption));
  if (assumptions.length === 0) return response;
  // Ready to be copied into the test.
  const message = `The response depends on undocumented behaviour of the service. To accept it, use createMockServer({ behaviour: { ${assumptions.join(', ')} } }).`;
  if (options.onAssumption === 'error') return errorResponse({ status: 501, code: 'assumption', message });
  for (const assumption of assumptions) warned.add(assumption);
  process.emitWarning(message, { type: 'FxratesMockWarning', code: 'FXRATES_ASSUMPTION' });
  return response;
}

/**
 * Completes the response of the service. Within a second, most requests with one target have the same one, which is
 * completed once. Not for those of rules, whose bodies can be large.
 */
function completedOnce(
  response: MockResponse,
  { target, recorded: { method } }: ParsedRequest,
  now: number,
): MockResponse {
  const { last } = target;
  const second = Math.floor(now / 1000);
  if (last?.of === response && last.method === method && last.second === second) return last.response;
  const complete = completed(response, { method, now });
  target.last = { of: response, method, second, response: complete };
  return complete;
}

/** The response of the network, if a rule responds or fails in place of the service; `undefined` without such a rule. */
export function respondWithoutService(
  service: EmulatedService,
  request: ParsedRequest,
  applied: AppliedRules,
): Reply | undefined {
  const [last, failing] = [applied.answering, applied.of('fail')];
  const isCounted = [last, failing].every((found) => found?.rule.counted !== false);
  if (isCounted) return undefined;
  const facts = factsOf(service, request);
  // A counted response is for what the service would have served; that of the failing rule itself is sent in part.
  const answering = last?.rule.counted === false ? last : applied.of('respond', (rule) => rule === failing?.rule);
  const answer = answering && answerOf(answering, applied, answeredRequest(service, request));
  return {
    response: answer === undefined ? noResponse('') : completed(answer, { now: facts.at }),
    facts,
  };
}

/** What the journal shows of a request that the service has not received. */
export function factsOf(service: EmulatedService, request: ParsedRequest): RequestFacts {
  const { at, operation, keyId, keyTransport } = identified(request, service);
  const early = earlyByMs(service.state.keys.get(keyId ?? ''), { at, operation });
  const use = { ...NO_USE, keyId, keyTransport, earlyByMs: early };
  return { at, operation, isUnknownRoute: false, switches: [], use };
}

function answeredRequest(service: EmulatedService, request: ParsedRequest) {
  return { request: identified(request, service), context: { invented: () => inventedFor(service, request.target) } };
}

/** A request, its route, and what its response depends on. */
export interface RoutedRequest {
  readonly service: EmulatedService;
  readonly switches: RequestSwitches;
  readonly request: ParsedRequest;
  readonly route: RouteMatch;
  /** The time used for every decision about it, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** One of the rules can respond to it once it is admitted, even for a path that the service does not have. */
  readonly applied: AppliedRules | undefined;
}

/** A response, with the key and its usage as far as they were read. */
interface Decided {
  readonly response: MockResponse;
  readonly use: Use;
}

const NO_USE: Use = {
  keyId: undefined,
  keyTransport: undefined,
  rate: undefined,
  quota: undefined,
  earlyByMs: undefined,
};

/** What the response to a request within both limits also depends on. */
export interface Admission {
  readonly key: KeyRecord;
  /** Usage before this request. */
  readonly quota: QuotaUse;
}

/**
 * Creates the response to a request within both limits. It is synchronous, because the limits are checked before and counted
 * after it, in one step.
 */
export type Responder = (request: RoutedRequest, admission: Admission) => MockResponse;

const TOO_LARGE = errorResponse({
  status: 413,
  code: 'content_too_large',
  message: `The body is larger than ${MAX_REQUEST_BODY_BYTES} bytes.`,
});

/** First step: finds the route. It needs no key. */
function decideByRoute(routed: RoutedRequest): Decided {
  const { switches, route, request, applied } = routed;
  const answering = applied?.answering;
  const { headers, body } = request.message;
  if (body !== undefined && body.byteLength > MAX_REQUEST_BODY_BYTES) return { response: TOO_LARGE, use: NO_USE };
  // Only browsers send an origin, so only their responses depend on CORS.
  const isShared = headers['origin'] !== undefined && switches.use('cors') === 'any-origin';
  if (isShared && isPreflight(request.message)) return { response: preflight(routed), use: NO_USE };
  // A rule without a method defines the response to HEAD, but not whether HEAD is allowed.
  if (route.kind === 'wrong-method' && answering?.rule.match.method === undefined) return decideByMethod(routed);
  if (answering !== undefined || route.kind !== 'unknown') return decideByCaller(routed);
  return switches.use('unknownRoute') === '404 before authentication'
    ? { response: unknownRoute(route.hint), use: NO_USE }
    : decideByCaller(routed);
}

function preflight({ service, request }: RoutedRequest): MockResponse {
  const methods = service.state.rules.flatMap(({ match }) => match.method ?? []);
  return preflightResponse(request.message, methods);
}

function decideByMethod(routed: RoutedRequest): Decided {
  const { switches, request } = routed;
  const { method } = request.recorded;
  if (method === 'HEAD' && switches.use('headRequests') === 'like-get') return decideByCaller(routed);
  const isOptions = method === 'OPTIONS' && switches.use('optionsRequests') === 'allow-header';
  return { response: isOptions ? optionsResponse(switches) : methodRefusal(switches), use: NO_USE };
}

/** Second step: authenticates the request. */
function decideByCaller(routed: RoutedRequest): Decided {
  const { switches, request, at, route } = routed;
  const credential = chosenCredential(request.credentials, switches);
  const { key, refusal } = authenticate(routed, credential);
  const keyTransport = credential?.transport;
  if (refusal === undefined) return decideByLimits(routed, key, keyTransport);
  const early = earlyByMs(key, { at, operation: route.operation?.id });
  const use = { ...NO_USE, keyId: key?.id, keyTransport, earlyByMs: early };
  return { response: authenticationRefusal(refusal, switches), use };
}

/** Milliseconds to the end of the last Retry-After that is for the operation; `undefined` if it has ended. */
function earlyByMs(
  key: KeyRecord | undefined,
  { at, operation }: Pick<RequestFacts, 'at' | 'operation'>,
): number | undefined {
  const { retryAt = 0, quotaEndpointRetryAt = 0 } = key ?? {};
  const leftMs = (operation === 'quota' ? quotaEndpointRetryAt : retryAt) - at;
  return leftMs > 0 ? leftMs : undefined;
}

/** Third step: checks both limits. */
function decideByLimits(routed: RoutedRequest, key: KeyRecord, keyTransport: Use['keyTransport']): Decided {
  const { at, switches, request, route } = routed;
  // A rule for another method, such as POST, is part of no operation.
  const isMetered = route.kind === 'operation' || request.recorded.method === 'HEAD';
  const { consumesQuota = false, worksWhenQuotaExhausted = true, id = '' } = (isMetered && route.operation) || {};
  const decision = decide(
    {
      key,
      at,
      consumesQuota,
      worksWhenQuotaExhausted,
      hasOwnWindow: id === 'quota',
      respond(quota) {
        return withEtag(respondWithinLimits(routed, { key, quota }), request.message, switches);
      },
    },
    switches,
  );
  const { rate, quota } = decision;
  const early = earlyByMs(key, { at, operation: route.operation?.id });
  const response = responseTo(decision, at, switches);
  const added = rateHeaders(decision, at, switches);
  const complete = added === undefined ? response : { ...response, headers: { ...response.headers, ...added } };
  return { response: complete, use: { keyId: key.id, keyTransport, rate, quota, earlyByMs: early } };
}

function responseTo(decision: MeteredDecision<MockResponse>, at: number, switches: Switches): MockResponse {
  if (decision.kind === 'served') return decision.response;
  return decision.kind === 'rate-limited'
    ? rateRefusal(decision, switches)
    : quotaRefusal(decision.quota, at, switches);
}

function respondWithinLimits(routed: RoutedRequest, admission: Admission): MockResponse {
  const { service, switches, route, request, applied } = routed;
  try {
    if (applied?.answering !== undefined)
      return answerOf(applied.answering, applied, answeredRequest(service, request));
    if (route.kind === 'unknown') return unknownRoute(route.hint);
    const { id, example, query, parameters } = route.operation;
    const refused = parameterRefusal(route, { target: request.target, switches });
    if (refused !== undefined) return refused;
    const response = service.responders[id]?.(routed, admission) ?? servedResponse(toJson(example));
    if (query !== 'named') return response;
    const known = parameters.flatMap((parameter) => (parameter.in === 'query' ? parameter.name : []));
    return withUnknownParameters(response, request.target, { id, known, switches });
  } catch (error) {
    // Converted here, so that the exception of a responder counts like any other 500.
    return internalError(error);
  }
}

/** Returns the credential that the service reads: `undefined` without one, and with two if the switch refuses them. */
function chosenCredential([first, second]: readonly SentCredential[], switches: Switches): SentCredential | undefined {
  if (second === undefined) return first;
  return { header: first, query: second, refused: undefined }[switches.use('severalCredentials')];
}

/** A valid key, or a refusal with the key, if it is known. */
type Authentication =
  | { readonly key: KeyRecord; readonly refusal?: never }
  | { readonly key?: KeyRecord | undefined; readonly refusal: AuthenticationRefusal };

/** Finds the key of a credential by its hash. */
function authenticate(
  { service, switches, request }: RoutedRequest,
  credential: SentCredential | undefined,
): Authentication {
  if (credential === undefined) return { refusal: request.credentials.length === 0 ? NO_KEY : SEVERAL };
  const key = service.state.keysByHash.get(credential.hash);
  if (key === undefined) return { refusal: API_KEY.test(credential.key) ? UNKNOWN : MALFORMED };
  if (key.revokedAt !== undefined) {
    return { key, refusal: { refusedBy: 'revokedKey', why: `${key.id} is revoked` } };
  }
  // Every plan allows one key, and most accounts have one.
  if (key.account.activeKeys > 1 && isBlocked(key, switches)) {
    const why = `${key.id} is above the cap of the ${key.account.plan} plan`;
    return { key, refusal: { refusedBy: 'revokedKey', why } };
  }
  return { key };
}

const API_KEY = new RegExp(apiKeyPattern);
const NO_KEY = { refusedBy: 'missingKey', why: 'the request has no API key' } as const;
const SEVERAL = { refusedBy: 'malformedKey', why: 'the request has more than one credential' } as const;
const MALFORMED = { refusedBy: 'malformedKey', why: 'the credential does not look like an API key' } as const;
const UNKNOWN = { refusedBy: 'unknownKey', why: 'this mock never created this key' } as const;

function isBlocked(key: KeyRecord, switches: Switches): boolean {
  return keysAboveCap(key.account, switches).includes(key) && switches.use('overCapKeys') === 'block';
}
