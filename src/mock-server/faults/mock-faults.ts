import { isJsonObject } from '../../json-object.ts';
import type { ActiveAdapters } from '../adapters/active-adapters.ts';
import { STATUSES_WITHOUT_BODY } from '../http/responses.ts';
import { checkedInput } from '../matching/checked-input.ts';
import { checkKeyId, plainPattern } from '../matching/request-pattern.ts';
import { freeName, invalidOption, unknownId } from '../mock-server-error.ts';
import type { ResponseDelays } from '../response-delays.ts';
import type { ServiceContext, ServiceState } from '../service/service-state.ts';
import { FAULT_KINDS, type Fault, type FaultOptions, type FaultRecord, faultKinds } from './fault-kinds.ts';
import { checkAdapterSupport, hasExpired } from './select-faults.ts';

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

/** The mock or space of the faults. */
interface FaultsOwner extends ServiceContext {
  readonly adapters: ActiveAdapters;
  readonly delays: ResponseDelays;
}

export function createMockFaults({ state, now, adapters, delays }: FaultsOwner): MockFaults {
  const current = () => state.faults.filter((fault) => !hasExpired(fault, now()));
  const find = (id: string) => {
    const found = current().find(({ settings }) => settings.id === id);
    if (found !== undefined) return found;
    throw unknownId('fault', id, { known: current().map(({ settings }) => settings.id), otherwise: 'has expired' });
  };
  return {
    add(options) {
      const settings = checkedFault(options, state);
      checkAdapterSupport(settings, adapters.inUse);
      const fault = { settings, addedAt: now(), matched: 0, struck: 0, matchedByKey: new Map() };
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
  const data = checkedInput(faultKinds[kind].options, plainPattern(options), { place: '', what });
  checkBody(options);
  checkStrikes(options);
  checkKeyId(match ?? {}, { place: 'match.', knowsKey: (id) => state.keys.has(id) });
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
