import { type AdapterName, adapterNamesOf } from '../adapters/active-adapters.ts';
import { MockServerError } from '../mock-server-error.ts';
import type { FaultRecord } from './fault.ts';
import { faultKinds } from './fault-kinds.ts';

/**
 * Throws when a fault is to strike through an adapter that cannot do it as a real network does: something like it would
 * let a test pass that the real thing breaks.
 */
export function checkAdapterSupport({ kind, match }: FaultRecord['settings'], inUse: readonly AdapterName[]): void {
  const { adapters, instead = '' } = faultKinds[kind];
  const wanted = match?.via === undefined ? inUse : adapterNamesOf(match.via);
  const impossible = wanted.find((adapter) => !adapters.includes(adapter));
  if (impossible === undefined) return;
  const able = adapters.map((adapter) => `'${adapter}'`).join(', ');
  throw new MockServerError(
    `A ${kind} fault cannot be had through ${NAMES[impossible]}. ${instead}; or add match: { via: [${able}] } for requests that come by another adapter.`,
    { code: 'fault_not_possible' },
  );
}

const NAMES: Readonly<Record<AdapterName, string>> = {
  fetch: 'mock.fetch, which has no connection',
  msw: 'msw (mock.listen(), mock.handlers), which hands over whole answers',
  undici: 'the undici dispatcher (mock.listen(), mock.dispatcher), which has no connection',
  socket: 'mock.serve()',
};
