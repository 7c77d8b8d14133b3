import type { PlanName } from '../../generated/service.ts';
import { type Delay, drawDelayMs } from '../delay.ts';
import type { ServiceResponse } from '../http/service-response.ts';
import { nearMisses } from '../matching/near-misses.ts';
import { differences, type MatchedRequest, matchesPattern, type RequestPattern } from '../matching/request-pattern.ts';
import type { InventedData } from '../rates/invented-latest.ts';
import { type RecordedResponses, recordedResponseTo } from '../rates/replay.ts';

/** Returns the `data` of `latest` for a request within both limits. It must not be async; a promise causes a 500. */
export type LatestFunction = (query: URLSearchParams, context: LatestContext) => object;

/** The request for which a `latest` function returns data. */
export interface LatestContext {
  /** Time of the request, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Id of the key. */
  readonly keyId: string;
  /** Plan of the key's account. */
  readonly plan: PlanName;
  /** Returns the invented data that the mock would return otherwise. */
  invented(): InventedData;
}

/** A response of a stub, as it is sent. */
export interface SentResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers by name in lower case; an array for `set-cookie`. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The complete body. */
  readonly body: string;
  /** Delay of the response by the mock's clock; `undefined` for none. */
  readonly delayMs?: Delay | undefined;
}

/** A response of a stub as the mock keeps it. */
export interface StubbedResponse extends Omit<SentResponse, 'headers'> {
  /** Without `set-cookie`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Value of each `set-cookie` header. */
  readonly cookies?: readonly string[] | undefined;
  /** `error.code` of the response, for the journal; `null` if it has none. */
  readonly code: string | null;
}

/** Where the responses of a stub come from. */
export type StubSource =
  /** One per request; the last one stays. */
  | { readonly kind: 'responses'; readonly responses: readonly StubbedResponse[] }
  /** By query, as recorded. */
  | { readonly kind: 'replay'; readonly recorded: Readonly<Record<string, StubbedResponse>> }
  /** Not in a snapshot. */
  | { readonly kind: 'function'; readonly latest: LatestFunction };

/** A stub as the mock keeps it. */
export interface StubRecord {
  readonly id: string;
  /** A plain pattern. */
  readonly match: RequestPattern;
  /** How many requests it applies to; `null` for all. */
  readonly times: number | null;
  /** Of several stubs for a request, the one with the highest number applies. */
  readonly priority: number;
  readonly source: StubSource;
  /** How many requests it has been applied to. */
  served: number;
}

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
  { query, seed }: { readonly query: URLSearchParams; readonly seed: number },
): ServiceResponse {
  const { id, served } = stub;
  stub.served += 1;
  if (source.kind === 'replay') {
    return { ...recordedResponseTo(recordedIn(source.recorded), query), stub: id };
  }
  const response = source.responses[Math.min(served, source.responses.length - 1)];
  if (response === undefined) throw new Error(`Stub ${id} has no response.`);
  const delayMs = drawDelayMs(response.delayMs ?? 0, seed, id, served);
  const why = `response of stub ${id}${delayMs === 0 ? '' : `, ${delayMs} ms late`}`;
  return { ...toServiceResponse(response), delayMs, why, stub: id };
}

function recordedIn(recorded: Readonly<Record<string, StubbedResponse>>): RecordedResponses {
  return {
    get(query) {
      const response = Object.hasOwn(recorded, query) ? recorded[query] : undefined;
      return response === undefined ? undefined : toServiceResponse(response);
    },
    keys: () => Object.keys(recorded).values(),
  };
}

function toServiceResponse({ code, delayMs: _, ...response }: StubbedResponse): ServiceResponse {
  return { ...response, code: code ?? undefined, why: 'served' };
}
