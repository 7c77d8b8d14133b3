import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { WINDOW_MS } from '../accepted-log.ts';
import { LIMITER_STATE_VERSION, type LimiterState, parseLimiterState } from '../limiter-state.ts';
import { initialState } from '../transitions.ts';
import type { LimitExchange, LimitOffer, LimitStore } from './limit-store.ts';

/** What one process has in flight, and how many of its calls wait. */
export interface Lease {
  readonly inFlight: number;
  readonly waiting: number;
  readonly seenAt: number;
  /** When it began to ask the service for the limit; 0 for never. */
  readonly askedAt: number;
}

/** What the processes with one key share. */
export interface SharedState {
  /** The last write, by the store's clock. */
  readonly at: number;
  readonly limit: LimiterState;
  readonly leases: Readonly<Record<string, Lease>>;
}

/** An exchange that takes longer fails. A host or store that is busy may need most of it; an outage costs it once. */
const TIMEOUT_MS = 1_000;
/**
 * Against a store that refuses every write. Among processes that write at the same time one always succeeds, but luck
 * decides which: so many tries for each of them are enough.
 */
const TRIES_PER_PROCESS = 20;
const TRIES_AT_LEAST = 100;
const KEEP_MS = 10 * WINDOW_MS;
/** A state this much younger than the store's clock was written before that clock was set back. */
const FUTURE_MS = 5_000;
/** A difference this large is no jitter: one of the clocks was set. */
const CLOCK_WAS_SET_MS = 1_000;

export interface StoreExchangeOptions {
  readonly store: LimitStore;
  /** What the processes must agree on to share: origin and key hash. */
  readonly name: string;
  readonly clock: Clock;
  /** The limiter's own time. */
  readonly now: () => number;
}

/** What a process offers to the store. */
export interface Offer {
  readonly state: SharedState;
  /** Whether there is anything to write. */
  readonly isNews: boolean;
}

/** One process's access to the state that all share: compares, writes, and keeps the store's time. */
export class StoreExchange {
  /** The name of this process among those that share. */
  readonly id = randomUUID();
  readonly #options: StoreExchangeOptions;
  readonly #name: string;
  #version = '';
  #state: SharedState | undefined;
  #writes = 0;
  #aheadMs: number | undefined;

  constructor(options: StoreExchangeOptions) {
    this.#options = options;
    this.#name = `${LIMITER_STATE_VERSION}:${options.name}`;
  }

  /** The state that the store was last seen to hold: a copy, which its reader may change. */
  get state(): SharedState | undefined {
    return this.#state;
  }

  /** How far the store's clock is ahead of ours; 0 while unknown. */
  get aheadMs(): number {
    return this.#aheadMs ?? 0;
  }

  /** The store's time. */
  now(): number {
    return this.#options.now() + this.aheadMs;
  }

  /**
   * Writes an offer, created anew whenever another process wrote meanwhile; one without news only has to know what the
   * others wrote. Rejects if the store fails, or takes too long for one exchange.
   */
  async commit<Offered extends Offer>(createOffer: () => Offered): Promise<Offered> {
    let tries = 0;
    for (; tries < this.#triesAtMost; tries += 1) {
      const offer = createOffer();
      const isDone = offer.isNews ? await this.#write(offer.state) : tries > 0;
      if (isDone) return offer;
      if (!offer.isNews) await this.#exchange();
    }
    throw new Error(`none of ${tries} writes was accepted`);
  }

  get #triesAtMost(): number {
    const processes = Object.keys(this.#state?.leases ?? {}).length;
    return Math.max(TRIES_AT_LEAST, TRIES_PER_PROCESS * processes);
  }

  async #write(state: SharedState): Promise<boolean> {
    this.#writes += 1;
    const text = JSON.stringify(state);
    const version = `${this.id}:${this.#writes}`;
    const isWritten = await this.#exchange({ version, state: text, nowMs: state.at, keepMs: KEEP_MS });
    if (isWritten) this.#state = state;
    return isWritten;
  }

  async #exchange(offer?: LimitOffer): Promise<boolean> {
    const { store } = this.#options;
    const { isWritten, version, state, nowMs } = await this.#inTime(store.exchange(this.#name, this.#version, offer));
    if (!Number.isFinite(nowMs))
      throw new Error(`the store returned nowMs ${nowMs}, expected milliseconds since the Unix epoch`);
    this.#observe(nowMs);
    if (!isWritten && version !== this.#version) this.#state = parseState(state, nowMs);
    this.#version = version;
    return isWritten;
  }

  /** Only one exchange is timed, not all tries together: a busy store is not one that failed. */
  async #inTime(exchange: Promise<LimitExchange>): Promise<LimitExchange> {
    const { clock } = this.#options;
    const answered = new AbortController();
    const sleep = (ms: number) => clock.sleep(ms, answered.signal);
    const tooLate = sleep(TIMEOUT_MS)
      // If the process itself was paused, the response has arrived and this turn reads it.
      .then(() => sleep(1))
      .then(
        () => {
          throw new Error(`no response within ${TIMEOUT_MS} ms`);
        },
        () => exchange, // only the response aborts the sleep
      );
    try {
      return await Promise.race([exchange, tooLate]);
    } finally {
      answered.abort();
    }
  }

  /**
   * What the store said is a little old when it arrives, so the largest difference seen is the best, and time never goes
   * back between two exchanges.
   */
  #observe(storeNowMs: number): void {
    const aheadMs = storeNowMs - this.#options.now();
    const known = this.#aheadMs ?? aheadMs;
    this.#aheadMs = aheadMs < known - CLOCK_WAS_SET_MS ? aheadMs : Math.max(known, aheadMs);
  }
}

/** `undefined` for a state that cannot be used: it is better to learn anew than to wait for an hour to pass again. */
function parseState(text: string, nowMs: number): SharedState | undefined {
  if (text === '') return undefined;
  try {
    const { at, limit, leases } = JSON.parse(text) as Partial<SharedState>; // each part is checked below
    const isUsable = typeof at === 'number' && at <= nowMs + FUTURE_MS && Object.values(leases ?? []).every(isLease);
    if (!isUsable || leases === undefined) return undefined;
    return { at, leases, limit: parseLimiterState(limit, initialState(Number.POSITIVE_INFINITY)) };
  } catch {
    return undefined;
  }
}

function isLease({ inFlight, waiting, seenAt, askedAt }: Partial<Lease>): boolean {
  return Number.isSafeInteger(inFlight) && [waiting, seenAt, askedAt].every((value) => typeof value === 'number');
}
