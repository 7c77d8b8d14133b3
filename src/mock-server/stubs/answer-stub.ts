import type { ServiceResponse } from '../http/service-response.ts';
import { answerRecorded, type RecordedAnswers } from '../rates/replay.ts';
import type { StubAnswer, StubRecord, StubSource } from './stub-record.ts';

/** The answer of a stub to a request that is within both limits; counts it. */
export function answerStub(
  stub: StubRecord,
  source: Exclude<StubSource, { readonly kind: 'function' }>,
  query: URLSearchParams,
): ServiceResponse {
  const { id, served } = stub;
  stub.served += 1;
  if (source.kind === 'replay') {
    return { ...answerRecorded(recordedIn(source.recorded), query), stub: id };
  }
  const answer = source.answers[Math.min(served, source.answers.length - 1)];
  if (answer === undefined) throw new Error(`Stub ${id} has no answer.`);
  return { ...fromAnswer(answer), why: `answered by stub ${id}`, stub: id };
}

function recordedIn(recorded: Readonly<Record<string, StubAnswer>>): RecordedAnswers {
  return {
    get(query) {
      const answer = Object.hasOwn(recorded, query) ? recorded[query] : undefined;
      return answer === undefined ? undefined : fromAnswer(answer);
    },
    keys: () => Object.keys(recorded).values(),
  };
}

function fromAnswer({ code, ...answer }: StubAnswer): ServiceResponse {
  return { ...answer, code: code ?? undefined, why: 'served' };
}
