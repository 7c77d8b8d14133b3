import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { parseJson } from '../../../json.ts';
import { describeValue, thrownMessage } from '../../errors/program-values.ts';
import { type Clock, type SteadyTime, steadyTime } from '../../time/clock.ts';
import { StoreGuard } from '../../time/store-guard.ts';
import {
  closedUntil,
  LIMITER_STATE,
  LIMITER_STATE_VERSION,
  type LimiterState,
  LONGEST_WAIT_MS,
  WINDOW_MS,
} from '../limit-state.ts';
import { LATEST_MS } from '../retry-after.ts';
import type { LimitExchange, LimitOffer, LimitStore } from './limit-store.ts';

/** A longer exchange fails. A busy host or store may need most of this time; an outage costs it once. */
export const EXCHANGE_TIMEOUT_MS = 1_000;
/** With a store that refuses every write. If processes write at the same time, one of them always succeeds, by chance. */
const MOST_TRIES = 1_000;
/** Time for which a state is kept after its last write, or after the wait that the service asked for. */
const KEEP_MS = 10 * WINDOW_MS;
/** A state this much younger than the store's clock was written before that clock was set back. */
const FUTURE_MS = 5_000;
/** A larger difference is not jitter: one of the clocks was set. The store refuses a write whose time differs by more. */
const CLOCK_WAS_SET_MS = 1_000;

export interface StoreExchangeOptions {
  readonly store: LimitStore;
  /** The name that is equal in processes that share a limit: origin and key hash. */
  readonly name: string;
  readonly clock: Clock;
  /** Called once per outage of the store. */
  readonly onOutage?: ((reason: string, outage: number) => void) | undefined;
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
  readonly guard: StoreGuard;
  /** Since when the store has been asked, in all tries; `undefined` if it is not. */
  askedAt: number | undefined;
  readonly #options: StoreExchangeOptions;
  readonly #time: SteadyTime;
  readonly #name: string;
  #aheadMs: number | undefined;

  constructor(options: StoreExchangeOptions) {
    this.#options = options;
    this.#time = steadyTime(options.clock);
    const onOutage = (error: unknown, outage: number) => options.onOutage?.(thrownMessage(error), outage);
    this.guard = new StoreGuard({ time: this.#time, timeoutMs: EXCHANGE_TIMEOUT_MS, onOutage });
    this.#name = `${LIMITER_STATE_VERSION}:${options.name}`;
  }

  /** Milliseconds by which the store's clock is ahead of ours; while unknown, that of the machine. */
  get aheadMs(): number {
    return this.#aheadMs ?? 0;
  }

  /** The store's time. */
  now(): number {
    return this.#time.datedNow() + this.aheadMs;
  }

  /**
   * Writes an offer, which is created again whenever another process wrote meanwhile. An offer without news only reads
   * the current state. Rejects if the store fails, or if one exchange takes too long.
   */
  async commit<Offered extends Offer>(createOffer: () => Offered): Promise<Offered> {
    this.askedAt = this.#time.datedNow();
    try {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const offer = createOffer();
        if (!offer.isNews && tries > 0) return offer;
        const isWritten = await this.#exchange(offer.isNews ? offer.state : undefined);
        if (isWritten) return offer;
      }
      throw this.guard.failed(new Error(`none of ${MOST_TRIES} writes was accepted`));
    } finally {
      this.askedAt = undefined;
    }
  }

  /** Without `offered`, only reads. Returns whether it was written. The timeout is that of one try: a busy store has not failed. */
  async #exchange(offered?: SharedState): Promise<boolean> {
    const { store } = this.#options;
    const offer = offered && offerOf(offered);
    const ask = async () => parseReply(await store.exchange(this.#name, this.version, offer));
    const { isWritten: isAccepted, version, state, nowMs } = await this.guard.use(ask);
    // A Redis client that loses its connection before the reply sends the offer again.
    const isWritten = isAccepted || version === offer?.version;
    this.#observe(nowMs);
    this.version = version;
    if (isWritten && offered) this.state = offered;
    // A store that lost the state, or from which it cannot be read, gets back the last one that this process knows.
    else this.state = usableAt(parseState(state), nowMs) ?? usableAt(this.state, nowMs);
    return isWritten && offered !== undefined;
  }

  /**
   * The time of the store is slightly old when it arrives. The largest observed difference is therefore the best, and
   * time never moves backwards between two exchanges.
   */
  #observe(storeNowMs: number): void {
    const aheadMs = storeNowMs - this.#time.datedNow();
    const known = this.#aheadMs ?? aheadMs;
    this.#aheadMs = aheadMs < known - CLOCK_WAS_SET_MS ? aheadMs : Math.max(known, aheadMs);
  }
}

function offerOf(state: SharedState): LimitOffer {
  const { at, limit } = state;
  const keepMs = KEEP_MS + Math.ceil(Math.max(0, closedUntil(limit) - at));
  return { version: randomUUID(), state: JSON.stringify(state), nowMs: at, keepMs };
}

/** `undefined` for a state of the future: learning again takes less time than an hour by which a clock was set back. */
function usableAt(state: SharedState | undefined, nowMs: number): SharedState | undefined {
  if (state === undefined || state.at > nowMs + FUTURE_MS) return undefined;
  return state.at > nowMs + CLOCK_WAS_SET_MS ? { ...state, at: nowMs } : state;
}

/** The errors are what was expected. */
const reply = z.object(
  {
    isWritten: z.boolean('true or false'),
    version: z.string('a text'),
    state: z.string('a text'),
    nowMs: z.custom<number>(
      (ms) => typeof ms === 'number' && Math.abs(ms) <= LATEST_MS,
      'milliseconds since the Unix epoch',
    ),
  },
  'the result of an exchange',
);

/** The program can have a store of its own. @throws an error that names the value */
function parseReply(value: unknown): LimitExchange {
  const { data, error } = reply.safeParse(value);
  if (data !== undefined) return { ...data, nowMs: Math.floor(data.nowMs) };
  const [issue] = error.issues;
  const [field] = issue?.path ?? [];
  const of = value as Readonly<Record<PropertyKey, unknown>>;
  const shown = field === undefined ? describeValue(value) : `${String(field)} ${describeValue(of[field])}`;
  throw new Error(`the store returned ${shown}, expected ${issue?.message}`);
}

/** A larger text, such as one of another program, is not read. The state of a limit of 1,000 per minute has 6 kB. */
const MOST_CHARACTERS = 1 << 20;
/** More than processes have. A damaged state must not fill the log with more. */
const MOST_IN_FLIGHT = 100_000;

const count = z.int().check(z.gte(0));
const time = z.number();

/** The requests of one process in flight, and the number of its waiting calls. */
const lease = z.object({
  inFlight: count,
  waiting: z.int().check(z.gte(0)),
  /** How many of these have low priority. */
  low: z.int().check(z.gte(0)),
  seenAt: time,
  /** Time at which it called `quota()` for the limit; 0 for never. */
  askedAt: time,
  /** The number of its last report that the state has. */
  reported: z.int().check(z.gte(0)),
});

/** The state that processes with one key share, as a store has it. */
const sharedState = z
  .object({
    /** The last write, by the store's clock. */
    at: time,
    limit: LIMITER_STATE,
    leases: z.record(z.string(), lease),
  })
  .check(z.refine(({ at, limit, leases }) => areTimesUsable(at, limit, leases) && hasAllInFlight(limit, leases)));

export type Lease = Readonly<z.infer<typeof lease>>;
type Leases = Readonly<Record<string, Lease>>;

export interface SharedState {
  readonly at: number;
  readonly limit: LimiterState;
  readonly leases: Leases;
}

/** `undefined` for a text that is damaged or of another program; the next write replaces it. */
export function parseState(text: string): SharedState | undefined {
  return text.length > MOST_CHARACTERS ? undefined : sharedState.safeParse(parseJson(text)).data;
}

/** Events are in the past, unless the clock of the store was set back; no wait is longer than the limiter would wait. */
function areTimesUsable(
  at: number,
  {
    gate,
    unit,
    pace,
    blockedUntil,
    acceptedAt,
    testAt,
    configuredAt,
    calledAt,
    lowAt,
    lowWaitsSince,
    log,
  }: LimiterState,
  leases: Leases,
): boolean {
  const seen = Object.values(leases).flatMap(({ seenAt, askedAt }) => [seenAt, askedAt]);
  const events = [configuredAt, acceptedAt, lowWaitsSince, log.lastAt, ...seen];
  const paceAt = pace === null ? at : pace.at + Math.max(0, 1 - pace.tokens) / pace.perMs;
  const gates = [gate.opensAt, gate.staleBefore, unit.endsAt, blockedUntil];
  const waits = [...gates, paceAt, pace?.growsAt ?? at, testAt, calledAt, lowAt]; // others can be expected to call
  return Math.max(...events) <= at + 2 * FUTURE_MS && Math.max(...waits) <= at + 2 * LONGEST_WAIT_MS;
}

/** Each request in flight belongs to a process: otherwise its slot would never be free. */
function hasAllInFlight({ inFlight }: LimiterState, leases: Leases): boolean {
  const inLeases = Object.values(leases).reduce((sum, lease) => sum + lease.inFlight, 0);
  return inLeases === inFlight && inFlight <= MOST_IN_FLIGHT;
}
