import { drawDelayMs } from '../delay.ts';
import type { MockResponse } from '../http/mock-message.ts';
import { type ParsedRequest, parametersOf } from '../http/parse-request.ts';
import { differences, type MatchedRequest, matchesPattern, nearMisses } from '../matching/request-pattern.ts';
import { recordedResponseTo } from './replay.ts';
import type { StubRecord, StubSource } from './stub-schemas.ts';

/** The stub for a request. Stubs of `mock.latest` are last; of the others with the highest priority, the last one added. */
export function findStub(stubs: readonly StubRecord[], request: MatchedRequest): StubRecord | undefined {
  return stubs.findLast(
    (stub) =>
      isActive(stub) && (stub.match.method !== undefined || isRead(request)) && matchesPattern(stub.match, request),
  );
}

/** How a request for an unknown path differs from stubs that nearly match it, a sentence for each. */
export function nearStubs(stubs: readonly StubRecord[], request: MatchedRequest): readonly string[] {
  const candidates = stubs.filter((stub) => isActive(stub) && stub.match.operation === undefined);
  const close = nearMisses(candidates, ({ match }) => {
    const pattern = isRead(request) ? match : { method: 'GET', ...match };
    return { pattern, differences: differences(pattern, request) };
  });
  return close.map(({ candidate, text }) => `${candidate.id} ${text}.`);
}

function isActive({ times, served }: StubRecord): boolean {
  return times === null || served < times;
}

function isRead({ method }: MatchedRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The stubs with one more, in place of an older one of the same id. */
export function withStub(stubs: readonly StubRecord[], added: StubRecord): readonly StubRecord[] {
  const others = stubs.filter(({ id }) => id !== added.id);
  const isAbove = (stub: StubRecord) =>
    rankOf(stub) === rankOf(added) ? stub.priority > added.priority : rankOf(stub) > rankOf(added);
  return [...others.filter((stub) => !isAbove(stub)), added, ...others.filter(isAbove)];
}

/** The stub of `mock.latest` for every query. */
const LATEST_STUB = 'latest';

/** The id of the stub of `mock.latest` for one base. */
export function latestStubId(base: string | undefined): string {
  return base === undefined ? LATEST_STUB : `${LATEST_STUB}.${base}`;
}

/** Stubs for fewer requests precede those for more. */
function rankOf({ id }: StubRecord): number {
  if (id === LATEST_STUB) return 0;
  return id.startsWith(`${LATEST_STUB}.`) ? 1 : 2;
}

/** The response of a stub to a request that is within both limits; counts it. */
export function stubResponse(
  stub: StubRecord,
  source: Exclude<StubSource, { readonly kind: 'function' }>,
  { request, seed }: { readonly request: ParsedRequest; readonly seed: number },
): MockResponse {
  const { id, served } = stub;
  stub.served += 1;
  if (source.kind === 'replay') return { ...recordedResponseTo(source.recorded, parametersOf(request)), stub: id };
  const response = source.responses[Math.min(served, source.responses.length - 1)];
  if (response === undefined) throw new Error(`Stub ${id} has no response.`);
  const delayMs = drawDelayMs(response.delayMs ?? 0, seed, id, served);
  const why = `response of stub ${id}${delayMs === 0 ? '' : `, ${delayMs} ms late`}`;
  return { ...response, code: response.code ?? undefined, delayMs, why, stub: id };
}
