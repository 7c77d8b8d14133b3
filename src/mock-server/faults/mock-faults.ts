import type { ActiveAdapters } from '../adapters/active-adapters.ts';
import { MockServerError } from '../mock-server-error.ts';
import type { ServiceContext, ServiceState } from '../service/service-state.ts';
import { checkAdapterSupport } from './check-adapter-support.ts';
import { checkedFault } from './check-fault.ts';
import type { Fault, FaultOptions, FaultRecord } from './fault.ts';
import { hasExpired } from './match-fault.ts';

/** Things that go wrong on purpose, as users add and remove them. */
export interface MockFaults {
  /**
   * Adds a fault, from the next request on. Of several, each that matches strikes, in the order they were added.
   * Throws `MockServerError`: `invalid_option`, `fault_exists` for an id that is taken, `fault_not_possible` when an adapter
   * that is in use cannot do it as a real network would.
   */
  add(fault: FaultOptions): Fault;
  /** Those that have not run out, oldest first. */
  list(): readonly Fault[];
  /** Throws `MockServerError` with code `not_found`. */
  remove(id: string): void;
  clear(): void;
}

export interface MockFaultsOptions {
  readonly context: ServiceContext;
  readonly operations: Readonly<Record<string, unknown>>;
  readonly adapters: ActiveAdapters;
}

export function createMockFaults({ context, operations, adapters }: MockFaultsOptions): MockFaults {
  // The state is replaced by `restore()` and `reset()`: never kept.
  const current = () => context.state.faults.filter((fault) => !hasExpired(fault, context.now()));
  return {
    add(options) {
      const { state } = context;
      const known = { operations: Object.keys(operations), isKey: (keyId: string) => state.keys.has(keyId) };
      const settings = checkedFault(options, options?.id ?? nextId(state), known);
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
