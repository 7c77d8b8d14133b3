import type { Operation } from '../../generated/operations.ts';
import type { Journal } from '../journal.ts';
import { redactKeys } from '../redact-keys.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { type Answering, type Arrival, answerRequest, type Outcome } from './answer-request.ts';
import { exampleResponder } from './example-responder.ts';
import type { MockRequest, MockResponse } from './mock-message.ts';
import { internalError } from './refusals.ts';
import type { Responder } from './responder.ts';
import { createRouter, parseTarget } from './router.ts';
import { createDateHeader, writeResponse } from './write-response.ts';

export interface HandlerOptions {
  readonly context: ServiceContext;
  readonly journal: Journal;
  readonly operations: Readonly<Record<string, Operation>>;
  /** By operation id; the other operations answer their example. */
  readonly responders: Readonly<Record<string, Responder>>;
}

/** The emulated service: answers one request, synchronously, and notes in the journal why. */
export type Handler = (request: MockRequest) => MockResponse;

export function createHandler({ context, journal, operations, responders }: HandlerOptions): Handler {
  const dateHeader = createDateHeader();
  const answering: Answering = {
    context,
    route: createRouter(operations),
    responderOf: (operation) => responders[operation.id] ?? exampleResponder,
  };
  return (request) => {
    const target = parseTarget(request.target);
    // Switches asked since the last request were asked by the test, not by this one.
    context.behaviour.takeExercised();
    const at = context.now();
    const { answer, ...facts } = safely(answering, request, { target, at });
    journal.add({
      number: journal.nextNumber,
      at,
      method: request.method,
      path: redactKeys(target.path),
      keyId: facts.keyId,
      keyTransport: facts.keyTransport,
      status: answer.status,
      code: answer.code,
      why: answer.why,
      rate: facts.rate,
      quota: facts.quota,
      earlyByMs: facts.earlyByMs,
      switches: context.behaviour.takeExercised(),
    });
    return writeResponse(answer, request.method, dateHeader(at));
  };
}

function safely(answering: Answering, request: MockRequest, arrival: Arrival): Outcome {
  try {
    return answerRequest(answering, request, arrival);
  } catch (error) {
    return { answer: internalError(error) };
  }
}
