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

const START = 1_700_000_000_000;
const MINUTE = 60_000;

interface Traffics {
  readonly limit: number;
  readonly minutes: number;
  /** Calls of high priority with a deadline of 300 ms, at a fifth of the limit, from a minute before the batch. */
  readonly hasPages: boolean;
  /** Whether the batch runs in another process, with a store. */
  readonly isShared: boolean;
}

/** Rule 16 of src/client/limits/README.md: a batch, in virtual time. */
async function run(kind: WindowKind, { limit, minutes, hasPages, isShared }: Traffics) {
  const time = new VirtualTime(START);
  const server = new WildServer({ kind, limit }, seededRandom(4), { startedAt: START, seed: 1 });
  const store = new MemoryLimitStore(new ProcessClock(time), { takesMs: 2 });
  const start = (name: string, seed: number) => {
    const world = { time, server, network: { latency: [20, 40] as const }, random: seededRandom(seed) };
    return new FxRates({
      ...{ baseUrl: 'https://service.example', apiKey: API_KEY, fetch: createFetch(world, new Traffic(name)) },
      clock: Object.assign(new ProcessClock(time), { random: seededRandom(seed) }),
      rateLimit: isShared ? { store } : {},
      logger: { warn: () => undefined },
    });
  };
  const pages = start('pages', 1);
  const other = isShared ? start('batch', 2) : pages;
  const result = { made: 0, served: 0, batched: 0 };
  const page = async (n: number) => {
    result.made += 1;
    await pages.latest({ page: n }, { priority: 'high', deadlineMs: 300 });
    result.served += 1;
  };
  const batch = async () => {
    for await (const { error } of other.batch(Array.from({ length: 40 * limit }, (_, n) => ({ n })))) {
      if (error === undefined) result.batched += 1;
    }
  };
  const perMinute = hasPages ? limit / 5 : 0;
  for (let n = 0; n < perMinute * (minutes + 1); n += 1) {
    time.after((n * MINUTE) / perMinute, () => void page(n).catch(() => undefined));
  }
  time.after(MINUTE - 1_000, () => void batch().catch(() => undefined));
  await time.run(() => false, START + (minutes + 1) * MINUTE);
  const closed = Promise.all([pages.close(), other.close()]); // the store takes its time
  await time.run(() => false, START + (minutes + 2) * MINUTE);
  await closed;
  return result;
}

test.each([
  ['fixed-minute', 30, false],
  ['fixed-first-hit', 30, false],
  ['sliding-log', 30, false],
  ['sliding-counter', 30, false],
  ['bucket', 30, false],
  ['sliding-log', 30, true],
  ['sliding-counter', 30, true],
  // Alone, the calls of high priority are more than the smallest plan allows.
  ['sliding-log', 300, true],
] as const)(
  '16 low priority: a batch leaves calls beside it their slots (%s, limit %i, with a store: %j)',
  { timeout: 60_000 },
  async (kind, limit, isShared) => {
    const minutes = limit === 30 ? inLongRuns(10, 3) : inLongRuns(3, 2);
    const beside = await run(kind, { limit, minutes, hasPages: true, isShared });
    const alone = await run(kind, { limit, minutes, hasPages: false, isShared });

    expect(beside.served / beside.made).toBeGreaterThanOrEqual(0.95);
    expect(beside.batched / alone.batched).toBeGreaterThanOrEqual(0.75);
    expect(alone.batched).toBeGreaterThanOrEqual(0.97 * limit * minutes);
  },
);
