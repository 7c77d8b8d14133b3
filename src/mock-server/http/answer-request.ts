import type { Operation } from '../../generated/operations.ts';
import type { JournalEntry } from '../journal.ts';
import { type Authentication, authenticate } from '../service/authenticate.ts';
import { type Decision, decide } from '../service/decide.ts';
import type { KeyRecord } from '../service/service-state.ts';
import type { Answer } from './answer.ts';
import { type Credential, readCredential } from './credential.ts';
import type { MockRequest } from './mock-message.ts';
import { rateHeaders } from './rate-headers.ts';
import * as refusals from './refusals.ts';
import type { Responder, ResponderContext } from './responder.ts';
import type { Route, Target } from './router.ts';

/** What answering needs: the service, and what its operations answer once a request is within the limits. */
export interface Answering {
  readonly context: ResponderContext;
  readonly route: (method: string, path: string) => Route;
  readonly responderOf: (operation: Operation) => Responder;
}

/** An answer, and what became known of the request on the way. */
export type Outcome = { readonly answer: Answer } & Partial<
  Pick<JournalEntry, 'keyId' | 'keyTransport' | 'rate' | 'quota' | 'earlyByMs'>
>;

/** First step, for which no key is needed: where does the request lead? */
export function answerRequest(answering: Answering, request: MockRequest, target: Target): Outcome {
  const { behaviour } = answering.context;
  const route = answering.route(request.method, target.path);
  switch (route.kind) {
    case 'operation':
      return answerCaller(answering, request, { target, operation: route.operation });
    case 'wrong-method':
      return answerOtherMethod(answering, request, { target, operation: route.operation });
    case 'unknown':
      if (behaviour.use('unknownRoute') === '404 before authentication') return { answer: refusals.unknownRoute() };
      return answerCaller(answering, request, { target, operation: undefined });
  }
}

interface Destination<Found = Operation | undefined> {
  readonly target: Target;
  /** `undefined` for a path that leads nowhere. */
  readonly operation: Found;
}

function answerOtherMethod(answering: Answering, request: MockRequest, destination: Destination<Operation>): Outcome {
  const { behaviour } = answering.context;
  if (request.method === 'HEAD' && behaviour.use('headRequests') === 'like-get') {
    return answerCaller(answering, request, destination);
  }
  if (request.method === 'OPTIONS' && behaviour.use('optionsRequests') === 'allow-header') {
    return { answer: refusals.optionsAnswer(behaviour) };
  }
  return { answer: refusals.methodRefusal(behaviour) };
}

/** Second step: who asks? */
function answerCaller(answering: Answering, request: MockRequest, destination: Destination): Outcome {
  const { context } = answering;
  const credential = readCredential(request, destination.target.query, context.behaviour);
  const authentication = authenticateCredential(answering, credential);
  const keyTransport = credential.kind === 'key' ? credential.transport : undefined;
  if (authentication.refusedBy === undefined) {
    return { keyTransport, ...answerKey(answering, authentication.key, destination) };
  }
  const answer = refusals.authenticationRefusal(authentication, context.behaviour);
  return { answer, keyTransport, keyId: authentication.key?.id };
}

function authenticateCredential({ context }: Answering, credential: Credential): Authentication {
  if (credential.kind === 'several') {
    return { refusedBy: 'malformedKey', why: 'the request carries more than one credential' };
  }
  return authenticate(context, credential.kind === 'key' ? credential.key : undefined);
}

/** Third step: is there room under both limits? */
function answerKey(answering: Answering, key: KeyRecord, { target, operation }: Destination): Outcome {
  const { context } = answering;
  const now = context.now();
  const leftMs = key.retryAt - now;
  const decision = decide(context, {
    key,
    consumesQuota: operation?.consumesQuota ?? false,
    worksWhenQuotaExhausted: operation?.worksWhenQuotaExhausted ?? true,
    hasOwnWindow: operation?.id === 'quota',
    answer: () => (operation === undefined ? refusals.unknownRoute() : respond(answering, operation, { key, target })),
  });
  const { answer, asksMs } = answerOf(decision, context);
  if (asksMs !== undefined) key.retryAt = now + asksMs;
  return {
    answer: { ...answer, headers: { ...answer.headers, ...rateHeaders(decision.rate, now, context.behaviour) } },
    keyId: key.id,
    rate: decision.rate,
    quota: decision.quota,
    earlyByMs: leftMs > 0 ? leftMs : undefined,
  };
}

function answerOf(decision: Decision<Answer>, { behaviour, now }: ResponderContext): refusals.TimedRefusal {
  switch (decision.kind) {
    case 'served':
      return { answer: decision.answer, asksMs: undefined };
    case 'rate-limited':
      return refusals.rateRefusal(decision, behaviour);
    case 'quota-exhausted':
      return refusals.quotaRefusal(decision, behaviour, now());
  }
}

interface Caller {
  readonly key: KeyRecord;
  readonly target: Target;
}

function respond({ context, responderOf }: Answering, operation: Operation, { key, target }: Caller): Answer {
  const query = new URLSearchParams(target.query);
  query.delete('api_key');
  try {
    return responderOf(operation)({ operation, key, query }, context);
  } catch (error) {
    // Made an answer here, so that a broken responder is counted like any other 500.
    return refusals.internalError(error);
  }
}
