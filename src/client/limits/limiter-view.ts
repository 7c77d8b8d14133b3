import type { SteadyTime } from '../clock.ts';
import type { ServiceHealth } from './in-flight.ts';
import type { LimiterState } from './limiter-state.ts';

/** One wait of a limiter, however many calls wait. */
export interface LimiterWait {
  /** Milliseconds since the Unix epoch. */
  readonly until: number;
  readonly waiting: number;
  /**
   * `'refused'`: the server named the time for a retry. `'window'`: the limit of this window is used up. `'service'`:
   * the service failed several times in a row.
   */
  readonly reason: 'refused' | 'window' | 'service';
}

/** How the service counts requests; `'unknown'` until its responses have shown it. */
export type WindowName = 'unknown' | 'sliding' | 'fixed' | 'token-bucket';

/** The state of a limiter at one moment. */
export interface LimiterView {
  /** `'open'`, or the time until which a refusal holds back all calls. */
  readonly gate: 'open' | { readonly until: Date };
  /** `'up'`, or the time of the next attempt after several failures in a row. */
  readonly service: 'up' | { readonly downUntil: Date };
  /** Number of calls in the queue. */
  readonly waiting: number;
  /** Number of requests without a response yet. */
  readonly inFlight: number;
  /** Number of requests that may be in flight now. */
  readonly maxConcurrent: number;
  /** Requests per minute that this process may make, configured or learned; `undefined` while unknown. */
  readonly perMinute: number | undefined;
  /** How the service counts requests. */
  readonly window: WindowName;
  /** A second limit over a shorter period (`periodMs` in milliseconds); `undefined` if there is none. */
  readonly burst: { readonly calls: number; readonly periodMs: number } | undefined;
  /** Earliest time at which a call made now can be sent. */
  readonly nextSlotAt: Date;
  /** The latest 100 changes of these values, oldest first. */
  readonly history: readonly LimiterChange[];
}

/** One change of a limiter's state: an entry of `history`. */
export interface LimiterChange {
  /** Time of the change. */
  readonly at: Date;
  /** The cause of the change. */
  readonly event: LimiterEvent;
  /** `'open'`, or the time until which a refusal holds back all calls. */
  readonly gate: 'open' | { readonly until: Date };
  /** `'up'`, or the time of the next attempt after several failures in a row. */
  readonly service: 'up' | { readonly downUntil: Date };
  /** How the service counts requests. */
  readonly window: WindowName;
  /** Whether the kind of window is known or still being learned. */
  readonly phase: 'unknown' | 'learning' | 'known';
  /** Requests per minute that this process may make; `undefined` while unknown. */
  readonly perMinute: number | undefined;
  /** A second limit over a shorter period (`periodMs` in milliseconds); `undefined` if there is none. */
  readonly burst: { readonly calls: number; readonly periodMs: number } | undefined;
}

/**
 * The cause of a change: an accepted request, a refused one (429), a failed one (5xx, timeout, broken connection), a limit
 * that became known (`'configured'`), or the shared store (`'store'`).
 */
export type LimiterEvent = 'accepted' | 'refused' | 'failed' | 'configured' | 'store';

const WINDOW_NAMES = { log: 'sliding', fixed: 'fixed', bucket: 'token-bucket' } as const;
const LONGEST_HISTORY = 100;

export function windowName({ phase, window }: LimiterState): WindowName {
  return phase === 'known' ? WINDOW_NAMES[window.kind] : 'unknown';
}

export function perMinuteOf({ limit }: LimiterState): number | undefined {
  return Number.isFinite(limit) ? limit : undefined;
}

export function burstOf({ burst: { calls, periodMs } }: LimiterState): LimiterView['burst'] {
  return Number.isFinite(calls) ? { calls, periodMs } : undefined;
}

/** What a change is noticed by. */
type Observed = Pick<LimiterState, 'phase' | 'limit' | 'blockedUntil'> & {
  readonly kind: LimiterState['window']['kind'];
  readonly opensAt: number;
  readonly calls: number;
  /** Differs also between a service that is up and one that is down. */
  readonly retryAt: number;
};

/** Keeps the latest changes of a limiter's state. */
export class LimiterHistory {
  readonly #time: SteadyTime;
  readonly #changes: LimiterChange[] = [];
  #last: Observed | undefined;

  constructor(time: SteadyTime) {
    this.#time = time;
  }

  get changes(): readonly LimiterChange[] {
    return [...this.#changes];
  }

  /** `aheadMs`: milliseconds by which the clock of `state` is ahead of the limiter's. */
  observe(event: LimiterEvent, state: LimiterState, health: ServiceHealth, aheadMs: number): void {
    const last = this.#last;
    const { retryAt } = health;
    const isSame =
      last !== undefined &&
      last.opensAt === state.gate.opensAt &&
      last.limit === state.limit &&
      last.phase === state.phase &&
      last.kind === state.window.kind &&
      last.calls === state.burst.calls &&
      last.blockedUntil === state.blockedUntil &&
      last.retryAt === retryAt;
    if (isSame) return;
    const { phase, limit, blockedUntil, window, gate, burst } = state;
    this.#last = {
      phase,
      limit,
      blockedUntil,
      kind: window.kind,
      opensAt: gate.opensAt,
      calls: burst.calls,
      retryAt,
    };
    this.#changes.push(this.#describe(event, state, health, aheadMs));
    if (this.#changes.length > LONGEST_HISTORY) this.#changes.shift();
  }

  #describe(
    event: LimiterEvent,
    state: LimiterState,
    { isDown, retryAt }: ServiceHealth,
    aheadMs: number,
  ): LimiterChange {
    const now = this.#time.now();
    const dateOf = (at: number) => new Date(this.#time.toEpoch(at));
    const closedUntil = Math.max(state.gate.opensAt, state.blockedUntil) - aheadMs;
    return {
      at: dateOf(now),
      event,
      gate: closedUntil > now ? { until: dateOf(closedUntil) } : 'open',
      service: isDown ? { downUntil: dateOf(retryAt) } : 'up',
      window: windowName(state),
      phase: state.phase,
      perMinute: perMinuteOf(state),
      burst: burstOf(state),
    };
  }
}
