import type { Clock, FetchLike, FxRates } from '../../src/client/index.ts';
import { FakeClock, quiet } from '../../test/helpers/fake-clock.ts';
import { LimitedServer } from '../../test/helpers/limits-server.ts';
import { API_KEY } from '../../test/helpers/service-replies.ts';
import { builtClient } from '../built.ts';

/** The limit of the Unlimited plan. */
const PER_MINUTE = 1_000;
const IN_FLIGHT = 16;
/** Step of virtual time when no request is in flight; less than the timeout of an attempt. */
const STEP_MS = 5_000;
/** Longer than the last call waits: a call that cannot be served before its deadline rejects immediately. */
const DEADLINE_MS = 86_400_000;
const REFUSED = '{"success":false,"error":{"code":"rate_limited","message":"Too many requests.","status":429}}';

/** Calls of one client that wait behind its limit, in virtual time. The service responds only to `drain`. */
export class Queue {
  readonly #fx: FxRates;
  readonly #clock = new FakeClock();
  readonly #isAbortable: boolean;
  #open = () => {};
  #calls: Promise<unknown>[] = [];
  #controllers: AbortController[] = [];
  #ended = 0;
  completed = 0;

  private constructor(Client: typeof FxRates, isAbortable: boolean) {
    const isOpen = new Promise<void>((resolve) => {
      this.#open = resolve;
    });
    const fetch = limitedFetch(this.#clock, isOpen);
    const rateLimit = { perMinute: PER_MINUTE, maxConcurrent: IN_FLIGHT };
    this.#fx = new Client({ baseUrl: 'https://fx.test', apiKey: API_KEY, clock: this.#clock, fetch, rateLimit });
    this.#isAbortable = isAbortable;
  }

  /** Fills all slots of the service, so that every later call waits. */
  static async create(isAbortable: boolean): Promise<Queue> {
    const queue = new Queue((await builtClient()).FxRates, isAbortable);
    await queue.add(IN_FLIGHT);
    return queue;
  }

  get waiting(): number {
    return this.#fx.limits()?.waiting ?? 0;
  }

  /** Calls that wait, and sleeps of the client that have not ended. */
  get left(): number {
    return this.waiting + this.#clock.pending;
  }

  /** Resolves when all of them are in the queue. */
  async add(calls: number): Promise<void> {
    const ended = () => {
      this.#ended += 1;
    };
    const completed = () => {
      this.completed += 1;
      ended();
    };
    for (let added = 0; added < calls; added += 1) {
      this.#calls.push(this.#fx.latest({ n: this.#calls.length }, this.#callOptions()).then(completed, ended));
    }
    await quiet();
  }

  /** Aborts every second call; resolves when they have left the queue. */
  async abortHalf(): Promise<void> {
    for (const [place, controller] of this.#controllers.entries()) if (place % 2 === 0) controller.abort();
    this.#controllers = [];
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

  #callOptions() {
    if (!this.#isAbortable) return undefined;
    const controller = new AbortController();
    this.#controllers.push(controller);
    return { signal: controller.signal, deadlineMs: DEADLINE_MS };
  }
}

/** A service with a sliding window, in virtual time. */
function limitedFetch(clock: Clock, isOpen: Promise<void>): FetchLike {
  const server = new LimitedServer({ window: 'sliding-log', limit: PER_MINUTE, hint: 'seconds' });
  return async () => {
    await isOpen;
    const { status, retryAfter } = server.receive(clock.now());
    if (retryAfter === undefined) return new Response('{"success":true,"data":{}}', { status });
    return new Response(REFUSED, { status, headers: { 'retry-after': retryAfter } });
  };
}
