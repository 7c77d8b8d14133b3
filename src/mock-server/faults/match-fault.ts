import { type AdapterName, adapterNamesOf } from '../adapters/active-adapters.ts';
import type { RequestIdentity } from '../http/identify-request.ts';
import type { MockResponse } from '../http/mock-message.ts';
import { matchesPath } from '../path-pattern.ts';
import { chance } from '../service/random.ts';
import type { ServiceState } from '../service/service-state.ts';
import type { FaultRecord } from './fault.ts';

/** A request in front of a fault. */
export interface FaultCandidate {
  readonly request: RequestIdentity;
  readonly adapter: AdapterName;
  /** When it is looked at: on arrival, or right after the decision. */
  readonly at: number;
  /** What the service has answered; `undefined` before it has, or when it has broken off. */
  readonly response: MockResponse | undefined;
}

/** Whether the fault strikes; counts the request if it is one of those the fault is for. */
export function matchFault(
  fault: FaultRecord,
  candidate: FaultCandidate,
  { seed }: Pick<ServiceState, 'seed'>,
): boolean {
  const { id, nth, times, probability = 1 } = fault.settings;
  if (hasExpired(fault, candidate.at) || !isFor(fault, candidate)) return false;
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

/** Lives from the moment it is added on, up to but not including `addedAt + forMs`. */
export function hasExpired({ settings, addedAt }: FaultRecord, at: number): boolean {
  return settings.forMs !== undefined && at >= addedAt + settings.forMs;
}

function isFor({ settings }: FaultRecord, { request, adapter, response }: FaultCandidate): boolean {
  const { match = {} } = settings;
  return (
    SAME.every((name) => match[name] === undefined || match[name] === request[name]) &&
    (match.path === undefined || matchesPath(match.path, request.path)) &&
    (match.via === undefined || adapterNamesOf(match.via).includes(adapter)) &&
    (match.status === undefined || match.status === response?.status) &&
    (settings.strikes === 'before' || hasTarget(settings.kind, response))
  );
}

const SAME = ['operation', 'keyId', 'method'] as const;

function hasTarget(kind: FaultRecord['settings']['kind'], response: MockResponse | undefined): boolean {
  if (kind === 'retry-after') return response?.headers['retry-after'] !== undefined;
  if (kind === 'bad-json') return response !== undefined && response.body.length > 0;
  return true;
}
