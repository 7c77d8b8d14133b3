import type { SteadyTime } from '../clock.ts';
import { hasBurstLimit } from './burst-limit.ts';
import type { ServiceHealth } from './in-flight.ts';
import type { LimiterCore } from './limiter-core.ts';
import { closedUntil, type LimiterState } from './limiter-state.ts';

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

/** Calls that wait for more than a minute. */
export interface LongWait {
  readonly waiting: number;
  readonly perMinute: number;
  /** Milliseconds until the last of them is sent, as far as is known. */
  readonly lastMs: number;
}

/** How the service counts requests; `'unknown'` until its responses have shown it. */
export type WindowName = 'unknown' | 'sliding' | 'fixed' | 'token-bucket';

/** The part of a limiter's state whose changes are recorded. */
interface LimiterStatus {
  /** `'open'`, or the time until which a refusal holds back all calls. */
  readonly gate: 'open' | { readonly until: Date };
  /** `'up'`, or the time of the next attempt after several failures in a row. */
  readonly service: 'up' | { readonly downUntil: Date };
  /** How the service counts requests. */
  readonly window: WindowName;
  /** Requests per minute that this process may make, configured or learned; `undefined` while unknown. */
  readonly perMinute: number | undefined;
  /** The second limit, over a shorter period of `periodMs` milliseconds; `undefined` while none is known. */
  readonly burst: { readonly calls: number; readonly periodMs: number } | undefined;
}

/** The state of a limiter at one moment. */
export interface LimiterView extends LimiterStatus {
  /** Number of calls in the queue. */
  readonly waiting: number;
  /** Number of requests without a response yet. */
  readonly inFlight: number;
  /** Number of requests that may be in flight now. */
  readonly maxConcurrent: number;
  /** Earliest time at which a call made now can be sent. */
  readonly nextSlotAt: Date;
  /** The latest 100 changes of these values, oldest first. */
  readonly history: readonly LimiterChange[];
}

/** One change of a limiter's state: an entry of `history`. */
export interface LimiterChange extends LimiterStatus {
  /** Time of the change. */
  readonly at: Date;
  /** The cause of the change. */
  readonly event: LimiterEvent;
  /** Whether the kind of window is known or still being learned. */
  readonly phase: 'unknown' | 'learning' | 'known';
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

type StateAndClock = Pick<LimiterCore, 'state' | 'aheadMs'>;

export function statusOf(
  { state, aheadMs }: StateAndClock,
  { isDown, retryAt }: ServiceHealth,
  time: SteadyTime,
): LimiterStatus {
  const { limit, burst } = state;
  const dateOf = (at: number) => new Date(time.toEpoch(at));
  const until = closedUntil(state) - aheadMs;
  return {
    gate: until > time.now() ? { until: dateOf(until) } : 'open',
    service: isDown ? { downUntil: dateOf(retryAt) } : 'up',
    window: windowName(state),
    perMinute: Number.isFinite(limit) ? limit : undefined,
    burst: hasBurstLimit(burst) ? { calls: burst.calls, periodMs: burst.periodMs } : undefined,
  };
}

/** Keeps the latest changes of a limiter's state. */
export class LimiterHistory {
  readonly changes: LimiterChange[] = [];
  readonly #time: SteadyTime;
  #last: { readonly state: LimiterState; readonly retryAt: number } | undefined;

  constructor(time: SteadyTime) {
    this.#time = time;
  }

  observe(event: LimiterEvent, core: StateAndClock, health: ServiceHealth): void {
    const { state } = core;
    const last = this.#last;
    const isSame =
      last !== undefined &&
      last.state.gate.opensAt === state.gate.opensAt &&
      last.state.limit === state.limit &&
      last.state.phase === state.phase &&
      last.state.window.kind === state.window.kind &&
      last.state.burst.calls === state.burst.calls &&
      last.state.blockedUntil === state.blockedUntil &&
      // Differs also between a service that is up and one that is down.
      last.retryAt === health.retryAt;
    if (isSame) return;
    this.#last = { state, retryAt: health.retryAt };
    const at = new Date(this.#time.toEpoch(this.#time.now()));
    this.changes.push({ at, event, phase: state.phase, ...statusOf(core, health, this.#time) });
    if (this.changes.length > LONGEST_HISTORY) this.changes.shift();
  }
}
