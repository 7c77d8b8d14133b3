import { isJsonObject } from '../../json.ts';
import type { AdapterName } from '../adapters/active-adapters.ts';
import { drawDelayMs } from '../delay.ts';
import type { MockResponse } from '../http/mock-message.ts';
import type { IdentifiedRequest } from '../http/respond.ts';
import { STATUSES_WITHOUT_BODY } from '../http/responses.ts';
import { checkedInput } from '../matching/checked-input.ts';
import { checkKeyId, matchesPattern } from '../matching/request-pattern.ts';
import type { MockCore } from '../mock-core.ts';
import { freeName, invalidOption, MockServerError, withId, within } from '../mock-server-error.ts';
import { chance } from '../service/random.ts';
import type { ServiceState } from '../service/service-state.ts';
import {
  FAULT_KINDS,
  type Fault,
  type FaultOptions,
  type FaultRecord,
  faultKinds,
  type StruckFault,
} from './fault-kinds.ts';

/** Adds and removes faults: failures that the test defines. */
export interface MockFaults {
  /**
   * Adds a fault that applies from the next request on. If several faults match a request, all strike it, in the order in
   * which they were added.
   * @throws MockServerError with code `invalid_option`; `fault_not_possible`, if an adapter in use cannot reproduce the
   * fault.
   * @example mock.faults.add({ kind: 'status', status: 503, times: 2 })
   */
  add(fault: FaultOptions): Fault;
  /** Returns the faults that have not expired, oldest first. */
  list(): readonly Fault[];
  /**
   * Returns a fault that has not expired.
   * @throws MockServerError with code `not_found`.
   */
  get(id: string): Fault;
  /**
   * Removes a fault. When a `hang` fault is removed or expires, the requests that it blocks end without a response.
   * @throws MockServerError with code `not_found`.
   */
  remove(id: string): void;
  /** Removes all faults, as `remove()` does. */
  clear(): void;
}

export function createMockFaults({ state, now, adapters, delays }: MockCore): MockFaults {
  const current = () => unexpired(state.faults, now());
  const find = (id: string) => {
    const among = new Map(current().map((fault) => [fault.settings.id, fault]));
    return withId('fault', id, { among, otherwise: 'has expired' });
  };
  return {
    add(options) {
      const settings = checkedFault(options, state);
      checkAdapterSupport(settings, adapters.inUse);
      const fault = { settings, addedAt: now(), matched: 0, struck: 0, matchedByKey: {} };
      const others = current().filter((other) => other.settings.id !== settings.id);
      delays.endHangsOf(settings.id);
      state.faults = [...others, fault];
      state.lastFault += 1;
      return toFault(fault);
    },
    list: () => current().map(toFault),
    get: (id) => toFault(find(id)),
    remove(id) {
      const removed = find(id);
      state.faults = current().filter((fault) => fault !== removed);
      delays.endHangsOf(id);
    },
    clear() {
      for (const { settings } of state.faults) delays.endHangsOf(settings.id);
      state.faults = [];
    },
  };
}

/** A copy of the settings with their defaults, without what `toFault` added. Throws for an invalid one. */
function checkedFault(given: FaultOptions, state: ServiceState): FaultRecord['settings'] {
  if (!isJsonObject(given)) throw invalidOption('fault', given, 'an object with a kind');
  const read = given as FaultOptions & Partial<Fault>; // may be one that was read
  const { addedAt: _, matched: __, struck: ___, ...options } = read;
  const { kind, match, strikes = 'after' } = options;
  if (!FAULT_KINDS.includes(kind)) throw invalidOption('kind', kind, `one of ${FAULT_KINDS.join(', ')}`);
  const what = `a setting of a ${kind} fault`;
  const data = checkedInput(faultKinds[kind].options, options, { what });
  checkBody(options);
  checkStrikes(options);
  within('match', () => checkKeyId(match ?? {}, state.keys));
  return { ...data, id: options.id ?? nextId(state), strikes } as FaultRecord['settings'];
}

function checkBody(options: FaultOptions): void {
  if (options.kind !== 'status') return;
  if (options.body !== undefined && options.code !== undefined) {
    throw invalidOption('code', options.code, 'either code or body, because the code is part of the body');
  }
  if ((options.body ?? '') === '' || !STATUSES_WITHOUT_BODY.has(options.status)) return;
  throw invalidOption('body', options.body, `no body, because a response with status ${options.status} has none`);
}

/** What the kinds and their settings alone cannot say. */
function checkStrikes(options: FaultOptions): void {
  const { kind, strikes, match } = options;
  if (strikes !== 'before') return;
  if (!faultKinds[kind].canStrikeBefore) {
    throw invalidOption('strikes', strikes, `'after', because a ${kind} fault changes a response`);
  }
  if (match?.status !== undefined) {
    throw invalidOption(
      'match.status',
      match.status,
      "no status with strikes: 'before', because the service has not responded yet",
    );
  }
  if (kind === 'reset' && options.afterBytes !== undefined) {
    throw invalidOption(
      'afterBytes',
      options.afterBytes,
      "no afterBytes with strikes: 'before', because the service has not responded yet",
    );
  }
}

function nextId({ lastFault, faults }: ServiceState): string {
  return freeName('fault', lastFault + 1, (name) => faults.some(({ settings }) => settings.id === name));
}

function toFault({ settings, addedAt, matched, struck }: FaultRecord): Fault {
  return { ...structuredClone(settings), addedAt, matched, struck };
}

/**
 * The faults that strike a request at this point, in the order in which they were added, up to the first that ends the
 * request. Counts in one synchronous step, like the limits.
 */
export function selectFaults(
  state: Pick<ServiceState, 'faults' | 'seed'>,
  candidate: FaultCandidate,
  point: 'before' | 'after',
): readonly StruckFault[] {
  state.faults = unexpired(state.faults, candidate.request.at);
  const struck: StruckFault[] = [];
  for (const fault of state.faults) {
    if (fault.settings.strikes !== point || !countMatch(fault, candidate, state)) continue;
    // The adapter was opened after the fault was added, so it could not be checked then.
    checkAdapterSupport(fault.settings, [candidate.adapter]);
    struck.push({ settings: fault.settings, waitMs: waitOf(fault, candidate, state) });
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
function waitOf(
  { settings, matchedByKey, addedAt }: FaultRecord,
  { request: { keyId = '', at } }: FaultCandidate,
  { seed }: Pick<ServiceState, 'seed'>,
): number {
  if (settings.kind === 'hang') return addedAt + (settings.forMs ?? Number.POSITIVE_INFINITY) - at;
  if (settings.kind !== 'latency') return 0;
  return drawDelayMs(settings.latencyMs, seed, settings.id, keyId, matchedByKey[keyId] ?? 0);
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
  const ofKey = (fault.matchedByKey[key] ?? 0) + 1;
  fault.matchedByKey[key] = ofKey;
  fault.matched += 1;
  if (nth !== undefined && ![nth].flat().includes(fault.matched)) return false;
  if (times !== undefined && fault.struck >= times) return false;
  if (chance(seed, id, key, ofKey) >= probability) return false;
  fault.struck += 1;
  return true;
}

/** A fault applies from `addedAt` until `addedAt + forMs`, exclusive. */
function unexpired(faults: readonly FaultRecord[], at: number): readonly FaultRecord[] {
  return faults.filter(({ settings: { forMs }, addedAt }) => forMs === undefined || at < addedAt + forMs);
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
