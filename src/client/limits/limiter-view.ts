import type { LimitView } from './limit-core.ts';

/** One wait of a limiter, however many calls wait. */
export interface LimiterWait {
  /** Milliseconds since the Unix epoch. */
  readonly until: number;
  readonly waiting: number;
  /** `'refused'`: the server said when to come back. `'window'`: the limit of this window is used up. */
  readonly reason: 'refused' | 'window';
}

/** What can be said of a limiter at this moment. */
export interface LimiterView {
  readonly gate: 'open' | { readonly until: number };
  readonly waiting: number;
  readonly inFlight: number;
  /** Calls per minute this process may make, told or learned; `undefined` while unknown. */
  readonly perMinute: number | undefined;
  readonly window: LimitView['window'];
  /** The earliest time at which a call that comes now could be sent. Milliseconds since the Unix epoch. */
  readonly nextSlotAt: number;
}
