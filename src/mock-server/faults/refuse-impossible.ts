import { MockServerError } from '../mock-server-error.ts';
import type { FaultRecord } from './fault.ts';
import { faultKinds } from './fault-kinds.ts';
import { type Way, waysOf } from './ways-in.ts';

/**
 * Throws when a fault is to strike through a way in that cannot do it as a real network does: something like it would
 * let a test pass that the real thing breaks.
 */
export function refuseImpossible({ kind, match }: FaultRecord['settings'], inUse: readonly Way[]): void {
  const { ways, instead = '' } = faultKinds[kind];
  const wanted = match?.via === undefined ? inUse : waysOf(match.via);
  const impossible = wanted.find((way) => !ways.includes(way));
  if (impossible === undefined) return;
  const able = ways.map((way) => `'${way}'`).join(', ');
  throw new MockServerError(
    `A ${kind} fault cannot be had through ${NAMES[impossible]}. ${instead}; or add match: { via: [${able}] } for requests that come in another way.`,
    { code: 'fault_not_possible' },
  );
}

const NAMES: Readonly<Record<Way, string>> = {
  fetch: 'mock.fetch, which has no connection',
  msw: 'msw (mock.listen(), mock.handlers), which hands over whole answers',
  undici: 'the undici dispatcher (mock.listen(), mock.dispatcher), which has no connection',
  socket: 'mock.serve()',
};
