import { expect, test } from 'vitest';
import { clairvoyant } from '../../bench/limits/wild/clairvoyant.ts';
import type { MakeCall } from '../../bench/limits/wild/job-run.ts';
import { createFetch, Traffic, type World } from '../../bench/limits/wild/network.ts';
import { runScenario } from '../../bench/limits/wild/run.ts';
import { planCalls, type Scenario } from '../../bench/limits/wild/scenario.ts';
import { type HintForm, retryAfter, type ServerSpec, WildServer } from '../../bench/limits/wild/server.ts';
import { ProcessClock, VirtualTime } from '../../bench/limits/wild/virtual-time.ts';
import { createWindow, type Window } from '../../bench/limits/wild/windows.ts';
import type { FetchLike } from '../../src/client/index.ts';
import { seededRandom } from '../helpers/limits-random.ts';

/** A full minute. */
const START = 1_699_999_980_000;
const PATH = '/api/v1/latest';
const REQUEST = { method: 'GET', headers: {}, signal: new AbortController().signal, redirect: 'manual' } as const;
const INSTANT = { latency: [0, 0] } as const;

function serverOf(spec: ServerSpec): WildServer {
  return new WildServer(spec, seededRandom(1), { startedAt: START, seed: 1 });
}

function boundOf(scenario: Omit<Scenario, 'name'>, startedAt = START) {
  const named = { name: 'test', ...scenario };
  return clairvoyant(named, planCalls(named, seededRandom(1)), { seed: 1, startedAt });
}

test('a jump of the wall clock moves neither the monotonic clock nor a sleep', async () => {
  const time = new VirtualTime(START);
  const clock = new ProcessClock(time);
  let wokenAt = 0;
  void clock.sleep(5_000).then(() => {
    wokenAt = clock.monotonicNow();
  });
  clock.jump(3_600_000);
  await time.run(() => false, Number.POSITIVE_INFINITY);

  expect(wokenAt).toBe(5_000);
  expect(clock.now()).toBe(START + 3_605_000);
});

test.each<[HintForm, string | undefined]>([
  ['seconds', '13'],
  ['fraction', '12.346'],
  ['milliseconds', '12346'],
  ['date', 'Tue, 14 Nov 2023 22:13:13 GMT'],
  ['absent', undefined],
  [0, '0'],
  [3_600, '3600'],
])('writes a wait of 12.3456 s as %s', (form, expected) => {
  expect(retryAfter(form, 12_345.6, START)).toBe(expected);
});

test('during an outage, every request gets a response and none is counted', () => {
  const outage = { fromMs: 0, untilMs: 5_000, kind: 503, retryAfter: 'remaining' } as const;
  const server = serverOf({ kind: 'sliding-log', limit: 1, outages: [outage] });

  expect(server.receive(START + 1_500, PATH)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '4' },
    opensAt: START + 5_000,
  });
  expect(server.receive(START + 5_000, PATH).status).toBe(200);
});

test('a request before an honest wait has passed counts as early', async () => {
  const time = new VirtualTime(START);
  const server = serverOf({ kind: 'sliding-log', limit: 1 });
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

test('the client that knows the future needs time for round trips and losses', () => {
  const server = { kind: 'sliding-log', limit: 1_000 } as const;
  const network = { latency: [50, 50] } as const;

  expect(boundOf({ server, network, job: { calls: 100, callers: 10 } }).makespanMs).toBe(1_000);
  expect(
    boundOf({ server, network: { ...network, lostResponses: 0.3 }, job: { calls: 100 } }).makespanMs,
  ).toBeGreaterThan(10_000);
});

test('the client that knows the future serves as many calls as the deadlines allow', () => {
  const server = { kind: 'bucket', limit: 60, burst: 1 } as const;

  expect(boundOf({ server, network: INSTANT, job: { calls: 100 }, options: { deadlineMs: 9_500 } }).served).toBe(10);
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

test('a sliding log keeps all requests of the window when the limit grows', () => {
  const window = createWindow({ kind: 'sliding-log', limit: 50 });
  for (let minute = 0; minute < 4; minute += 1) {
    accepted(window, NOW + minute * 60_000, 10);
    accepted(window, NOW + minute * 60_000 + 1_000);
  }
  window.setLimit(150, NOW);

  expect(accepted(window, NOW + 185_000)).toBe(100);
  expect(window.waitMs(NOW + 185_000)).toBe(55_000);
});

test('a sliding counter weighs the previous window', () => {
  const window = createWindow({ kind: 'sliding-counter', limit: 10 });
  const nextMinute = NOW + 30_000;
  expect(accepted(window, NOW)).toBe(10);

  expect(window.waitMs(NOW)).toBe(30_001); // 10 × weight < 10 right after the minute
  expect(accepted(window, nextMinute + 15_000)).toBe(3); // floor(10 × 0.75) = 7
  expect(window.waitMs(nextMinute + 15_000)).toBe(3_001); // 10 × weight < 7 after 30 % of the minute
  expect(accepted(window, nextMinute + 18_001)).toBe(1);
});

test('a sliding counter forgets a window that has passed', () => {
  const window = createWindow({ kind: 'sliding-counter', limit: 10 });
  accepted(window, NOW);

  expect(accepted(window, NOW + 120_000)).toBe(10);
});

test('a bucket refills at the new rate after a change of its limit', () => {
  const window = createWindow({ kind: 'bucket', limit: 60, burst: 1 });
  accepted(window, NOW);
  window.setLimit(600, NOW);

  expect(window.waitMs(NOW)).toBe(100);
});
