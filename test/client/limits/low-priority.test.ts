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
  readonly isRandom?: boolean;
  /** What the batch shares with the pages: their process, or, from another one, a store or only the key. */
  readonly shared: 'process' | 'store' | 'key';
}

/** Rule 16 of src/client/limits/README.md: a batch, in virtual time. */
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
  const meanMs = part === 0 ? Number.POSITIVE_INFINITY : MINUTE / (part * limit);
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
  return { ...result, batched };
}

test.each([
  ['fixed-minute', 30, 'process'],
  ['fixed-first-hit', 30, 'process'],
  ['sliding-log', 30, 'process'],
  ['sliding-counter', 30, 'process'],
  ['bucket', 30, 'process'],
  ['sliding-log', 30, 'store'],
  ['sliding-counter', 30, 'store'],
  // Alone, the calls of high priority are more than the smallest plan allows.
  ['sliding-log', 300, 'store'],
] as const)(
  '16 low priority: a batch leaves calls beside it their slots (%s, limit %i, with the same %s)',
  { timeout: 60_000 },
  async (kind, limit, shared) => {
    const minutes = limit === 30 ? inLongRuns(10, 3) : inLongRuns(3, 2);
    const beside = await run(kind, { limit, minutes, pages: 0.2, shared });
    const alone = await run(kind, { limit, minutes, pages: 0, shared });

    expect(beside.served / beside.made).toBeGreaterThanOrEqual(0.95);
    expect(beside.batched / alone.batched).toBeGreaterThanOrEqual(0.75);
    expect(alone.batched).toBeGreaterThanOrEqual(0.88 * limit * minutes);
  },
);

test.each([
  ['fixed-minute', 300, 'process', 0.95],
  ['fixed-first-hit', 300, 'process', 0.95],
  ['sliding-counter', 300, 'store', 0.95],
  ['fixed-minute', 30, 'process', 0.8],
  ['sliding-log', 30, 'process', 0.6],
  // Only refusals show the process of the batch that others call.
  ['fixed-minute', 30, 'key', 0.6],
  ['sliding-log', 30, 'key', 0.6],
] as const)(
  '16 low priority: also calls at random times (%s, limit %i, with the same %s)',
  { timeout: 60_000 },
  async (kind, limit, shared, least) => {
    const minutes = limit === 30 ? 10 : 3;
    const { served, made, batched } = await run(kind, { limit, minutes, pages: 0.15, isRandom: true, shared });

    expect(served / made).toBeGreaterThanOrEqual(least);
    expect(batched).toBeGreaterThanOrEqual(0.7 * limit * minutes);
  },
);
