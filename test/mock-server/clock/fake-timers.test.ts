import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { FxRates } from '../../../src/client/index.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { deferred } from '../../helpers/deferred.ts';
import { startRawServer } from '../../helpers/raw-server.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

afterEach(() => void vi.useRealTimers());

/** The defaults of jest and sinon also fake these. */
const ALL = { toFake: [...(['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date'] as const)] };

test.each(['real', 'virtual'] as const)(
  'after fake timers, a client on a %s clock still waits for the limit',
  async (clock) => {
    const mock = createMockServer({ clock });
    const fx = new FxRates({ apiKey: mock.createKey({ plan: 'free' }).key, ...mock.clientOptions() });
    vi.useFakeTimers({ toFake: [...ALL.toFake, 'queueMicrotask', 'performance'] });
    await fx.latest();
    vi.useRealTimers();

    await Promise.all(Array.from({ length: 20 }, (_, day) => fx.latest({ day })));

    mock.expectRequests({ status: 200 }).toHaveCount(21);
  },
);

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

test.each([
  ['1970, as by mock.timers of node:test', 0],
  ['an hour ago, as by NTP', Date.now() - 3_600_000],
])('a Date that goes back to %s ends the waits of a real clock in time, and returns', async (_, back) => {
  const mock = createMockServer();
  const before = mock.clock.now();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: back });
  let hasEnded = false;
  void mock.clock.sleep(60_000).then(() => {
    hasEnded = true;
  });

  await vi.advanceTimersByTimeAsync(61_000);
  expect(hasEnded).toBe(true);
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
