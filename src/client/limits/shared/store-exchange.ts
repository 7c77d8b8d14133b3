import { randomUUID } from 'node:crypto';
import { type Clock, type SteadyTime, steadyTime } from '../../time/clock.ts';
import { AcceptedLog, WINDOW_MS } from '../accepted-log.ts';
import { LIMITER_STATE_VERSION, type LimiterState, LONG_AGO, UNBOUNDED } from '../limit-state.ts';
import type { LimitExchange, LimitOffer, LimitStore } from './limit-store.ts';

/** The requests of one process in flight, and the number of its waiting calls. */
export interface Lease {
  readonly inFlight: number;
  readonly waiting: number;
  readonly seenAt: number;
  /** Time at which it called `quota()` for the limit; 0 for never. */
  readonly askedAt: number;
}

/** The state that processes with one key share. */
export interface SharedState {
  /** The last write, by the store's clock. */
  readonly at: number;
  readonly limit: LimiterState;
  readonly leases: Readonly<Record<string, Lease>>;
}

/** A longer exchange fails. A busy host or store may need most of this time; an outage costs it once. */
const TIMEOUT_MS = 1_000;
/**
 * Limits the tries with a store that refuses every write. If processes write at the same time, one of them always
 * succeeds, by chance: this number of tries for each process is enough.
 */
const TRIES_PER_PROCESS = 20;
const TRIES_AT_LEAST = 100;
/** Time for which a state is kept after its last write, or after the wait that the service asked for. */
const KEEP_MS = 10 * WINDOW_MS;
/** A state this much younger than the store's clock was written before that clock was set back. */
const FUTURE_MS = 5_000;
/** A difference this large is not jitter: one of the clocks was set. */
const CLOCK_WAS_SET_MS = 1_000;

export interface StoreExchangeOptions {
  readonly store: LimitStore;
  /** The name that is equal in processes that share a limit: origin and key hash. */
  readonly name: string;
  readonly clock: Clock;
}

/** A state that a process offers to the store. */
export interface Offer {
  readonly state: SharedState;
  /** Whether there is anything to write. */
  readonly isNews: boolean;
}

/** The access of one process to the shared state: compares, writes, and tracks the clock of the store. */
export class StoreExchange {
  /** The id of this process in the store. */
  readonly id = randomUUID();
  /** The state that was last read from the store or written to it, and its version there. */
  state: SharedState | undefined;
  version = '';
  readonly #options: StoreExchangeOptions;
  readonly #time: SteadyTime;
  readonly #name: string;
  #writes = 0;
  #aheadMs: number | undefined;

  constructor(options: StoreExchangeOptions) {
    this.#options = options;
    this.#time = steadyTime(options.clock);
    this.#name = `${LIMITER_STATE_VERSION}:${options.name}`;
  }

  /** Milliseconds by which the store's clock is ahead of ours; 0 while unknown. */
  get aheadMs(): number {
    return this.#aheadMs ?? 0;
  }

  /** The store's time. */
  now(): number {
    return this.#time.now() + this.aheadMs;
  }

  /**
   * Writes an offer, which is created again whenever another process wrote meanwhile. An offer without news only reads
   * the current state. Rejects if the store fails, or if one exchange takes too long.
   */
  async commit<Offered extends Offer>(createOffer: () => Offered): Promise<Offered> {
    let tries = 0;
    for (; tries < this.#triesAtMost; tries += 1) {
      const offer = createOffer();
      if (!offer.isNews && tries > 0) return offer;
      const isWritten = await this.#exchange(offer.isNews ? offer.state : undefined);
      if (isWritten) return offer;
    }
    throw new Error(`none of ${tries} writes was accepted`);
  }

  get #triesAtMost(): number {
    const processes = Object.keys(this.state?.leases ?? {}).length;
    return Math.max(TRIES_AT_LEAST, TRIES_PER_PROCESS * processes);
  }

  /** Without `offered`, only reads. Returns whether it was written. */
  async #exchange(offered?: SharedState): Promise<boolean> {
    const exchange = this.#tryTwice(offered && this.#createOffer(offered));
    const { isWritten, version, state, nowMs } = await this.#inTime(exchange);
    if (!Number.isFinite(nowMs))
      throw new Error(`the store returned nowMs ${nowMs}, expected milliseconds since the Unix epoch`);
    this.#observe(nowMs);
    this.version = version;
    if (isWritten && offered) this.state = offered;
    // A store that lost the state, or from which it cannot be read, gets back the last one that this process knows.
    else this.state = parseState(state, nowMs) ?? usableAt(this.state, nowMs);
    return isWritten && offered !== undefined;
  }

  #createOffer(state: SharedState): LimitOffer {
    this.#writes += 1;
    const version = `${this.id}:${this.#writes}`;
    return { version, state: JSON.stringify(state), nowMs: state.at, keepMs: keepMsOf(state) };
  }

  /** A single error, such as a broken connection, is no outage. */
  async #tryTwice(offer: LimitOffer | undefined): Promise<LimitExchange> {
    const { store } = this.#options;
    try {
      return await store.exchange(this.#name, this.version, offer);
    } catch {
      const repeated = await store.exchange(this.#name, this.version, offer);
      // The first try was written, and only its response was lost.
      return repeated.version === offer?.version ? { ...repeated, isWritten: true } : repeated;
    }
  }

  /** The timeout is that of one exchange, not of all tries together: a busy store has not failed. */
  async #inTime(exchange: Promise<LimitExchange>): Promise<LimitExchange> {
    const { clock } = this.#options;
    const responded = new AbortController();
    const sleep = (ms: number) => clock.sleep(ms, responded.signal);
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
      responded.abort();
    }
  }

  /**
   * The time of the store is slightly old when it arrives. The largest observed difference is therefore the best, and
   * time never moves backwards between two exchanges.
   */
  #observe(storeNowMs: number): void {
    const aheadMs = storeNowMs - this.#time.now();
    const known = this.#aheadMs ?? aheadMs;
    this.#aheadMs = aheadMs < known - CLOCK_WAS_SET_MS ? aheadMs : Math.max(known, aheadMs);
  }
}

function keepMsOf({ at, limit: { gate, blockedUntil } }: SharedState): number {
  return KEEP_MS + Math.ceil(Math.max(0, gate.opensAt - at, blockedUntil - at));
}

/** `undefined` for a state of the future: learning again takes less time than an hour by which a clock was set back. */
function usableAt(state: SharedState | undefined, nowMs: number): SharedState | undefined {
  return state !== undefined && state.at <= nowMs + FUTURE_MS ? state : undefined;
}

/** `undefined` for a state that cannot be used; the next write replaces it. */
function parseState(text: string, nowMs: number): SharedState | undefined {
  if (text === '') return undefined;
  try {
    const { at, limit, leases } = recordOf(JSON.parse(text));
    const writtenAt = numberIn(at, 0, nowMs + FUTURE_MS);
    return {
      at: writtenAt,
      limit: asLimiterState(limit, writtenAt) as LimiterState,
      leases: mapOf(asLease)(leases, writtenAt) as SharedState['leases'],
    };
  } catch {
    return undefined; // another program wrote it, or it is damaged
  }
}

/** A stored time is at most a day (the longest wait) and an hour after the write. */
const LATEST_MS = 90_000_000;
const MOST_REQUESTS = 100_000;

/**
 * Returns a field of the record that was written at `at`, or throws. Faster than a schema: each command, which runs for a
 * tenth of a second, reads the record. JSON has `null` for an infinite number.
 */
type Check = (value: unknown, at: number) => unknown;

const asTime: Check = (value, at) => numberIn(value, 0, at + LATEST_MS);
const asTimeOrNever: Check = (value, at) => numberIn(value === null ? LONG_AGO : value, LONG_AGO, at + LATEST_MS);
const asPastTime: Check = (value, at) => numberIn(value, 0, at);
const asLimit: Check = (value) => numberIn(value === null ? UNBOUNDED : value, 1, UNBOUNDED);
const asCount: Check = (value) => numberIn(Number.isSafeInteger(value) ? value : undefined, 0, MOST_REQUESTS);
const between = (least: number, most: number) => (value: unknown) => numberIn(value, least, most);
const asBoolean = oneOf(true, false);

/** The milliseconds between times that are in order and not after the write. */
const asLog: Check = (value, at) => {
  if (!Array.isArray(value) || value.length > MOST_REQUESTS) throw new TypeError('the log is not a list of times');
  const total = value.reduce<number>((sum, ms) => sum + numberIn(ms, 0, at), 0);
  numberIn(total, 0, at);
  return new AcceptedLog(value);
};

const asLease = record({ inFlight: asCount, waiting: asCount, seenAt: asPastTime, askedAt: asPastTime });
const asPace = record({
  ...{ perMs: between(1e-9, MOST_REQUESTS), capacity: between(1, MOST_REQUESTS) },
  ...{ tokens: between(-MOST_REQUESTS, MOST_REQUESTS), at: asTime, step: between(1, 2), grew: asBoolean },
  ...{ growsAt: asTime, refusedAt: asTime },
});
const asLimiterState = record({
  ...{ configured: asLimit, isCap: asBoolean, configuredAt: asTimeOrNever, limit: asLimit, inFlight: asCount },
  gate: record({
    ...{ opensAt: asTimeOrNever, staleBefore: asTimeOrNever, room: asLimit, accepted: asCount, refusals: asCount },
    test: oneOf('none', 'window', 'limit'),
  }),
  ...{ test: oneOf('due', 'done', 'never'), testAt: asTimeOrNever, blockedUntil: asTimeOrNever },
  unit: record({ evidence: oneOf('assumed', 'on-trial', 'confirmed', 'refuted'), endsAt: asTime }),
  pace: (value, at) => (value === null ? null : asPace(value, at)),
  ...{ log: asLog, refusedLog: asLog },
});

function record(fields: Readonly<Record<string, Check>>): Check {
  return (value, at) => {
    const given = recordOf(value);
    return Object.fromEntries(Object.entries(fields).map(([name, check]) => [name, check(given[name], at)]));
  };
}

function mapOf(check: Check): Check {
  return (value, at) =>
    Object.fromEntries(Object.entries(recordOf(value)).map(([id, entry]) => [id, check(entry, at)]));
}

function oneOf(...allowed: readonly unknown[]): Check {
  return (value) => {
    if (allowed.includes(value)) return value;
    throw new TypeError(`${String(value)}: expected one of ${allowed.join(', ')}`);
  };
}

function numberIn(value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw new TypeError(`${String(value)}: expected a number from ${least} to ${most}`);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TypeError(`${String(value)}: expected a record`);
}
