import { addInFlight, type Grant, grant, slotAt } from '../../src/client/limits/grant.ts';
import type { LimiterState } from '../../src/client/limits/limiter-state.ts';
import { windowName } from '../../src/client/limits/limiter-view.ts';
import type { RetryAfterUnit } from '../../src/client/limits/retry-after.ts';
import {
  accepted,
  configured,
  initialState,
  lost,
  type RetryAfterReading,
  readRetryAfter,
  refused,
} from '../../src/client/limits/transitions.ts';

/** Time between each request of a `LimiterRun` and its response. */
export const ROUND_TRIP_MS = 100;

export interface LimiterRunOptions {
  readonly mayProbe?: boolean;
  readonly maxRetryAfterMs?: number;
  readonly retryAfterUnit?: 'auto' | RetryAfterUnit;
}

/** Applies the functions of grant.ts and transitions.ts to one state, event by event; `sentAt` is the time of a request. */
export class LimiterRun {
  state: LimiterState;
  readonly #options: Required<LimiterRunOptions>;

  constructor(
    perMinute = Number.POSITIVE_INFINITY,
    { mayProbe = true, maxRetryAfterMs = 65_000, retryAfterUnit = 'auto' }: LimiterRunOptions = {},
  ) {
    this.state = initialState(perMinute);
    this.#options = { mayProbe, maxRetryAfterMs, retryAfterUnit };
  }

  get window(): ReturnType<typeof windowName> {
    return windowName(this.state);
  }

  /** Requests slots for ten waiting calls. */
  ask(now: number, wanted = 10): Grant {
    const granted = grant(this.state, { now, wanted, mayProbe: this.#options.mayProbe });
    this.state = granted.state;
    return granted.grant;
  }

  accept(sentAt: number, { calls = 1, isProbe = false, date }: Accepting = {}): void {
    const response = { now: sentAt + ROUND_TRIP_MS, sentAt, isProbe, date };
    for (let call = 0; call < calls; call += 1) this.state = accepted(this.state, response);
  }

  refuse(sentAt: number, { retryAfter, isProbe = false, date }: Refusing = {}): RetryAfterReading {
    const response = { now: sentAt + ROUND_TRIP_MS, sentAt, isProbe, retryAfter, date };
    const { reading } = readRetryAfter(this.state, response, this.#options);
    this.state = refused(this.state, response, this.#options);
    return reading;
  }

  lose(sentAt: number): void {
    this.state = lost(this.state, { now: sentAt + ROUND_TRIP_MS, sentAt, isProbe: false });
  }

  giveBack(): void {
    this.state = addInFlight(this.state, -1);
  }

  configure(perMinute: number, now = 0): void {
    this.state = configured(this.state, perMinute, now);
  }

  slotAt(now: number, ahead: number): number {
    return slotAt(this.state, now, { ahead, mayProbe: this.#options.mayProbe });
  }
}

interface Accepting {
  readonly calls?: number;
  readonly isProbe?: boolean;
  readonly date?: string;
}

interface Refusing {
  /** As written in the header; `'auto'` reads it in seconds. */
  readonly retryAfter?: string | undefined;
  readonly isProbe?: boolean;
  readonly date?: string;
}

/** Configured with three per minute: three calls are accepted at 0, and the probe after them is refused. */
export function usedUpRun(retryAfter?: string): LimiterRun {
  const run = new LimiterRun(3);
  run.ask(0);
  run.accept(0, { calls: 3 });
  run.ask(100);
  run.refuse(100, { retryAfter, isProbe: true });
  return run;
}
