import type { ServiceState } from '../service/service-state.ts';
import type { FaultRecord } from './fault.ts';
import { refuseImpossible } from './refuse-impossible.ts';
import { type Candidate, hasEnded, strikes } from './strikes.ts';

/**
 * The faults that strike a request at this point, in the order they were added, up to the first that leaves nothing
 * for another to spoil. Counts in one synchronous step, like the limits.
 */
export function takeStrikes(
  state: Pick<ServiceState, 'faults' | 'seed'>,
  candidate: Candidate,
  point: 'before' | 'after',
): readonly FaultRecord[] {
  if (state.faults.some((fault) => hasEnded(fault, candidate.at))) {
    state.faults = state.faults.filter((fault) => !hasEnded(fault, candidate.at));
  }
  const struck: FaultRecord[] = [];
  for (const fault of state.faults) {
    if (fault.settings.strikes !== point || !strikes(fault, candidate, state)) continue;
    // Opened after the fault was added: told now rather than never.
    refuseImpossible(fault.settings, [candidate.adapter]);
    struck.push(fault);
    if (endsRequest(fault)) break;
  }
  return struck;
}

/** Whether the request ends here: with no answer, or in front of the service with any other. */
function endsRequest({ settings }: FaultRecord): boolean {
  if (settings.strikes === 'before') return settings.kind !== 'latency';
  if (settings.kind === 'reset') return settings.afterBytes === undefined;
  return settings.kind === 'hang' || settings.kind === 'network-error' || settings.kind === 'garbage';
}
