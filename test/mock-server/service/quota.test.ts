import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { SetUsage } from '../../../src/mock-server/index.ts';
import { quotaPeriod } from '../../../src/mock-server/service/decide.ts';
import { MockCore } from '../../helpers/mock-core.ts';
import { mockWithKey, STILL } from '../../helpers/mock-with-key.ts';

const at = (text: string) => Date.parse(text);
/** Created on the 31st at 10:30: shorter months begin on their last day. */
const CREATED = at('2025-12-31T10:30:00.000Z');

test.each([
  ['calendar-month-utc', '2026-01-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  ['calendar-month-utc', '2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['calendar-month-utc', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ['calendar-month-utc', '2026-04-30T23:59:59.999Z', '2026-04-01T00:00:00.000Z', '2026-05-01T00:00:00.000Z'],
  ['calendar-month-utc', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['anniversary', '2026-02-28T10:29:59.999Z', '2026-01-31T10:30:00.000Z', '2026-02-28T10:30:00.000Z'],
  ['anniversary', '2026-02-28T10:30:00.000Z', '2026-02-28T10:30:00.000Z', '2026-03-31T10:30:00.000Z'],
  ['anniversary', '2028-02-29T10:30:00.000Z', '2028-02-29T10:30:00.000Z', '2028-03-31T10:30:00.000Z'],
  ['anniversary', '2026-05-01T00:00:00.000Z', '2026-04-30T10:30:00.000Z', '2026-05-31T10:30:00.000Z'],
  ['anniversary', '2027-01-01T00:00:00.000Z', '2026-12-31T10:30:00.000Z', '2027-01-31T10:30:00.000Z'],
] as const)('the period %s of %s runs from %s to %s', (kind, now, start, end) => {
  const period = quotaPeriod(kind, at(now), { createdAt: CREATED, usedFrom: undefined });

  expect(period).toEqual({ start: at(start), end: at(end) });
});

test.each([
  [undefined, '2026-03-10T00:00:00.000Z'],
  ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  // Thirty days earlier: the period has just ended.
  ['2026-02-08T00:00:00.000Z', '2026-03-10T00:00:00.000Z'],
  ['2026-02-08T00:00:00.001Z', '2026-02-08T00:00:00.001Z'],
])('with a first use at %s, the thirty days that contain 10 March begin at %s', (used, start) => {
  const usedFrom = used === undefined ? undefined : at(used);

  const period = quotaPeriod('rolling-30d', at('2026-03-10T00:00:00.000Z'), { createdAt: CREATED, usedFrom });

  expect(period).toEqual({ start: at(start), end: at(start) + 30 * 86_400_000 });
});

test('every moment lies in its period, and the end of a period begins the next', () => {
  const moment = fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2090-01-01T00:00:00Z') });
  fc.assert(
    fc.property(
      moment,
      moment,
      fc.constantFrom('calendar-month-utc' as const, 'anniversary' as const),
      (one, two, kind) => {
        const [createdAt, now] = [Math.min(one, two), Math.max(one, two)];
        const around = { createdAt, usedFrom: undefined };

        const period = quotaPeriod(kind, now, around);

        expect(period.start).toBeLessThanOrEqual(now);
        expect(period.end).toBeGreaterThan(now);
        expect(quotaPeriod(kind, period.end, around).start).toBe(period.end);
        expect(quotaPeriod(kind, period.end - 1, around)).toEqual(period);
      },
    ),
  );
});

test.each(['calendar-month-utc', 'anniversary', 'rolling-30d'] as const)(
  'resets_at is the first instant that serves again, %s',
  (kind) => {
    for (const now of ['2026-01-31T12:00:00Z', '2028-02-29T23:59:59.999Z', '2026-12-31T23:59:59Z']) {
      const core = new MockCore({ behaviour: { quotaPeriod: kind }, now: at(now) });
      const { id, key } = core.createKey();
      core.send('/api/v1/latest', { key });
      core.keys.setUsage(id, { month: 1000 });
      const resetsAt = at(core.send('/api/v1/quota', { key }).data.resets_at);

      core.now = resetsAt - 1;
      const before = core.send('/api/v1/latest', { key });
      core.now = resetsAt;
      const after = core.send('/api/v1/latest', { key });

      expect([before.code, after.status]).toEqual(['quota_exceeded', 200]);
      expect(core.keys.get(id).month.used).toBe(1);
    }
  },
);

test('the months do not depend on the time zone of the machine', () => {
  const periods = ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Kiritimati'].map((zone) => {
    vi.stubEnv('TZ', zone);
    return [
      quotaPeriod('calendar-month-utc', at('2026-03-29T01:30:00Z'), { createdAt: CREATED, usedFrom: undefined }),
      quotaPeriod('anniversary', at('2026-03-29T01:30:00Z'), {
        createdAt: at('2025-10-31T02:30:00Z'),
        usedFrom: undefined,
      }),
    ];
  });

  for (const period of periods) expect(period).toEqual(periods[0]);
});

const START = Date.UTC(2026, 0, 15);
const KINDS = ['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'] as const;

/** A mock whose only key sent 3 requests 20 s before now, and 2 now. */
async function usedKey(rateWindow: (typeof KINDS)[number]) {
  const { mock, id, send: call } = mockWithKey({ clock: { ...STILL, now: START + 5000 }, behaviour: { rateWindow } });
  for (let request = 0; request < 3; request += 1) await call();
  await mock.clock.advance(20_000);
  for (let request = 0; request < 2; request += 1) await call();
  return { mock, id, call };
}

test.each([
  ['sliding-log', { used: 5, fullAt: START + 85_000 }],
  ['fixed-epoch', { used: 5, fullAt: START + 60_000 }],
  ['fixed-first-request', { used: 5, fullAt: START + 65_000 }],
  ['sliding-counter', { used: 5, fullAt: START + 120_000 }],
  ['token-bucket', { used: 2, fullAt: START + 29_000 }], // the others have refilled
] as const)('the limits of a key show what a window of kind %s has counted', async (kind, counted) => {
  const { mock, id } = await usedKey(kind);
  const unused = mock.createKey({ plan: 'unlimited' }).id;

  const { minute, month } = mock.keys.get(id);

  expect(minute).toMatchObject({ limit: 30, waitMs: 0, ...counted });
  expect(month).toMatchObject({ used: 5, startedAt: Date.UTC(2026, 0), resetsAt: Date.UTC(2026, 1) });
  expect(mock.keys.get(unused)).toMatchObject({
    minute: { used: 0, waitMs: 0, fullAt: mock.clock.now() },
    month: { limit: null, used: 0 },
  });
});

test.each(KINDS)('setUsage sets the requests of this minute in a window of kind %s', async (kind) => {
  const { mock, id, call } = await usedKey(kind);

  mock.keys.setUsage(id, { minute: 29 });
  const statuses = [(await call()).status, (await call()).status];

  expect(statuses).toEqual([200, 429]);
  expect(mock.keys.get(id).month.used).toBe(6);
  expect(mock.keys.setUsage(id, { minute: 30 }).minute.used).toBe(30);
  expect(mock.keys.setUsage(id, { month: 9 })).toMatchObject({ minute: { used: 30 }, month: { used: 9 } });
  expect(mock.keys.setUsage(id, { minute: 0 }).minute).toMatchObject({ used: 0, fullAt: mock.clock.now() });
});

test.each([
  [
    { minute: 31 },
    'minute is 31; expected a whole number from 0 to 30, the limit of the key, because the service accepts no more.',
  ],
  [{ minute: 1.5 }, 'minute is 1.5'],
  [{ month: Number.NaN, minute: 1 }, 'month is NaN; expected a whole number from 0.'],
  [{}, 'options is {}; expected month, minute or both.'],
  [{ minutes: 1 }, 'minutes is not an option of setUsage(); did you mean minute?'],
])('setUsage refuses %j and changes nothing', async (usage, message) => {
  const { mock, id } = await usedKey('sliding-log');
  const before = mock.keys.get(id);

  expect(() => mock.keys.setUsage(id, usage as SetUsage)).toThrow(message);
  expect(mock.keys.get(id)).toEqual(before);
});

test('setUsage to no request begins no period of 30 days', async () => {
  const { mock, id, send } = mockWithKey({ behaviour: { quotaPeriod: 'rolling-30d' } });
  mock.keys.setUsage(id, { month: 0 });
  await mock.clock.advance(10 * 86_400_000);

  await send();

  expect(mock.keys.get(id).month.startedAt).toBe(mock.clock.now());
});

test('the usage that a function of a rule sets is counted on from there', async () => {
  const { mock, id, send } = mockWithKey();
  const respond = () => {
    mock.keys.setUsage(id, { month: 500, minute: 10 });
    return { body: {} };
  };
  mock.rules.add({ respond });

  await send();

  expect(mock.snapshot().keys).toMatchObject([{ used: 501 }]);
  expect(mock.journal.list()).toMatchObject([{ quota: { used: 501 }, rate: { used: 11 } }]);
});
