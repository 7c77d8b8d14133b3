import type { Operation } from '../../generated/operations.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { type Authentication, authenticateKey } from '../service/authenticate.ts';
import { type Decision, decide } from '../service/decide.ts';
import type { KeyRecord, ServiceContext } from '../service/service-state.ts';
import type { MockRequest } from './mock-message.ts';
import { type PresentedCredential, presentedCredential } from './presented-credential.ts';
import { rateHeaders } from './rate-headers.ts';
import * as refusals from './refusals.ts';
import type { AdmittedRequest, Responder } from './responder.ts';
import type { RouteMatch, Target } from './router.ts';
import type { ServiceResponse } from './service-response.ts';

/** What answering needs: the service, and what its operations answer once a request is within the limits. */
export interface Emulation {
  readonly context: ServiceContext;
  readonly responderOf: (operation: Operation) => Responder;
}

/** An answer, and what became known of the request on the way. */
export type DecidedResponse = { readonly answer: ServiceResponse } & Partial<
  Pick<JournalEntry, 'keyId' | 'keyTransport' | 'rate' | 'quota' | 'earlyByMs'>
>;

/** Where a request leads, and when. */
export interface RoutedRequest {
  readonly target: Target;
  readonly route: RouteMatch;
  /** The one moment everything about it is decided for, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** First step, for which no key is needed: where does the request lead? */
export function answerRequest(emulation: Emulation, request: MockRequest, routed: RoutedRequest): DecidedResponse {
  const { behaviour } = emulation.context;
  const { route } = routed;
  switch (route.kind) {
    case 'operation':
      return answerCaller(emulation, request, { ...routed, operation: route.operation });
    case 'wrong-method':
      return answerOtherMethod(emulation, request, { ...routed, operation: route.operation });
    case 'unknown':
      if (behaviour.use('unknownRoute') === '404 before authentication') {
        return { answer: refusals.unknownRoute(route.nearest) };
      }
      return answerCaller(emulation, request, { ...routed, operation: undefined });
  }
}

interface Destination<Found = Operation | undefined> extends RoutedRequest {
  /** `undefined` for a path that leads nowhere. */
  readonly operation: Found;
}

function answerOtherMethod(
  emulation: Emulation,
  request: MockRequest,
  destination: Destination<Operation>,
): DecidedResponse {
  const { behaviour } = emulation.context;
  if (request.method === 'HEAD' && behaviour.use('headRequests') === 'like-get') {
    return answerCaller(emulation, request, destination);
  }
  if (request.method === 'OPTIONS' && behaviour.use('optionsRequests') === 'allow-header') {
    return { answer: refusals.optionsAnswer(behaviour) };
  }
  return { answer: refusals.methodRefusal(behaviour) };
}

/** Second step: who asks? */
function answerCaller(emulation: Emulation, request: MockRequest, destination: Destination): DecidedResponse {
  const { context } = emulation;
  const credential = presentedCredential(request, destination.target.query, context.behaviour);
  const authentication = authenticateCredential(emulation, credential, destination.at);
  const keyTransport = credential.kind === 'key' ? credential.transport : undefined;
  if (authentication.refusedBy === undefined) {
    return { keyTransport, ...answerKey(emulation, authentication.key, destination) };
  }
  const answer = refusals.authenticationRefusal(authentication, context.behaviour);
  return { answer, keyTransport, keyId: authentication.key?.id };
}

function authenticateCredential({ context }: Emulation, credential: PresentedCredential, at: number): Authentication {
  if (credential.kind === 'several') {
    return { refusedBy: 'malformedKey', why: 'the request carries more than one credential' };
  }
  return authenticateKey(context, credential.kind === 'key' ? credential.key : undefined, at);
}

/** Third step: is there room under both limits? */
function answerKey(emulation: Emulation, key: KeyRecord, destination: Destination): DecidedResponse {
  const { at, operation } = destination;
  const { behaviour } = emulation.context;
  const leftMs = key.retryAt - at;
  const decision = decide(
    {
      key,
      at,
      consumesQuota: operation?.consumesQuota ?? false,
      worksWhenQuotaExhausted: operation?.worksWhenQuotaExhausted ?? true,
      hasOwnWindow: operation?.id === 'quota',
      answer: (quota) => respond(emulation, destination, { key, quota }),
    },
    behaviour,
  );
  return {
    answer: withRateHeaders(answerOf(decision, behaviour, at), rateHeaders(decision.rate, at, behaviour)),
    keyId: key.id,
    rate: decision.rate,
    quota: decision.quota,
    earlyByMs: leftMs > 0 ? leftMs : undefined,
  };
}

function withRateHeaders(answer: ServiceResponse, headers: ServiceResponse['headers'] | undefined): ServiceResponse {
  return headers === undefined ? answer : { ...answer, headers: { ...answer.headers, ...headers } };
}

function answerOf(decision: Decision<ServiceResponse>, behaviour: Behaviour, at: number): ServiceResponse {
  switch (decision.kind) {
    case 'served':
      return decision.answer;
    case 'rate-limited':
      return refusals.rateRefusal(decision, behaviour);
    case 'quota-exhausted':
      return refusals.quotaRefusal(decision, behaviour, at);
  }
}

function respond({ context, responderOf }: Emulation, destination: Destination, caller: Caller): ServiceResponse {
  const { operation, target, at, route } = destination;
  if (operation === undefined) return refusals.unknownRoute(route.kind === 'unknown' ? route.nearest : undefined);
  const query = new URLSearchParams(target.query);
  query.delete('api_key');
  try {
    return responderOf(operation)({ operation, query, at, ...caller }, context);
  } catch (error) {
    // Made an answer here, so that a broken responder is counted like any other 500.
    return refusals.internalError(error);
  }
}

type Caller = Pick<AdmittedRequest, 'key' | 'quota'>;
