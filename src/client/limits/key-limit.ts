import { applyReport, configured, type Report, type RetryAfterReading, readRetryAfter } from './limit-rules.ts';
import { closedUntil, initialState, type LimiterSettings, type LimiterState } from './limit-state.ts';
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

/**
 * The limit of one key, without timer or queue: the current state, and the functions that change it. All times are those of
 * the limiter's clock, except in `state`.
 */
export class Limit {
  readonly settings: LimiterSettings;
  state: LimiterState;

  constructor(settings: LimiterSettings) {
    this.settings = settings;
    this.state = startingState(settings);
  }

  /** Milliseconds by which the clock of `state` is ahead of the limiter's own. */
  protected get aheadMs(): number {
    return 0;
  }

  /** Whether `grant` can respond with a slot now. */
  get grantsNow(): boolean {
    return true;
  }

  /** The time until which a refusal holds back all calls. */
  get closedUntil(): number {
    return closedUntil(this.state) - this.aheadMs;
  }

  /** The time until which nothing is sent, because of a wait longer than `maxRetryAfterMs`. */
  get blockedUntil(): number {
    return this.state.blockedUntil - this.aheadMs;
  }

  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  slotAt(now: number, ahead: number, { estimate = slotAt, priority }: SlotOptions): number {
    const { state, aheadMs } = this;
    // Like a call behind those that may come, which makes no test of the window.
    const reserve = priority === 'low' ? reserveOf(state, now + aheadMs) : 0;
    const slotOf = reserve > 0 ? expectedSlotAt : estimate;
    return slotOf(state, now + aheadMs, ahead + reserve) - aheadMs;
  }

  grant(now: number, { wanted, low }: Demand): Grant {
    const { aheadMs } = this;
    const granted = grant(this.state, { now: now + aheadMs, wanted, low });
    this.state = granted.state;
    const { count, askAgainAt } = granted.grant;
    return { count, askAgainAt: askAgainAt && askAgainAt - aheadMs };
  }

  /** Returns the meaning of the Retry-After of a refusal. */
  report(report: Report): RetryAfterReading | undefined {
    this.state = applyReport(this.state, shiftReport(report, this.aheadMs), this.settings);
    if (report.kind !== 'refused') return undefined;
    return readRetryAfter(this.state.unit, report.retryAfter, this.settings.retryAfterUnit);
  }

  /** Whether this process must call `quota()` for the limit. `waiting`: the number of its waiting calls. */
  isWanted(now: number, waiting: number): boolean {
    return isLimitWanted(this.state, { now: now + this.aheadMs, waiting });
  }
}

/** The report with its times in a clock that is `byMs` ahead. */
export function shiftReport(report: Report, byMs: number): Report {
  const now = report.now + byMs;
  return 'sentAt' in report ? { ...report, now, sentAt: report.sentAt + byMs } : { ...report, now };
}

/** The state of a process that starts. The option of this process overrides the limit that another one has stored. */
export function startingState({ perMinute }: LimiterSettings, stored?: LimiterState): LimiterState {
  const isCap = perMinute !== 'learn';
  if (stored === undefined) return initialState(isCap ? perMinute : Number.POSITIVE_INFINITY, isCap);
  const known = isCap ? configured({ ...stored, isCap: false }, perMinute, stored.configuredAt) : stored;
  return known.isCap === isCap ? known : { ...known, isCap };
}
