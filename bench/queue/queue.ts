import type { FxRates } from '../../src/client/index.ts';
import { FakeClock, quiet } from '../../test/helpers/fake-clock.ts';
import { API_KEY } from '../../test/helpers/service-replies.ts';
import { builtClient } from '../built.ts';
import { limitedFetch } from './limited-fetch.ts';
import type { Prepared } from './situations.ts';

const PER_MINUTE = 1_000;
const IN_FLIGHT = 16;
/** Step of virtual time when no request is in flight; less than the timeout of an attempt. */
const STEP_MS = 5_000;

/** Calls of one client that wait behind its limit, in virtual time. */
export class Queue {
  readonly #fx: FxRates;
  readonly #clock: FakeClock;
  readonly #prepared: Prepared;
  readonly #open: () => void;
  #calls: Promise<unknown>[] = [];
  #ended = 0;
  #completed = 0;

  private constructor(Client: typeof FxRates, prepared: Prepared) {
    this.#clock = new FakeClock();
    const { fetch, open } = limitedFetch(this.#clock, PER_MINUTE);
    const rateLimit = { perMinute: PER_MINUTE, maxConcurrent: IN_FLIGHT };
    this.#fx = new Client({ baseUrl: 'https://fx.test', apiKey: API_KEY, clock: this.#clock, fetch, rateLimit });
    this.#prepared = prepared;
    this.#open = open;
  }

  /** Fills all slots of the service, so that every later call waits. */
  static async create(prepared: Prepared): Promise<Queue> {
    const queue = new Queue((await builtClient()).FxRates, prepared);
    await queue.add(IN_FLIGHT);
    return queue;
  }

  get waiting(): number {
    return this.#fx.limits()?.waiting ?? 0;
  }

  get completed(): number {
    return this.#completed;
  }

  /** Sleeps of the client that have not ended. */
  get sleeps(): number {
    return this.#clock.pending;
  }

  /** Resolves when all of them are in the queue. */
  async add(calls: number): Promise<void> {
    const ended = () => {
      this.#ended += 1;
    };
    const completed = () => {
      this.#completed += 1;
      ended();
    };
    for (let added = 0; added < calls; added += 1) {
      const n = this.#calls.length;
      this.#calls.push(this.#fx.latest({ n }, this.#prepared.optionsOf(n)).then(completed, ended));
    }
    await quiet();
  }

  /** Resolves when all aborted calls have left the queue. */
  async abortHalf(): Promise<void> {
    this.#prepared.abortHalf?.();
    await quiet();
  }

  /** Lets the service respond until every call has ended, then forgets the calls. */
  async drain(): Promise<void> {
    this.#open();
    while (this.#ended < this.#calls.length) {
      await quiet();
      if (this.#fx.limits()?.inFlight === 0) await this.#clock.advance(STEP_MS);
    }
    this.#calls = [];
    await quiet();
  }
}
