import type { QuotaData } from '../../generated/types.ts';
import type { CancelSignal } from '../cancellation.ts';
import type { ClientEvents } from '../events.ts';
import type { KeySource } from '../keys/key-source.ts';
import { granularityMs } from '../quota/granularity.ts';
import type { KeyStates } from '../state/key-states.ts';

interface SnapshotAgeParts {
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly askQuota: () => Promise<QuotaData>;
}

/**
 * How long an answer is worth keeping: the plan's interval between snapshots, from the last quota record or from a
 * free question. 0, which keeps nothing, when the service cannot be asked or its text cannot be read.
 */
export function snapshotAge({
  keys,
  states,
  events,
  askQuota,
}: SnapshotAgeParts): (signal: CancelSignal) => Promise<number> {
  return async (signal) => {
    const { ledger } = states.of(await keys.current(signal));
    const quota = ledger.estimate()?.quota ?? (await askQuota().catch(() => undefined));
    if (quota === undefined) return 0;
    const ageMs = granularityMs(quota.snapshot_granularity);
    if (ageMs !== undefined) return ageMs;
    events.warnOnce(
      `cache: cannot read snapshot_granularity '${quota.snapshot_granularity}', so nothing is kept; give cache.maxAgeMs a number`,
    );
    return 0;
  };
}
