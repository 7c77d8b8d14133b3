import { expect, test } from 'vitest';
import { FxRates } from '../../src/client/index.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { inLongRuns } from '../helpers/long-tests.ts';

const LIMIT = 30;
const CALLS = 60;
/** The client's default. */
const DEADLINE_S = 90;

/** Free slots for our client: seconds after its first call, and their number. */
const SLOTS: Readonly<
  Record<'sliding-log' | 'fixed-epoch', (others: Others) => (readonly [atS: number, slots: number])[]>
> = {
  'sliding-log': ({ used, beforeS }) => [
    [0, LIMIT - used],
    [60 - beforeS, used],
    [60, LIMIT - used],
    [120 - beforeS, used],
  ],
  'fixed-epoch': ({ used, beforeS }) => [
    [0, LIMIT - used],
    [60 - beforeS, LIMIT],
    [120 - beforeS, LIMIT],
  ],
};

/** Requests of another process, some seconds before ours. */
interface Others {
  readonly used: number;
  readonly beforeS: number;
}

const others = inLongRuns([1, 2, 5, 10, 20], [1, 20]).flatMap((used) =>
  inLongRuns([5, 20, 35, 50], [5, 50]).map((beforeS): Others => ({ used, beforeS })),
);
const cases = (['sliding-log', 'fixed-epoch'] as const).flatMap((rateWindow) =>
  [undefined, LIMIT].flatMap((perMinute) => others.map((given) => ({ rateWindow, perMinute, ...given }))),
);

test.each(cases)(
  '$rateWindow, perMinute $perMinute: with $used requests of another client $beforeS s earlier, no call fails that the limit allows',
  async ({ rateWindow, perMinute, used, beforeS }) => {
    const mock = createMockServer({ clock: 'virtual', behaviour: { rateWindow } });
    const { key } = mock.createKey();
    const headers = { authorization: `Bearer ${key}` };
    for (let request = 0; request < used; request += 1) await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers });
    await mock.clock.advance(beforeS * 1000);
    const fx = new FxRates({ apiKey: key, ...mock.clientOptions(), rateLimit: { perMinute: perMinute ?? 'learn' } });

    const calls = await Promise.allSettled(Array.from({ length: CALLS }, (_, n) => fx.latest({ n })));

    const inTime = SLOTS[rateWindow]({ used, beforeS }).filter(([atS]) => atS < DEADLINE_S);
    const possible = inTime.reduce((sum, [, slots]) => sum + slots, 0);
    // If the limit is unknown, the client calls `quota()`, and again if a refusal contradicts it. Each call uses a
    // slot.
    const served = calls.filter(({ status }) => status === 'fulfilled').length;
    expect(served).toBeGreaterThanOrEqual(Math.min(CALLS, possible - (perMinute === undefined ? 2 : 0)));
  },
);
