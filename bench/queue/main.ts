/**
 * Measures the memory of calls that wait for the limit, and the time to complete them. Each of 100,000 calls must cost as
 * much as each of the first thousand.
 * `npm run bench:queue`; `--json`, `--record`, `--calls 100000`.
 *
 * Times are CPU time of the process, including garbage collection.
 */
import type { Clock, FetchLike } from '../../src/client/index.ts';
import { FakeClock, quiet } from '../../test/helpers/fake-clock.ts';
import { LimitedServer } from '../../test/helpers/limits-server.ts';
import { API_KEY } from '../../test/helpers/service-replies.ts';
import { builtClient } from '../built.ts';
import { memoryInUse } from '../memory-in-use.ts';
import { readOptions, report, table } from '../report.ts';

const { FxRates } = await builtClient();

/** The limit of the Unlimited plan. */
const PER_MINUTE = 1_000;
const IN_FLIGHT = 16;
/** Step of virtual time when no request is in flight; less than the timeout of an attempt. */
const STEP_MS = 5_000;
/** Longer than the last call waits: a call that cannot be served before its deadline rejects immediately. */
const DEADLINE_MS = 86_400_000;
const REFUSED = '{"success":false,"error":{"code":"rate_limited","message":"Too many requests.","status":429}}';

/** Calls that are made in one turn of the event loop, and calls of a short queue. */
const BATCH = 1_000;
/** Number of short queues, of which a figure is the mean: enough to include garbage collections. */
const SHORT_QUEUES = 30;

/** Calls of one client that wait behind its limit, in virtual time. The service responds only to `drain`. */
class Queue {
  readonly #fx: InstanceType<typeof FxRates>;
  readonly #clock = new FakeClock();
  readonly #isAbortable: boolean;
  #open = () => {};
  #calls: Promise<unknown>[] = [];
  #controllers: AbortController[] = [];
  #ended = 0;
  completed = 0;

  constructor(isAbortable: boolean) {
    const isOpen = new Promise<void>((resolve) => {
      this.#open = resolve;
    });
    const fetch = limitedFetch(this.#clock, isOpen);
    const rateLimit = { perMinute: PER_MINUTE, maxConcurrent: IN_FLIGHT };
    this.#fx = new FxRates({ baseUrl: 'https://fx.test', apiKey: API_KEY, clock: this.#clock, fetch, rateLimit });
    this.#isAbortable = isAbortable;
  }

  /** Fills all slots of the service, so that every later call waits. */
  static async create(isAbortable: boolean): Promise<Queue> {
    const queue = new Queue(isAbortable);
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

const options = readOptions({ calls: 100_000 });
const { calls } = options;
await measure('warm-up', false, 5_000); // loads and compiles all code
const rows = [
  await measure('calls', false, calls),
  await measure('calls with a deadline and a signal each, half of them aborted', true, calls),
];
const figures = Object.fromEntries(
  rows.flatMap(({ name, bytes, short, long, left }) => [
    [`${name}: bytes per call`, bytes.all],
    [`${name}: completion, long / short`, long / short],
    [`${name}: left`, left],
  ]),
);
report('queue', { text: asText(), json: { calls, rows }, figures }, options);

/** A long queue beside the mean of short ones: bytes per waiting call, and µs per completed one. */
async function measure(name: string, isAbortable: boolean, calls: number) {
  const short = await shortQueues(isAbortable);
  const queue = await Queue.create(isAbortable);
  const before = memoryInUse();
  await queue.add(BATCH);
  const first = (memoryInUse() - before) / BATCH;
  for (let left = calls - BATCH; left > 0; left -= BATCH) await queue.add(Math.min(BATCH, left));
  const bytes = { first, all: (memoryInUse() - before) / queue.waiting };
  const long = await emptied(queue, isAbortable);
  return { name, bytes, short, long, left: queue.left };
}

async function shortQueues(isAbortable: boolean): Promise<number> {
  let sum = 0;
  for (let run = 0; run < SHORT_QUEUES; run += 1) {
    const queue = await Queue.create(isAbortable);
    await queue.add(BATCH);
    sum += await emptied(queue, isAbortable);
  }
  return sum / SHORT_QUEUES;
}

/** CPU microseconds per call until no call waits. */
async function emptied(queue: Queue, isAbortable: boolean): Promise<number> {
  const before = process.cpuUsage(); // of this process, which other programs do not increase
  if (isAbortable) await queue.abortHalf();
  await queue.drain();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / queue.completed;
}

function asText(): string {
  const heads = ['waiting', 'bytes each', 'µs to complete', 'left'];
  const cells = rows.map(({ name, bytes, short, long, left }) => {
    return [name, pair(bytes.first, bytes.all), pair(short, long), String(left)];
  });
  return `${table(heads, cells)}\n\nIn each pair: a queue of 1,000 calls; one of ${calls.toLocaleString('en')}.`;
}

function pair(one: number, other: number): string {
  return `${one.toFixed(0)}; ${other.toFixed(0)}`;
}
