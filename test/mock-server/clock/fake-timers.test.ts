import { afterEach, expect, test, vi } from 'vitest';
import { FxRates } from '../../../src/client/index.ts';
import { createMockServer, type MockServerOptions } from '../../../src/mock-server/index.ts';

afterEach(() => void vi.useRealTimers());

/** A client whose call waits 5 s in the mock, and 2 s for a retry. */
function slowCall(clock: MockServerOptions['clock']) {
  const mock = createMockServer({ clock });
  const { key: apiKey } = mock.createKey();
  mock.faults.add({ kind: 'latency', latencyMs: 5000, times: 1 });
  mock.faults.add({ kind: 'status', status: 503, headers: { 'retry-after': '2' }, times: 1 });
  const call = new FxRates({ apiKey, ...mock.clientOptions() }).latest().withMeta();
  let hasEnded = false;
  void call.finally(() => {
    hasEnded = true;
  });
  return { call, hasEnded: () => hasEnded };
}

test('with fake timers and a fake Date, the real clock of the mock and of the client follow them', async () => {
  vi.useFakeTimers();
  const { call, hasEnded } = slowCall('real');

  await vi.advanceTimersByTimeAsync(4000);
  expect(hasEnded()).toBe(false);
  await vi.advanceTimersByTimeAsync(6000);

  expect(hasEnded()).toBe(true);
  expect((await call).meta.attempts.map(({ status }) => status)).toEqual([503, 200]);
});

test('with a fake setTimeout and the real Date, a wait of the real clock does not end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { hasEnded } = slowCall('real');

  await vi.advanceTimersByTimeAsync(60_000);

  expect(hasEnded()).toBe(false);
});

test('a virtual clock needs no fake timers, and works with them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  const { meta } = await slowCall('virtual').call;

  expect(meta.attempts.map(({ status }) => status)).toEqual([503, 200]);
});
