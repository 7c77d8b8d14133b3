import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { FxRates } from '../../../src/client/index.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { deferred } from '../../helpers/deferred.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';
import { startRawServer } from '../../helpers/raw-server.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

afterEach(() => void vi.useRealTimers());

/** The defaults of jest and sinon also fake these. */
const ALL = { toFake: [...(['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date'] as const)] };

test.each(['real', 'virtual'] as const)('after fake timers, a %s clock still waits for the limit', async (clock) => {
  const mock = createMockServer({ clock });
  const fx = new FxRates({ apiKey: mock.createKey({ plan: 'free' }).key, ...mock.clientOptions() });
  vi.useFakeTimers({ toFake: [...ALL.toFake, 'queueMicrotask', 'performance'] });
  await fx.latest();
  vi.useRealTimers();

  await Promise.all(Array.from({ length: 20 }, (_, day) => fx.latest({ day })));

  mock.expectRequests({ status: 200 }).toHaveCount(21);
});

test('the journal calls a request early after a Retry-After under the fake timers of jest', async () => {
  vi.useFakeTimers({ toFake: [...ALL.toFake, 'queueMicrotask'] });
  const mock = createMockServer();
  const { key } = mock.createKey();
  mock.rules.add({ times: 1, respond: { status: 429, headers: { 'retry-after': '30' } } });
  const send = () => mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: `Bearer ${key}` } });

  await (await send()).text();
  await (await send()).text();

  expect(mock.audit().earlyRetries).toHaveLength(1);
});

const realNow = Date.now;

/** Ways to fake the date alone, each with a date that stands still. */
const fakeDates: readonly [string, (at: number) => void][] = [
  ['vi.setSystemTime()', (at) => void vi.setSystemTime(at)],
  ["vi.useFakeTimers({ toFake: ['Date'] })", (now) => void vi.useFakeTimers({ toFake: ['Date'], now })],
  ['Date.now that was replaced', (at) => void vi.spyOn(Date, 'now').mockReturnValue(at)],
];
const DAY_MS = 86_400_000;

test.each(
  fakeDates.flatMap(([way, fake]) =>
    [-DAY_MS, 0, DAY_MS].map((byMs) => [byMs / DAY_MS, way, () => fake(realNow() + byMs)] as const),
  ),
)('with a date that stands still, by %i days, waits end and the clock moves on: %s', async (days, _, fake) => {
  const mock = createMockServer();
  const before = mock.clock.now();
  const long = mock.clock.sleep(120); // begins before, and ends after
  fake();

  const start = mock.clock.now();
  for (let time = 0; time < 10; time += 1) await mock.clock.sleep(7);
  await long;

  expect(start - before).toBeGreaterThanOrEqual(Math.max(0, days) * DAY_MS - 1000);
  expect(mock.clock.now() - start).toBeGreaterThanOrEqual(70);
  vi.useRealTimers();
  vi.restoreAllMocks();
  // The date has returned, and the clock does not go back.
  expect(mock.clock.now()).toBeGreaterThanOrEqual(start + 70);
  expect(mock.clock.now() - realNow()).toBeLessThan(Math.max(0, days) * DAY_MS + 60_000);
});

test('a date that jumps during a wait neither ends nor prolongs it', async () => {
  const mock = createMockServer();
  const dates = [DAY_MS, -DAY_MS, 40 * DAY_MS, 0];
  const ends: number[] = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const sleep = mock.clock.sleep(60_000).then(() => ends.push(mock.clock.now()));

  for (const byMs of dates) {
    vi.setSystemTime(realNow() + byMs);
    await vi.advanceTimersByTimeAsync(14_000);
  }
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(4_000);

  expect(ends).toHaveLength(1);
  await sleep;
});

test('with timers alone faked, the waits follow them, and so does the time', async () => {
  const { mock, send } = mockWithKey({ clock: 'real' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const before = mock.clock.now();
  for (let request = 0; request < 31; request += 1) await send();

  const sleep = mock.clock.sleep(60_000);
  await vi.advanceTimersByTimeAsync(60_000);
  await sleep;

  expect(mock.clock.now() - before).toBeGreaterThanOrEqual(60_000);
  expect((await send()).status).toBe(200);
});

test('a timer that fires a little early does not put the clock ahead for good', async () => {
  const mock = createMockServer();
  const before = realNow();
  const start = mock.clock.now();
  vi.spyOn(Date, 'now').mockReturnValue(before); // as if every timer was early
  for (let time = 0; time < 3; time += 1) await mock.clock.sleep(1);
  expect(mock.clock.now() - start).toBeGreaterThanOrEqual(3);

  vi.mocked(Date.now).mockReturnValue(before + 10);

  expect(mock.clock.now()).toBe(before + 10);
});

test.each([
  ['1970, as by mock.timers of node:test', 0],
  ['an hour ago, as by NTP', Date.now() - 3_600_000],
])('a Date that goes back to %s ends the waits of a real clock in time, and returns', async (_, back) => {
  const mock = createMockServer();
  const before = mock.clock.now();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: back });
  const ends: number[] = [];
  void mock.clock.sleep(60_000).then(() => ends.push(mock.clock.now()));

  await vi.advanceTimersByTimeAsync(61_000);
  expect(ends).toHaveLength(1);
  expect(mock.clock.now() - before).toBeLessThan(120_000);
  vi.useRealTimers();

  expect(mock.clock.now() - Date.now()).toBeLessThan(120_000);
});

test('without the mock, fake timers of setTimeout alone end the waits of a client', async () => {
  const server = await startRawServer({
    onRequest: ({ socket, index }) => {
      if (index === 0) socket.write('HTTP/1.1 429 Limited\r\nretry-after: 30\r\ncontent-length: 0\r\n\r\n');
    },
  });
  onTestFinished(() => server.close());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const waiting = deferred<unknown>();
  const fx = new FxRates({ baseUrl: server.url, apiKey: API_KEY, maxRetries: 0, onWait: waiting.resolve });

  const error = errorOf(fx.latest());
  await waiting.promise;
  await vi.advanceTimersByTimeAsync(40_000);
  await server.arrived(1);
  await vi.advanceTimersByTimeAsync(10_000);

  expect(await error).toMatchObject({ kind: 'timeout', limitMs: 10_000 });
});
