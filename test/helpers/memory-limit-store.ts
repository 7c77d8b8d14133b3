import type { LimitExchange, LimitOffer, LimitStore } from '../../src/client/limits/shared/limit-store.ts';
import type { Clock } from '../../src/client/time/clock.ts';

interface Stored {
  readonly version: string;
  readonly state: string;
  readonly forgetAt: number;
}

export interface MemoryLimitStoreOptions {
  /** Milliseconds from a call to its result; a function is asked for each of the two ways. Default: 0. */
  readonly takesMs?: number | (() => number);
  /** Difference between its clock and the given one. Default: 0. */
  readonly aheadMs?: number;
}

/** A store in memory that simulated processes share, in virtual time. */
export class MemoryLimitStore implements LimitStore {
  readonly #clock: Clock;
  readonly #takesMs: number | (() => number);
  readonly #stored = new Map<string, Stored>();
  aheadMs: number;
  /** `'down'`: every exchange is rejected. `'silent'`: no exchange settles. */
  health: 'up' | 'down' | 'silent' = 'up';
  exchanges = 0;
  writes = 0;

  constructor(clock: Clock, { takesMs = 0, aheadMs = 0 }: MemoryLimitStoreOptions = {}) {
    this.#clock = clock;
    this.#takesMs = takesMs;
    this.aheadMs = aheadMs;
  }

  async exchange(name: string, known: string, offer?: LimitOffer): Promise<LimitExchange> {
    this.exchanges += 1;
    await this.#travel();
    if (this.health === 'silent') return new Promise(() => undefined);
    if (this.health === 'down') throw new Error('connection refused');
    const reply = this.#decide(name, known, offer);
    await this.#travel();
    return reply;
  }

  /** Loses all data, like a restart of the store. */
  forget(): void {
    this.#stored.clear();
  }

  stateOf(name: string): string {
    return this.#stored.get(name)?.state ?? '';
  }

  async #travel(): Promise<void> {
    const takesMs = typeof this.#takesMs === 'number' ? this.#takesMs : this.#takesMs();
    if (takesMs > 0) await this.#clock.sleep(takesMs / 2);
  }

  #decide(name: string, known: string, offer: LimitOffer | undefined): LimitExchange {
    const nowMs = this.#clock.now() + this.aheadMs;
    const found = this.#stored.get(name);
    const { version, state } = found && found.forgetAt > nowMs ? found : { version: '', state: '' };
    const isWritten = offer !== undefined && known === version && Math.abs(offer.nowMs - nowMs) <= 1_000;
    if (!isWritten) return { isWritten, version, state: known === version ? '' : state, nowMs };
    this.writes += 1;
    this.#stored.set(name, { version: offer.version, state: offer.state, forgetAt: nowMs + offer.keepMs });
    return { isWritten, version: offer.version, state: '', nowMs };
  }
}
