import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createMockServer, type FaultOptions, type StubOptions } from '../../../src/mock-server/index.ts';
import { type Delay, drawDelayMs } from '../../../src/mock-server/rules/delay.ts';
import { bundledProgram } from '../../helpers/child-program.ts';
import { mockWithKey, sender } from '../../helpers/mock-with-key.ts';

const CHILD = await bundledProgram(new URL('./delay.child.ts', import.meta.url));

test('a process does not end while a request in process waits for its response', () => {
  const { status, stdout } = spawnSync(process.execPath, [CHILD], { encoding: 'utf8' });

  expect({ status, stdout }).toEqual({ status: 0, stdout: 'hang: TimeoutError\nlatency: TimeoutError\n' });
});

function drawn(delay: Delay, count = 4000): number[] {
  return Array.from({ length: count }, (_, request) => drawDelayMs(delay, 1, 'fault_1', 'key_1', request));
}

test('min and max are whole milliseconds with equal probability, both included', () => {
  const delays = drawn({ min: 7, max: 10 });

  const counts = [7, 8, 9, 10].map((ms) => delays.filter((delay) => delay === ms).length);
  expect(counts.reduce((sum, count) => sum + count)).toBe(4000);
  // 1000 each, give or take four standard deviations.
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(4 * Math.sqrt(4000 * 0.25 * 0.75));
});

test('median and sigma are those of a lognormal distribution', () => {
  const logs = drawn({ median: 1000, sigma: 0.4 }).map((ms) => Math.log(ms / 1000) / 0.4);

  const mean = logs.reduce((sum, log) => sum + log) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / logs.length;
  expect(Math.abs(mean)).toBeLessThan(0.06);
  expect(Math.abs(variance - 1)).toBeLessThan(0.09);
  // Quantiles of the standard normal distribution.
  const below = (bound: number) => logs.filter((log) => log < bound).length / logs.length;
  expect(Math.abs(below(-1) - 0.159)).toBeLessThan(0.025);
  expect(Math.abs(below(1.645) - 0.95)).toBeLessThan(0.015);
});

test('without sigma, every delay is the median; no delay is infinite', () => {
  expect(new Set(drawn({ median: 80, sigma: 0 }, 50))).toEqual(new Set([80]));
  expect(Math.max(...drawn({ median: 80, sigma: 1e9 }, 50))).toBe(Number.MAX_SAFE_INTEGER);
});

/** The time that each of `count` requests takes, in milliseconds. */
async function timesOf(options: { fault?: FaultOptions; stub?: StubOptions; seed?: number }, count = 20) {
  const { fault, stub, seed = 1 } = options;
  const { mock, send } = mockWithKey({ seed, clock: 'virtual', plan: 'unlimited' });
  if (fault !== undefined) mock.faults.add(fault);
  if (stub !== undefined) mock.stubs.add(stub);
  const times: number[] = [];
  for (let request = 0; request < count; request += 1) {
    const start = mock.clock.now();
    await send();
    times.push(mock.clock.now() - start);
  }
  return { times, reasons: mock.journal.list().map(({ why }) => why) };
}

const RANGE = { min: 100, max: 900 };
const LONG_TAIL = { median: 300, sigma: 0.5 };

test.each<[string, { fault?: FaultOptions; stub?: StubOptions }]>([
  ['a latency fault', { fault: { kind: 'latency', latencyMs: RANGE } }],
  ['a latency fault before the service', { fault: { kind: 'latency', latencyMs: LONG_TAIL, strikes: 'before' } }],
  ['a stub', { stub: { data: 1, delayMs: RANGE } }],
  [
    'a sequence of a stub',
    {
      stub: {
        responses: [
          { data: 1, delayMs: LONG_TAIL },
          { data: 2, delayMs: RANGE },
        ],
      },
    },
  ],
])('each request draws from the distribution of %s, and the seed repeats it', async (_, options) => {
  const { times, reasons } = await timesOf(options);

  expect(new Set(times).size).toBeGreaterThan(15);
  expect((await timesOf(options)).times).toEqual(times);
  expect((await timesOf({ ...options, seed: 2 })).times).not.toEqual(times);
  expect(reasons.map((why) => Number(/(\d+) ms late$/.exec(why)?.[1]))).toEqual(times);
});

test('the delays of a key do not depend on the requests of other keys', async () => {
  const delaysOf = async (others: number) => {
    const { mock, id, send } = mockWithKey({ clock: 'virtual' });
    const sendOther = sender(mock, mock.createKey().key);
    mock.faults.add({ kind: 'latency', latencyMs: RANGE });
    for (let request = 0; request < 5; request += 1) {
      for (let before = 0; before < others; before += 1) await sendOther();
      await send();
    }
    return mock.journal.list({ keyId: id }).map(({ why }) => why);
  };

  expect(await delaysOf(2)).toEqual(await delaysOf(0));
});

test('the draws continue after a snapshot', async () => {
  const { mock, key } = mockWithKey({ clock: 'virtual' });
  mock.stubs.add({ data: 1, delayMs: RANGE });
  mock.faults.add({ kind: 'latency', latencyMs: LONG_TAIL });
  const send = async (target = mock) => {
    const start = target.clock.now();
    await sender(target, key)();
    return target.clock.now() - start;
  };
  const first = await send();
  const copy = createMockServer({ clock: 'virtual' });
  copy.restore(JSON.parse(JSON.stringify(mock.snapshot())));

  const second = await send();

  expect(second).not.toBe(first);
  expect(await send(copy)).toBe(second);
});

test.each([
  { min: 5, max: 4 },
  { min: -1, max: 4 },
  { min: 0.5, max: 4 },
  { min: 1 },
  { median: 80 },
  { median: 80, sigma: -1 },
  { median: -1, sigma: 1 },
  { min: 1, max: 2, median: 3, sigma: 4 },
  '5',
])('the delay %j is refused', (delay) => {
  const mock = createMockServer();
  const words =
    'expected milliseconds from 0, { "min": …, "max": … } in whole milliseconds, or { "median": …, "sigma": … }.';

  expect(() => mock.faults.add({ kind: 'latency', latencyMs: delay as Delay })).toThrow(
    `latencyMs is ${JSON.stringify(delay)}; ${words}`,
  );
  expect(() => mock.stubs.add({ data: 1, delayMs: delay as Delay })).toThrow(words);
});
