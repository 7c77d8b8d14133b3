import type { LimitExchange, LimitOffer, LimitStore } from '../../../src/client/limits/shared/limit-store.ts';
import { between, type Random } from '../../../test/helpers/limits-random.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface StoreSpec {
  /** Milliseconds from an exchange to its result. */
  readonly latency: readonly [number, number];
  /** Periods in which every exchange is rejected or never responded to, in milliseconds since the start. */
  readonly failures?: readonly {
    readonly fromMs: number;
    readonly untilMs: number;
    readonly kind: 'down' | 'silent';
  }[];
}

interface Stored {
  readonly version: string;
  readonly state: string;
  readonly forgetAt: number;
}

const EMPTY: Stored = { version: '', state: '', forgetAt: Number.POSITIVE_INFINITY };

/** A store that the processes share, in virtual time. */
export class SimulatedStore implements LimitStore {
  readonly #spec: StoreSpec;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #startedAt: number;
  readonly #stored = new Map<string, Stored>();
  exchanges = 0;

  constructor(spec: StoreSpec, time: VirtualTime, random: Random) {
    this.#spec = spec;
    this.#time = time;
    this.#random = random;
    this.#startedAt = time.now();
  }

  async exchange(name: string, known: string, offer?: LimitOffer): Promise<LimitExchange> {
    this.exchanges += 1;
    await this.#travel();
    const failure = this.#failure();
    if (failure === 'silent') return new Promise(() => undefined);
    if (failure === 'down') throw new Error('connection refused');
    const reply = this.#decide(name, known, offer);
    await this.#travel();
    return reply;
  }

  #decide(name: string, known: string, offer: LimitOffer | undefined): LimitExchange {
    const nowMs = this.#time.now();
    const found = this.#stored.get(name) ?? EMPTY;
    const { version, state } = found.forgetAt > nowMs ? found : EMPTY;
    const isWritten = offer !== undefined && known === version && Math.abs(offer.nowMs - nowMs) <= 1_000;
    if (!isWritten) return { isWritten, version, state: known === version ? '' : state, nowMs };
    this.#stored.set(name, { version: offer.version, state: offer.state, forgetAt: nowMs + offer.keepMs });
    return { isWritten, version: offer.version, state: '', nowMs };
  }

  #failure(): 'down' | 'silent' | undefined {
    const since = this.#time.now() - this.#startedAt;
    return this.#spec.failures?.find(({ fromMs, untilMs }) => since >= fromMs && since < untilMs)?.kind;
  }

  #travel(): Promise<void> {
    const [low, high] = this.#spec.latency;
    return new Promise((resolve) => {
      this.#time.after(between(this.#random, low, high) / 2, resolve);
    });
  }
}
