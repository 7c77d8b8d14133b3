import { expect, test } from 'vitest';
import { clairvoyant } from '../../bench/limits/wild/clairvoyant.ts';
import type { MakeCall } from '../../bench/limits/wild/job-run.ts';
import { createFetch, Traffic, type World } from '../../bench/limits/wild/network.ts';
import { runScenario } from '../../bench/limits/wild/run.ts';
import { planCalls, type Scenario } from '../../bench/limits/wild/scenario.ts';
import { type ServerSpec, WildServer } from '../../bench/limits/wild/server.ts';
import { VirtualTime } from '../../bench/limits/wild/virtual-time.ts';
import { createWindow, type Window } from '../../bench/limits/wild/windows.ts';
import type { FetchLike } from '../../src/client/index.ts';
import { seededRandom } from '../helpers/limits-random.ts';

/** A full minute. */
const START = 1_699_999_980_000;
const PATH = '/api/v1/latest';
const REQUEST = { method: 'GET', headers: {}, signal: new AbortController().signal, redirect: 'manual' } as const;
const INSTANT = { latency: [0, 0] } as const;

function boundOf(scenario: Omit<Scenario, 'name'>, startedAt = START) {
  const named = { name: 'test', ...scenario };
  return clairvoyant(named, planCalls(named, seededRandom(1)), { seed: 1, startedAt });
}

test('a request before an honest wait has passed counts as early', async () => {
  const time = new VirtualTime(START);
  const spec = { kind: 'sliding-log', limit: 1 } as const;
  const server = new WildServer(spec, seededRandom(1), { startedAt: START, seed: 1 });
  const traffic = new Traffic();
  const fetch = createFetch({ time, server, network: INSTANT, random: seededRandom(1) }, traffic);
  const send = () => fetch(`https://service.example${PATH}`, REQUEST);
  for (const at of [0, 10, 59_000, 60_000]) time.after(at, () => void send());
  await time.run(() => false, Number.POSITIVE_INFINITY);

  expect(traffic).toMatchObject({ requests: 4, refused: 2, early: 1 });
});

test.each<[string, ServerSpec, number, number]>([
  ['fixed-minute', { kind: 'fixed-minute', limit: 30 }, 100, 180_000],
  ['sliding-log', { kind: 'sliding-log', limit: 30 }, 100, 180_000],
  ['bucket of 1', { kind: 'bucket', limit: 300, burst: 1 }, 100, 99 * 200],
  [
    '8 per 10 s',
    { kind: 'fixed-minute', limit: 300, second: { kind: 'fixed-first-hit', limit: 8, windowMs: 10_000 } },
    100,
    120_000,
  ],
  ['an outage', { kind: 'fixed-minute', limit: 300, outages: [{ fromMs: 0, untilMs: 5_000, kind: 503 }] }, 100, 5_000],
])('the client that knows the future needs the shortest possible time: %s', (_, server, calls, expectedMs) => {
  expect(boundOf({ server, network: INSTANT, job: { calls } })).toMatchObject({
    makespanMs: expectedMs,
    served: calls,
  });
});

test('the client that knows the future keeps a limit that it is told in every minute', () => {
  const scenario = { server: { kind: 'bucket', limit: 600 }, network: INSTANT, told: 30, job: { calls: 40 } } as const;

  expect(boundOf(scenario).makespanMs).toBe(60_000);
  expect(boundOf({ ...scenario, processes: 2 }).makespanMs).toBe(0);
});

test.each<ServerSpec>([
  { kind: 'fixed-minute', limit: 60 },
  { kind: 'fixed-first-hit', limit: 60 },
  { kind: 'sliding-log', limit: 60, othersPerMinute: 20 },
  { kind: 'sliding-counter', limit: 60 },
  { kind: 'bucket', limit: 60, burst: 1 },
  { kind: 'sliding-log', limit: 60, second: { kind: 'fixed-minute', limit: 8, windowMs: 10_000 } },
  { kind: 'bucket', limit: 60, outages: [{ fromMs: 20_000, untilMs: 40_000, kind: 503 }] },
])('a client that sends continuously comes close to the bound, but not below it: $kind', async (server) => {
  const scenario = { name: 'test', server, network: { latency: [10, 10] }, job: { calls: 70, callers: 6 } } as const;

  const { served, makespanMs, bound } = await runScenario(scenario, { seed: 1, createCall: impatient });

  expect(served).toBe(70);
  expect(makespanMs).toBeGreaterThanOrEqual(bound.makespanMs - 1);
  expect(makespanMs).toBeLessThan(1.1 * bound.makespanMs);
});

/** Sends each call every 100 ms until it is served. */
function impatient(fetch: FetchLike, { time }: World): MakeCall {
  const send = (n: number) => fetch(`https://service.example${PATH}?n=${n}`, REQUEST);
  return async (n) => {
    while (!(await send(n)).ok) {
      await new Promise<void>((resolve) => {
        time.after(100, resolve);
      });
    }
  };
}

/** Half past a full minute. */
const NOW = START + 30_000;

/** Accepts as many requests at `now` as the window allows, at most `most`. */
function accepted(window: Window, now: number, most = 1_000): number {
  let count = 0;
  while (count < most && window.waitMs(now) <= 0) {
    window.accept(now);
    count += 1;
  }
  return count;
}

test('a sliding counter weighs the previous window', () => {
  const window = createWindow({ kind: 'sliding-counter', limit: 10 });
  const nextMinute = NOW + 30_000;
  expect(accepted(window, NOW)).toBe(10);

  expect(window.waitMs(NOW)).toBe(30_001); // 10 × weight < 10 right after the minute
  expect(accepted(window, nextMinute + 15_000)).toBe(3); // floor(10 × 0.75) = 7
  expect(window.waitMs(nextMinute + 15_000)).toBe(3_001); // 10 × weight < 7 after 30 % of the minute
  expect(accepted(window, nextMinute + 18_001)).toBe(1);
});
