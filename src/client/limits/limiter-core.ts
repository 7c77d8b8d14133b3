import { type Grant, grant } from './grant.ts';
import type { LimiterState } from './limiter-state.ts';
import {
  applyReport,
  configured,
  initialState,
  isLimitWanted,
  type Report,
  type RetryAfterOptions,
  type RetryAfterReading,
  readRetryAfter,
} from './transitions.ts';

/** The limit of one key, without timer or queue: the current state, and the functions that change it. */
export class LimiterCore {
  readonly settings: LimiterSettings;
  state: LimiterState;

  constructor(settings: LimiterSettings) {
    this.settings = settings;
    this.state = startingState(settings);
  }

  /** Milliseconds by which the clock of `state` is ahead of the limiter's own, by which all other times are given. */
  get aheadMs(): number {
    return 0;
  }

  grant(now: number, wanted: number): Grant {
    const granted = grant(this.state, { now, wanted, mayProbe: this.settings.probe });
    this.state = granted.state;
    return granted.grant;
  }

  /** Returns the meaning of the Retry-After of a refusal. */
  report(report: Report): RetryAfterReading | undefined {
    const { state, settings } = this;
    this.state = applyReport(state, report, settings);
    return report.kind === 'refused' ? readRetryAfter(state, report, settings).reading : undefined;
  }

  /** Whether this process must call `quota()` for the limit now. `waiting`: the number of its waiting calls. */
  asksForLimit(now: number, waiting: number): boolean {
    return this.settings.perMinute === 'learn' && isLimitWanted(this.state, { now, waiting });
  }
}

/** The state of a process that starts. The option of this process overrides the limit that another one has stored. */
export function startingState({ perMinute }: LimiterSettings, stored?: LimiterState): LimiterState {
  if (perMinute === 'learn') return stored ?? initialState(Number.POSITIVE_INFINITY);
  if (stored === undefined) return initialState(perMinute);
  return stored.configured === perMinute ? stored : configured(stored, perMinute, stored.configuredAt);
}

export interface LimiterSettings extends RetryAfterOptions {
  /** Calls per minute that the key may make; `'learn'` learns the number. Default: `'learn'`. */
  readonly perMinute: 'learn' | number;
  /** Maximum number of requests in flight; `'adapt'` starts with 4 and increases up to 256. Default: `'adapt'`. */
  readonly maxConcurrent: 'adapt' | number;
  /** Whether one call at a time may be sent beyond the known slots, to learn the window. Default: true. */
  readonly probe: boolean;
}

export const DEFAULT_LIMITER_SETTINGS: LimiterSettings = {
  perMinute: 'learn',
  maxConcurrent: 'adapt',
  probe: true,
  // One window, plus the jitter that servers add.
  maxRetryAfterMs: 75_000,
  retryAfterUnit: 'auto',
};
