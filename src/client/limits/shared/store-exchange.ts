import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { describeValue, thrownMessage } from '../../errors/program-values.ts';
import { type Clock, type SteadyTime, steadyTime } from '../../time/clock.ts';
import { LIMITER_STATE_VERSION, WINDOW_MS } from '../limit-state.ts';
import type { LimitExchange, LimitOffer, LimitStore } from './limit-store.ts';
import { parseState, type SharedState, textOf } from './shared-state.ts';
import { StoreGuard } from './store-guard.ts';

/** A longer exchange fails. A busy host or store may need most of this time; an outage costs it once. */
export const EXCHANGE_TIMEOUT_MS = 1_000;
/** With a store that refuses every write. If processes write at the same time, one of them always succeeds, by chance. */
const MOST_TRIES = 1_000;
/** Time for which a state is kept after its last write, or after the wait that the service asked for. */
const KEEP_MS = 10 * WINDOW_MS;
/** A state this much younger than the store's clock was written before that clock was set back. */
const FUTURE_MS = 5_000;
/** Of the time of a write from that of the store. */
const LARGEST_SKEW_MS = 1_000;
/** A difference this large is not jitter: one of the clocks was set. */
const CLOCK_WAS_SET_MS = 1_000;

export interface StoreExchangeOptions {
  readonly store: LimitStore;
  /** The name that is equal in processes that share a limit: origin and key hash. */
  readonly name: string;
  readonly clock: Clock;
  /** Called once per outage of the store. */
  readonly onOutage?: ((reason: string) => void) | undefined;
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
  /** Since when the store has been asked; `undefined` between two exchanges. */
  askedAt: number | undefined;
  readonly #options: StoreExchangeOptions;
  readonly #time: SteadyTime;
  readonly #name: string;
  #aheadMs: number | undefined;

  constructor(options: StoreExchangeOptions) {
    this.#options = options;
    this.#time = steadyTime(options.clock);
    const onOutage = (error: unknown) => options.onOutage?.(thrownMessage(error));
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
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const offer = createOffer();
      if (!offer.isNews && tries > 0) return offer;
      const isWritten = await this.#exchange(offer.isNews ? offer.state : undefined);
      if (isWritten) return offer;
    }
    throw this.guard.failed(new Error(`none of ${MOST_TRIES} writes was accepted`));
  }

  /** Without `offered`, only reads. Returns whether it was written. The timeout is that of one try: a busy store has not failed. */
  async #exchange(offered?: SharedState): Promise<boolean> {
    const { store } = this.#options;
    const ask = async () => parseReply(await store.exchange(this.#name, this.version, offered && offerOf(offered)));
    this.askedAt = this.#time.datedNow();
    const { isWritten, version, state, nowMs } = await this.guard.use(ask).finally(() => {
      this.askedAt = undefined;
    });
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
  return { version: randomUUID(), state: textOf(state), nowMs: state.at, keepMs: keepMsOf(state) };
}

function keepMsOf({ at, limit: { gate, blockedUntil } }: SharedState): number {
  return KEEP_MS + Math.ceil(Math.max(0, gate.opensAt - at, blockedUntil - at));
}

/** `undefined` for a state of the future: learning again takes less time than an hour by which a clock was set back. */
function usableAt(state: SharedState | undefined, nowMs: number): SharedState | undefined {
  if (state === undefined || state.at > nowMs + FUTURE_MS) return undefined;
  // The store refuses a write whose time differs from its own by more than a second.
  return state.at > nowMs + LARGEST_SKEW_MS ? { ...state, at: nowMs } : state;
}

/** The largest time of a `Date`. */
const LATEST_MS = 8.64e15;

const reply = z.object({
  isWritten: z.boolean(),
  version: z.string(),
  state: z.string(),
  nowMs: z.number().check(z.gte(-LATEST_MS), z.lte(LATEST_MS)),
});

/** The program can have a store of its own. @throws an error that names the value */
function parseReply(value: unknown): LimitExchange {
  const { data, error } = reply.safeParse(value);
  if (data !== undefined) return { ...data, nowMs: Math.floor(data.nowMs) };
  const [field] = error.issues[0]?.path ?? [];
  if (field === undefined)
    throw new Error(`the store returned ${describeValue(value)}, expected the result of an exchange`);
  const shown = describeValue((value as Readonly<Record<PropertyKey, unknown>>)[field]);
  throw new Error(`the store returned ${String(field)} ${shown}, expected ${EXPECTED[field as keyof LimitExchange]}`);
}

const EXPECTED: Readonly<Record<keyof LimitExchange, string>> = {
  isWritten: 'true or false',
  version: 'a text',
  state: 'a text',
  nowMs: 'milliseconds since the Unix epoch',
};
