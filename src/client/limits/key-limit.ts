import { applyReport, configured, type Report, type RetryAfterReading, readRetryAfter } from './limit-rules.ts';
import { initialState, type LimiterSettings, type LimiterState } from './limit-state.ts';
import type { Priority } from './request-queue.ts';
import { expectedSlotAt, type Grant, grant, isLimitWanted, reserveOf, slotAt } from './slots.ts';

/** The calls of this process that wait for a slot. */
export interface Demand {
  /** Those that it can send now. */
  readonly wanted: number;
  /** How many of these have low priority. */
  readonly low: number;
  /** All of them. */
  readonly queued: number;
  /** The earliest of their deadlines; Infinity for none. */
  readonly deadlineAt: number;
}

/** Which slot of a call to estimate. */
export interface SlotOptions {
  /** By the most optimistic kind of window (the default), or if nothing new is learned. */
  readonly estimate?: typeof slotAt;
  readonly priority?: Priority | undefined;
}

/** The limit of one key, without timer or queue. All times are dated times of `SteadyTime`. */
export interface Limit {
  readonly state: LimiterState;
  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  slotAt(now: number, ahead: number, options: SlotOptions): number;
  grant(now: number, demand: Demand): Grant;
  /** Returns the meaning of the Retry-After of a refusal. */
  report(report: Report): RetryAfterReading | undefined;
  /** Whether this process must call `quota()` for the limit. `waiting`: the number of its waiting calls. */
  isWanted(now: number, waiting: number): boolean;
}

/** The limit of one process. */
export class LocalLimit implements Limit {
  readonly settings: LimiterSettings;
  state: LimiterState;

  constructor(settings: LimiterSettings) {
    this.settings = settings;
    this.state = startingState(settings);
  }

  slotAt(now: number, ahead: number, { estimate = slotAt, priority }: SlotOptions): number {
    // Like a call behind those that may come, which makes no test of the window.
    const reserve = priority === 'low' ? reserveOf(this.state, now) : 0;
    const slotOf = reserve > 0 ? expectedSlotAt : estimate;
    return slotOf(this.state, now, ahead + reserve);
  }

  grant(now: number, { wanted, low }: Pick<Demand, 'wanted' | 'low'>): Grant {
    const granted = grant(this.state, { now, wanted, low });
    this.state = granted.state;
    return granted.grant;
  }

  report(report: Report): RetryAfterReading | undefined {
    this.state = applyReport(this.state, report, this.settings);
    if (report.kind !== 'refused') return undefined;
    return readRetryAfter(this.state.unit, report.retryAfter, this.settings.retryAfterUnit);
  }

  isWanted(now: number, waiting: number): boolean {
    return isLimitWanted(this.state, { now, waiting });
  }
}

/** The state of a process that starts. The option of this process overrides the limit that another one has stored. */
export function startingState({ perMinute }: LimiterSettings, stored?: LimiterState): LimiterState {
  const isCap = perMinute !== 'learn';
  if (stored === undefined) return initialState(isCap ? perMinute : Number.POSITIVE_INFINITY, isCap);
  const known = isCap ? configured({ ...stored, isCap: false }, perMinute, stored.configuredAt) : stored;
  return known.isCap === isCap ? known : { ...known, isCap };
}
