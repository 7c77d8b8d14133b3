import type { ClientEvents } from '../events.ts';
import { granularityMs } from '../quota/granularity.ts';
import type { RefreshQuota } from '../quota/refresh-quota.ts';
import type { KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';

/** The interval belongs to the plan, and plans seldom change. */
const PLAN_MS = 3_600_000;

export interface SnapshotAgeParts {
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly refreshQuota: RefreshQuota;
}

/**
 * How long an answer is worth keeping: the plan's interval between snapshots, from the last quota record or from a
 * free question. 0, which keeps nothing, when the service cannot be asked or its text cannot be read.
 */
export function snapshotAge({ states, events, refreshQuota }: SnapshotAgeParts) {
  return async (request: KeyedRequest): Promise<number> => {
    await refreshQuota(request, PLAN_MS);
    const quota = states.of(request.key).ledger.estimate()?.quota;
    if (quota === undefined) return 0;
    const ageMs = granularityMs(quota.snapshot_granularity);
    if (ageMs !== undefined) return ageMs;
    events.warnOnce(
      `cache: cannot read snapshot_granularity '${quota.snapshot_granularity}', so nothing is kept; give cache.maxAgeMs a number`,
    );
    return 0;
  };
}
