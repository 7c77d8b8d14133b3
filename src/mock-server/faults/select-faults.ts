import type { ServiceState } from '../service/service-state.ts';
import { checkAdapterSupport } from './check-adapter-support.ts';
import type { FaultRecord } from './fault.ts';
import { type FaultCandidate, hasExpired, matchFault } from './match-fault.ts';

/**
 * The faults that strike a request at this point, in the order they were added, up to the first that  nothing
 * for another to change. Counts in one synchronous step, like the limits.
 */
export function selectFaults(
  state: Pick<ServiceState, 'faults' | 'seed'>,
  candidate: FaultCandidate,
  point: 'before' | 'after',
): readonly FaultRecord[] {
  if (state.faults.some((fault) => hasExpired(fault, candidate.at))) {
    state.faults = state.faults.filter((fault) => !hasExpired(fault, candidate.at));
  }
  const struck: FaultRecord[] = [];
  for (const fault of state.faults) {
    if (fault.settings.strikes !== point || !matchFault(fault, candidate, state)) continue;
    // Opened after the fault was added: told now rather than never.
    checkAdapterSupport(fault.settings, [candidate.adapter]);
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
