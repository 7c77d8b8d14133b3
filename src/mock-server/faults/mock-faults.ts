import type { ActiveAdapters } from '../adapters/active-adapters.ts';
import { checkedInput } from '../matching/checked-input.ts';
import { plainPattern } from '../matching/request-pattern.ts';
import { invalidOption, MockServerError } from '../mock-server-error.ts';
import type { ServiceContext, ServiceState } from '../service/service-state.ts';
import { FAULT_KINDS, type Fault, type FaultOptions, type FaultRecord, faultKinds, faultMatch } from './fault-kinds.ts';
import { checkAdapterSupport, hasExpired } from './select-faults.ts';

/** Things that go wrong on purpose, as users add and remove them. */
export interface MockFaults {
  /**
   * Adds a fault, from the next request on. Of several, each that matches strikes, in the order they were added.
   * Throws `MockServerError`: `invalid_option`, `fault_exists` for an id that is taken, `fault_not_possible` when an
   * adapter that is in use cannot do it as a real network would.
   */
  add(fault: FaultOptions): Fault;
  /** Those that have not run out, oldest first. */
  list(): readonly Fault[];
  /** Throws `MockServerError` with code `not_found`. */
  remove(id: string): void;
  clear(): void;
}

export function createMockFaults(context: ServiceContext, adapters: ActiveAdapters): MockFaults {
  // The state is replaced by `restore()` and `reset()`: never kept.
  const current = () => context.state.faults.filter((fault) => !hasExpired(fault, context.now()));
  return {
    add(options) {
      const { state } = context;
      const settings = checkedFault(options, state);
      if (current().some((fault) => fault.settings.id === settings.id)) throw exists(settings.id);
      checkAdapterSupport(settings, adapters.inUse);
      const fault = { settings, addedAt: context.now(), matched: 0, struck: 0, matchedByKey: new Map() };
      state.faults = [...current(), fault];
      state.lastFault += 1;
      return toFault(fault);
    },
    list: () => current().map(toFault),
    remove(id) {
      if (!current().some(({ settings }) => settings.id === id)) throw notFound(id);
      context.state.faults = current().filter(({ settings }) => settings.id !== id);
    },
    clear() {
      context.state.faults = [];
    },
  };
}

/** The settings with their defaults, a copy. Throws for what cannot be, and names it. */
function checkedFault(options: FaultOptions, state: ServiceState): FaultRecord['settings'] {
  if (typeof options !== 'object' || options === null) throw invalidOption('fault', options, 'an object with a kind');
  const { kind, match, strikes = 'after' } = options;
  if (!FAULT_KINDS.includes(kind)) throw invalidOption('kind', kind, `one of ${FAULT_KINDS.join(', ')}`);
  const what = `a setting of a ${kind} fault`;
  const nested = { match: faultMatch };
  const data = checkedInput(faultKinds[kind].options, plainPattern(options), { place: '', what, nested });
  checkStrikes(options);
  if (match?.keyId !== undefined && !state.keys.has(match.keyId)) {
    throw invalidOption('match.keyId', match.keyId, 'the id of a key of this mock, as mock.createKey() gives it');
  }
  return { ...data, id: options.id ?? nextId(state), strikes } as FaultRecord['settings'];
}

/** What the kinds and their settings alone cannot say. */
function checkStrikes(options: FaultOptions): void {
  const { kind, strikes, match } = options;
  if (strikes !== 'before') return;
  if (!faultKinds[kind].canStrikeBefore) {
    throw invalidOption('strikes', strikes, `'after': there is no answer yet that ${kind} could change`);
  }
  if (match?.status !== undefined) {
    throw invalidOption('match.status', match.status, "strikes: 'after', when there is a status to match");
  }
  if (kind === 'reset' && options.afterBytes !== undefined) {
    throw invalidOption('afterBytes', options.afterBytes, "strikes: 'after', when there is an answer to cut");
  }
}

function nextId({ lastFault, faults }: ServiceState): string {
  let number = lastFault + 1;
  while (faults.some(({ settings }) => settings.id === `fault_${number}`)) number += 1;
  return `fault_${number}`;
}

function toFault({ settings, addedAt, matched, struck }: FaultRecord): Fault {
  return { ...structuredClone(settings), addedAt, matched, struck };
}

function exists(id: string): MockServerError {
  return new MockServerError(`There is a fault ${id} already; remove it first, or choose another id.`, {
    code: 'fault_exists',
  });
}

function notFound(id: string): MockServerError {
  return new MockServerError(`There is no fault ${id}; it may have run out.`, { code: 'not_found', status: 404 });
}
