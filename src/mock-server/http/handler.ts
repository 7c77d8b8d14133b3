import type { Operation } from '../../generated/operations.ts';
import type { CheckAssumptions } from '../behaviour/assumptions.ts';
import type { JournalDraft } from '../journal/journal-entry.ts';
import { redactKeys } from '../redact-keys.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { answerRequest, type DecidedResponse, type Emulation, type RoutedRequest } from './answer-request.ts';
import { exampleResponder } from './example-responder.ts';
import { hasKeyInUrl } from './key-in-url.ts';
import type { MockRequest, MockResponse } from './mock-message.ts';
import { internalError } from './refusals.ts';
import type { Responder } from './responder.ts';
import { createRouter, parseTarget } from './router.ts';
import { createDateHeader, writeResponse } from './write-response.ts';

export interface ServiceHandlerOptions {
  readonly context: ServiceContext;
  /** Has the last word about an answer. */
  readonly checkAssumptions?: CheckAssumptions | undefined;
  readonly operations: Readonly<Record<string, Operation>>;
  /** By operation id; the other operations answer their example. */
  readonly responders: Readonly<Record<string, Responder>>;
}

/** The emulated service: answers one request, synchronously, and says why. */
export type ServiceHandler = (request: MockRequest) => HandledRequest;

/** An answer, and what the journal says of it. */
export interface HandledRequest {
  /** `undefined`: the connection breaks off without an answer. */
  readonly response: MockResponse | undefined;
  /** `undefined` for what the journal has nothing to do with, such as the dashboard. */
  readonly entry: JournalDraft | undefined;
  /** Milliseconds of the mock's clock until the answer goes out, infinity for never. Default: 0. */
  readonly waitMs?: number | undefined;
}

export function createServiceHandler({
  context,
  checkAssumptions,
  operations,
  responders,
}: ServiceHandlerOptions): ServiceHandler {
  const dateHeader = createDateHeader();
  const findRoute = createRouter(operations);
  const emulation: Emulation = {
    context,
    responderOf: (operation) => responders[operation.id] ?? exampleResponder,
  };
  return (request) => {
    const { method } = request;
    const target = parseTarget(request.target);
    const route = findRoute(method, target.path);
    // Switches asked since the last request were asked by the test, not by this one.
    context.behaviour.takeExercised();
    const at = context.now();
    const { answer: answered, ...facts } = safely(emulation, request, { target, route, at });
    const switches = context.behaviour.takeExercised();
    const answer = checkAssumptions?.(answered, switches) ?? answered;
    const entry: JournalDraft = {
      at,
      method,
      path: redactKeys(target.path),
      operation: route.kind === 'unknown' ? undefined : route.operation.id,
      isUnknownRoute: route.kind === 'unknown',
      keyId: facts.keyId,
      keyTransport: facts.keyTransport,
      hasKeyInUrl: hasKeyInUrl(request.target),
      status: answer.status,
      code: answer.code,
      why: answer.why,
      rate: facts.rate,
      quota: facts.quota,
      earlyByMs: facts.earlyByMs,
      switches,
      faults: [],
    };
    return { response: writeResponse(answer, method, dateHeader(at)), entry };
  };
}

function safely(emulation: Emulation, request: MockRequest, routed: RoutedRequest): DecidedResponse {
  try {
    return answerRequest(emulation, request, routed);
  } catch (error) {
    return { answer: internalError(error) };
  }
}
