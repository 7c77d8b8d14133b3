import type { AdapterName } from '../adapters/active-adapters.ts';
import { drawDelayMs } from '../delay.ts';
import type { MockResponse } from '../http/mock-message.ts';
import type { IdentifiedRequest } from '../http/respond.ts';
import { matchesPattern } from '../matching/request-pattern.ts';
import { MockServerError } from '../mock-server-error.ts';
import { chance } from '../service/random.ts';
import type { ServiceState } from '../service/service-state.ts';
import { type FaultRecord, faultKinds, type StruckSettings } from './fault-kinds.ts';

/**
 * The faults that strike a request at this point, in the order in which they were added, up to the first that ends the
 * request. Counts in one synchronous step, like the limits.
 */
export function selectFaults(
  state: Pick<ServiceState, 'faults' | 'seed'>,
  candidate: FaultCandidate,
  point: 'before' | 'after',
): readonly StruckSettings[] {
  if (state.faults.some((fault) => hasExpired(fault, candidate.request.at))) {
    state.faults = state.faults.filter((fault) => !hasExpired(fault, candidate.request.at));
  }
  const struck: StruckSettings[] = [];
  for (const fault of state.faults) {
    if (fault.settings.strikes !== point || !countMatch(fault, candidate, state)) continue;
    // The adapter was opened after the fault was added, so it could not be checked then.
    checkAdapterSupport(fault.settings, [candidate.adapter]);
    struck.push(drawnSettings(fault, candidate, state));
    if (endsRequest(fault)) break;
  }
  return struck;
}

/** Whether the fault ends the request: without a response, or with one that replaces the service's. */
function endsRequest({ settings }: FaultRecord): boolean {
  if (settings.strikes === 'before') return settings.kind !== 'latency';
  if (settings.kind === 'reset') return settings.afterBytes === undefined;
  return settings.kind === 'hang' || settings.kind === 'network-error' || settings.kind === 'garbage';
}

/** The draw depends on the requests of the same key only, like `probability`. */
function drawnSettings(
  { settings, matchedByKey, addedAt }: FaultRecord,
  { request: { keyId = '', at } }: FaultCandidate,
  { seed }: Pick<ServiceState, 'seed'>,
): StruckSettings {
  if (settings.kind === 'hang') {
    return { ...settings, hangMs: addedAt + (settings.forMs ?? Number.POSITIVE_INFINITY) - at };
  }
  if (settings.kind !== 'latency') return settings;
  const { id, latencyMs } = settings;
  return { ...settings, latencyMs: drawDelayMs(latencyMs, seed, id, keyId, matchedByKey.get(keyId) ?? 0) };
}

/** A request in front of a fault. */
interface FaultCandidate {
  /** Read when it arrives, or after the decision. */
  readonly request: IdentifiedRequest;
  readonly adapter: AdapterName;
  /** The response of the service; `undefined` before it. */
  readonly response: MockResponse | undefined;
}

/** Counts the request if the fault is for it, and returns whether the fault strikes. */
function countMatch(fault: FaultRecord, candidate: FaultCandidate, { seed }: Pick<ServiceState, 'seed'>): boolean {
  const { id, nth, times, probability = 1 } = fault.settings;
  if (!isFor(fault, candidate)) return false;
  const key = candidate.request.keyId ?? '';
  const ofKey = (fault.matchedByKey.get(key) ?? 0) + 1;
  fault.matchedByKey.set(key, ofKey);
  fault.matched += 1;
  if (nth !== undefined && ![nth].flat().includes(fault.matched)) return false;
  if (times !== undefined && fault.struck >= times) return false;
  if (chance(seed, id, key, ofKey) >= probability) return false;
  fault.struck += 1;
  return true;
}

/** A fault applies from `addedAt` until `addedAt + forMs`, exclusive. */
export function hasExpired({ settings, addedAt }: FaultRecord, at: number): boolean {
  return settings.forMs !== undefined && at >= addedAt + settings.forMs;
}

function isFor({ settings }: FaultRecord, { request, adapter, response }: FaultCandidate): boolean {
  const { match = {} } = settings;
  return (
    matchesPattern(match, request) &&
    (match.via === undefined || [match.via].flat().includes(adapter)) &&
    (match.status === undefined || match.status === response?.status) &&
    (settings.strikes === 'before' || hasTarget(settings.kind, response))
  );
}

function hasTarget(kind: FaultRecord['settings']['kind'], response: MockResponse | undefined): boolean {
  if (kind === 'retry-after') return response?.headers['retry-after'] !== undefined;
  if (kind === 'bad-json') return response !== undefined && response.body.length > 0;
  return true;
}

/**
 * Throws if an adapter in use cannot reproduce the fault as a real network does: an approximation would let wrong code
 * pass.
 */
export function checkAdapterSupport({ kind, match }: FaultRecord['settings'], inUse: readonly AdapterName[]): void {
  const { adapters, instead = '' } = faultKinds[kind];
  const wanted = match?.via === undefined ? inUse : [match.via].flat();
  const impossible = wanted.find((adapter) => !adapters.includes(adapter));
  if (impossible === undefined) return;
  const able = adapters.map((adapter) => `'${adapter}'`).join(', ');
  throw new MockServerError(
    `A ${kind} fault is not possible through ${NAMES[impossible]}. ${instead}; or add match: { via: [${able}] } to strike only requests of other adapters.`,
    { code: 'fault_not_possible' },
  );
}

const NAMES: Readonly<Record<AdapterName, string>> = {
  fetch: 'mock.fetch, which has no connection',
  msw: 'msw (mock.listen(), mock.handlers), which delivers complete responses only',
  socket: 'mock.serve()',
};
