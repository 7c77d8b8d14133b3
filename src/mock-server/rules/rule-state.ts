import { emptyState, type ServiceContext, type ServiceState } from '../service/service-state.ts';
import type { FaultRecord } from './fault-kinds.ts';
import type { StubRecord } from './stub-schemas.ts';

/** The state of the service, and the faults and stubs of the test. */
export interface RuleState extends ServiceState {
  /** In the order they were added. */
  faults: readonly FaultRecord[];
  /** Of those that match a request, the last one applies. */
  stubs: readonly StubRecord[];
}

/** The context of a service whose responses a test changes. */
export interface RuleContext extends ServiceContext {
  readonly state: RuleState;
}

export function emptyRuleState(seed: number): RuleState {
  return { ...emptyState(seed), faults: [], stubs: [] };
}
