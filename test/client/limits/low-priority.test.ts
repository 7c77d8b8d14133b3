import { expect, test } from 'vitest';
import { createFetch, Traffic } from '../../../bench/limits/wild/network.ts';
import { WildServer } from '../../../bench/limits/wild/server.ts';
import { ProcessClock, VirtualTime } from '../../../bench/limits/wild/virtual-time.ts';
import type { WindowKind } from '../../../bench/limits/wild/windows.ts';
import { FxRates } from '../../../src/client/index.ts';
import { seededRandom } from '../../helpers/limits-random.ts';
import { inLongRuns } from '../../helpers/long-tests.ts';
import { MemoryLimitStore } from '../../helpers/memory-limit-store.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

/** The beginning of a minute. */
const START = 1_700_000_040_000;
const MINUTE = 60_000;

interface Traffics {
  readonly limit: number;
  readonly minutes: number;
  /** Calls of high priority that are served within 300 ms, which is the deadline of those at equal intervals, from a minute before the batch: at most this part of the limit. */
  readonly pages: number;
  /** Whether they come at random times. */
  readonly isRandom: boolean;
  /** What the batch shares with the pages: their process, or, from another one, a store or only the key. */
  readonly shared: 'process' | 'store' | 'key';
}

/** Rule 16 of src/client/limits/README.md: a batch, in virtual time. Returns the served part of the pages, and of the limit. */
async function run(kind: WindowKind, { limit, minutes, pages: part, isRandom, shared }: Traffics) {
  const time = new VirtualTime(START);
  const server = new WildServer({ kind, limit }, seededRandom(4), { startedAt: START, seed: 1 });
  const store = new MemoryLimitStore(new ProcessClock(time), { takesMs: 2 });
  const start = (name: string, seed: number) => {
    const world = { time, server, network: { latency: [20, 40] as const }, random: seededRandom(seed) };
    return new FxRates({
      ...{ baseUrl: 'https://service.example', apiKey: API_KEY, fetch: createFetch(world, new Traffic(name)) },
      clock: Object.assign(new ProcessClock(time), { random: seededRandom(seed) }),
      rateLimit: shared === 'store' ? { store } : {},
      logger: { warn: () => undefined },
    });
  };
  const pages = start('pages', 1);
  const other = shared === 'process' ? pages : start('batch', 2);
  const result = { made: 0, served: 0, batched: 0 };
  const page = async (n: number) => {
    result.made += 1;
    const startedAt = time.now();
    await pages.latest({ page: n }, { priority: 'high', deadlineMs: isRandom ? false : 300 });
    if (time.now() - startedAt <= 300) result.served += 1;
  };
  const batch = async () => {
    for await (const { error } of other.batch(Array.from({ length: 40 * limit }, (_, n) => ({ n })))) {
      if (error === undefined) result.batched += 1;
    }
  };
  const random = seededRandom(11);
  const meanMs = MINUTE / (part * limit);
  for (let n = 0, ms = 0; ms < (minutes + 1) * MINUTE; n += 1) {
    time.after(ms, () => void page(n).catch(() => undefined));
    ms += isRandom ? -Math.log(1 - random()) * meanMs : meanMs;
  }
  time.after(MINUTE + 500, () => void batch().catch(() => undefined));
  // A second before a window ends, so that each minute has one beginning.
  await time.run(() => false, START + (minutes + 1) * MINUTE - 1_000);
  const { batched } = result;
  const closed = Promise.all([pages.close(), other.close()]); // the store takes its time
  await time.run(() => false, START + (minutes + 2) * MINUTE);
  await closed;
  return { served: result.served / result.made, batched: batched / (limit * minutes) };
}

const EVENLY = { minutes: inLongRuns(10, 3), pages: 0.2, isRandom: false };
const AT_RANDOM = { minutes: inLongRuns(10, 5), pages: 0.15, isRandom: true };
const SHORT = { minutes: inLongRuns(3, 2) };

test.each<[WindowKind, string, 'process' | 'store' | 'key', Omit<Traffics, 'limit' | 'shared'>, number, number?]>([
  ['fixed-minute', 'at equal intervals', 'process', EVENLY, 0.95],
  ['fixed-first-hit', 'at equal intervals', 'process', EVENLY, 0.95],
  ['sliding-log', 'at equal intervals', 'process', EVENLY, 0.95],
  ['sliding-counter', 'at equal intervals', 'process', EVENLY, 0.95],
  ['bucket', 'at equal intervals', 'process', EVENLY, 0.95],
  ['sliding-log', 'at equal intervals', 'store', EVENLY, 0.95],
  ['sliding-counter', 'at equal intervals', 'store', EVENLY, 0.95],
  // Alone, the calls of high priority are more than the smallest plan allows.
  ['sliding-log', 'at equal intervals', 'store', { ...EVENLY, ...SHORT }, 0.95, 300],
  ['fixed-minute', 'at random times', 'process', { ...AT_RANDOM, ...SHORT }, 0.95, 300],
  ['fixed-first-hit', 'at random times', 'process', { ...AT_RANDOM, ...SHORT }, 0.95, 300],
  ['sliding-counter', 'at random times', 'store', { ...AT_RANDOM, ...SHORT }, 0.95, 300],
  ['fixed-minute', 'at random times', 'process', AT_RANDOM, 0.8],
  ['sliding-log', 'at random times', 'process', AT_RANDOM, 0.6],
  // Only refusals show the process of the batch that others call.
  ['fixed-minute', 'at random times', 'key', AT_RANDOM, 0.6],
  ['sliding-log', 'at random times', 'key', AT_RANDOM, 0.6],
])(
  '16 low priority: a batch leaves calls beside it their slots (%s, %s, with the same %s)',
  async (kind, _, shared, traffics, least, limit = 30) => {
    const { served, batched } = await run(kind, { ...traffics, limit, shared });

    expect(served).toBeGreaterThanOrEqual(least);
    expect(batched).toBeGreaterThanOrEqual(traffics.isRandom ? 0.7 : 0.75);
  },
);
