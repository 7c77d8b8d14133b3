import type { Grant } from '../limit-core.ts';
import type { LimiterSettings } from '../limiter-settings.ts';
import { LocalCore } from '../local-core.ts';
import { answeredBetween, endsCall, type Report, tell } from './report.ts';
import { type Holder, LEASE_MS, type SharedState } from './shared-state.ts';

export interface DraftParts {
  readonly settings: LimiterSettings;
  /** The name of this process among those that share. */
  readonly id: string;
  /** What the store was last seen to hold. */
  readonly known: SharedState | undefined;
  /** Calls of this process in flight, without those that `reports` end. */
  readonly open: number;
  /** What the store does not know yet, in its own time. */
  readonly reports: readonly Report[];
  /** Calls that this process wants to send. */
  readonly wanted: number;
  /** The store's time. */
  readonly now: number;
}

/** The next state that a process offers to the store, and what it may send once that is written. */
export interface Draft {
  readonly core: LocalCore;
  readonly state: SharedState;
  readonly grant: Grant;
  /** How many reports it has. */
  readonly reported: number;
  /** Whether there is anything to write. */
  readonly isNews: boolean;
}

/** Applies what this process has to report to what all know, and asks for what it wants to send. Pure. */
export function draftNext({ settings, id, known, open, reports, wanted, now: clockNow }: DraftParts): Draft {
  const since = known?.at ?? Number.NEGATIVE_INFINITY;
  const now = Math.max(clockNow, since);
  const holders = new Map(Object.entries(known?.holders ?? {}));
  // Each process bounds its own concurrency; all together are bounded by the limit alone.
  const core = new LocalCore({ ...settings, maxConcurrent: Number.POSITIVE_INFINITY }, known?.limit);
  // Nothing, but after an outage, or when this process itself was taken for dead.
  core.take(open + reports.filter(endsCall).length - (holders.get(id)?.inFlight ?? 0));
  const dead = [...holders].filter(([name, { seenAt }]) => name !== id && now - seenAt >= LEASE_MS);
  for (const [name, holder] of dead) {
    holders.delete(name);
    bury(core, holder, now);
  }
  for (const report of reports) tell(core, answeredBetween(report, since, now));
  const grant = core.acquire(now, wanted);
  holders.set(id, { inFlight: open + grant.n, seenAt: now });
  return {
    core,
    state: { at: now, limit: core.save(), holders: Object.fromEntries(holders) },
    grant,
    reported: reports.length,
    isNews: reports.length > 0 || grant.n > 0 || dead.length > 0,
  };
}

/** The service may have counted what a dead process had in flight. */
function bury(core: LocalCore, { inFlight, seenAt }: Holder, now: number): void {
  for (let call = 0; call < inFlight; call += 1) core.lost({ now, sentAt: seenAt, probe: false });
}
