import type { SteadyTime } from '../steady-time.ts';
import type { LimiterState } from './limiter-state.ts';
import type { ServiceHealth } from './service-health.ts';

/** One wait of a limiter, however many calls wait. */
export interface LimiterWait {
  /** Milliseconds since the Unix epoch. */
  readonly until: number;
  readonly waiting: number;
  /**
   * `'refused'`: the server said when to come back. `'window'`: the limit of this window is used up. `'service'`: the
   * service failed several times in a row.
   */
  readonly reason: 'refused' | 'window' | 'service';
}

/** How the service counts, as far as its answers have shown. */
export type WindowName = 'unknown' | 'sliding' | 'fixed' | 'token-bucket';

/** What can be said of a limiter at this moment. */
export interface LimiterView {
  /** `'open'`, or the time until which a refusal holds back all calls. */
  readonly gate: 'open' | { readonly until: Date };
  /** `'up'`, or when a service that failed several times in a row is tried again. */
  readonly service: 'up' | { readonly downUntil: Date };
  /** Calls in the queue. */
  readonly waiting: number;
  /** Requests without an answer yet. */
  readonly inFlight: number;
  /** Requests that may be in flight at once now. */
  readonly maxConcurrent: number;
  /** Calls per minute this process may make, configured or learned; `undefined` while unknown. */
  readonly perMinute: number | undefined;
  readonly window: WindowName;
  /** A second limit for shorter times that the answers have shown; `undefined` for none. */
  readonly burst: { readonly calls: number; readonly periodMs: number } | undefined;
  /** The earliest time at which a call that comes now could be sent. */
  readonly nextSlotAt: Date;
  /** The latest changes of the limiter's state, oldest first: why calls waited. At most 100. */
  readonly history: readonly LimiterChange[];
}

/** One change of the limiter's state. */
export interface LimiterChange {
  readonly at: Date;
  /** What happened: an answer, a refusal (429), a failure (5xx, timeout), a limit that became known, a store that failed. */
  readonly event: LimiterEvent;
  readonly gate: 'open' | { readonly until: Date };
  readonly service: 'up' | { readonly downUntil: Date };
  readonly window: WindowName;
  /** Whether the window is still to be learned. */
  readonly phase: LimiterState['phase'];
  readonly perMinute: number | undefined;
  readonly burst: LimiterView['burst'];
}

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
  readonly isDown: boolean;
  readonly retryAt: number;
};

/** Keeps the latest changes of a limiter's state. */
export class LimiterHistory {
  readonly #time: SteadyTime;
  #changes: LimiterChange[] = [];
  #last: Observed | undefined;

  constructor(time: SteadyTime) {
    this.#time = time;
  }

  get changes(): readonly LimiterChange[] {
    return this.#changes.slice(-LONGEST_HISTORY);
  }

  /** `toLocal` turns a time of `state` into one of the limiter's clock. */
  observe(event: LimiterEvent, state: LimiterState, health: ServiceHealth, toLocal: (at: number) => number): void {
    const last = this.#last;
    const { isDown, retryAt } = health;
    const isSame =
      last !== undefined &&
      last.opensAt === state.gate.opensAt &&
      last.limit === state.limit &&
      last.phase === state.phase &&
      last.kind === state.window.kind &&
      last.calls === state.burst.calls &&
      last.blockedUntil === state.blockedUntil &&
      last.isDown === isDown &&
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
      isDown,
      retryAt,
    };
    if (this.#changes.length >= 2 * LONGEST_HISTORY) this.#changes = this.#changes.slice(-LONGEST_HISTORY);
    this.#changes.push(this.#describe(event, state, health, toLocal));
  }

  #describe(
    event: LimiterEvent,
    state: LimiterState,
    { isDown, retryAt }: ServiceHealth,
    toLocal: (at: number) => number,
  ): LimiterChange {
    const now = this.#time.now();
    const dateOf = (at: number) => new Date(this.#time.toEpoch(at));
    const closedUntil = toLocal(Math.max(state.gate.opensAt, state.blockedUntil));
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
