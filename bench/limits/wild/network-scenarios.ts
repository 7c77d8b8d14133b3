import type { NetworkSpec } from './network.ts';
import type { Scenario } from './scenario.ts';
import type { ServerSpec } from './server.ts';
import { bucket, counter, DEFAULTS, failing, fixed, HOUR_MS, log, none, unavailable } from './specs.ts';

const NETWORKS: readonly (readonly [string, NetworkSpec])[] = [
  ['20 ms', { latency: [20, 20] }],
  ['2 s there and back', { latency: [900, 1_100] }],
  ['tail beyond 60 ms', { latency: { medianMs: 60 } }],
  ['tail beyond 400 ms', { latency: { medianMs: 400 } }],
  ['1 % of requests lost', { lostRequests: 0.01 }],
  ['10 % of requests lost', { lostRequests: 0.1 }],
  ['1 % of responses lost', { lostResponses: 0.01 }],
  ['10 % of responses lost', { lostResponses: 0.1 }],
  ['5 % of connections reset', { resets: 0.05 }],
  ['5 % of all lost', { lostRequests: 0.02, lostResponses: 0.02, resets: 0.02 }],
];

const networks: readonly Scenario[] = NETWORKS.flatMap(([name, network]) => [
  { name: `network ${name}: log 300, told`, server: log(300), network, job: { calls: 1_000 }, told: 300 },
  { name: `network ${name}: fixed 60, learned`, server: fixed(60), network, job: { calls: 200 } },
]);

const losses: readonly Scenario[] = [
  {
    name: 'network 20 % of responses lost: fixed 300, learned',
    server: fixed(300),
    network: { lostResponses: 0.2 },
    job: { calls: 1_000 },
  },
  {
    name: 'network 20 % of requests lost: bucket of 30, told',
    server: bucket(300, 30),
    network: { lostRequests: 0.2 },
    job: { calls: 1_000 },
    told: 300,
    goals: { refusedPer100: 5 },
  },
];

/** A steady job: the bucket allows five requests per second, so the outage hits it at any time. */
const steady = (outage: Partial<ServerSpec>) => ({ server: bucket(300, 10, outage), job: { calls: 300, callers: 16 } });

const outages: readonly Scenario[] = [
  { name: 'outage 5 s, 503 with what remains', ...steady(unavailable(20_000, 25_000, 'remaining')) },
  {
    name: 'outage 20 s, 503 with what remains, defaults',
    ...steady(unavailable(20_000, 40_000, 'remaining')),
    options: DEFAULTS,
  },
  {
    name: 'outage 20 s, 503 with Retry-After 1',
    ...steady(unavailable(20_000, 40_000, 1)),
    goals: { inKnownOutage: 30 },
  },
  { name: 'outage 20 s, 503 without a hint', ...steady(unavailable(20_000, 40_000)) },
  { name: 'outage 60 s, 503 without a hint', ...steady(unavailable(20_000, 80_000)), goals: { inKnownOutage: 15 } },
  { name: 'outage 5 s, 500', ...steady(failing(500, 20_000, 25_000)) },
  { name: 'outage 20 s, 500, at the start', server: fixed(300, failing(500, 0, 20_000)), job: { calls: 200 } },
  // 16 requests are in flight before the first one times out.
  { name: 'outage 20 s, silence', ...steady(failing('silence', 20_000, 40_000)), goals: { inKnownOutage: 10 } },
  { name: 'outage 20 s, resets', ...steady(failing('reset', 20_000, 40_000)) },
  { name: 'outage of 30 % of the requests, 20 s of 503', ...steady(failing(503, 20_000, 40_000, 0.3)) },
  { name: 'outage of 30 % of the requests, 20 s of silence', ...steady(failing('silence', 20_000, 40_000, 0.3)) },
  {
    name: 'outage 5 s and again 5 s, told',
    ...steady({
      outages: [
        { fromMs: 10_000, untilMs: 15_000, kind: 503 },
        { fromMs: 40_000, untilMs: 45_000, kind: 500 },
      ],
    }),
    told: 300,
    goals: { inKnownOutage: 15, refusedPer100: 10 },
  },
  {
    name: 'outage 10 s while the limit is exhausted',
    server: fixed(60, unavailable(1_500, 11_500, 5)),
    job: { calls: 200 },
  },
  {
    name: 'outage 15 s, resets, in a burst with tails beyond 80 ms',
    server: log(300, failing('reset', 1_000, 16_000)),
    network: { latency: { medianMs: 40 } },
    job: { calls: 900 },
    goals: { inKnownOutage: 40 },
    seeds: 8,
  },
  {
    name: 'outage 10 s in traffic of 80 %, defaults',
    server: log(300, unavailable(30_000, 40_000)),
    job: { calls: 480, perMinute: 240 },
    options: DEFAULTS,
  },
  {
    name: 'outage 5 s for 10 processes',
    server: bucket(300, 10, unavailable(20_000, 25_000, 5)),
    job: { calls: 300, callers: 4 },
    processes: 10,
    goals: { inKnownOutage: 40, refusedPer100: 40 },
  },
];

const jumps: readonly Scenario[] = [
  {
    name: 'clock + 30 s while the gate is closed, fixed 60',
    server: fixed(60),
    job: { calls: 200 },
    jumps: [{ atMs: 8_000, byMs: 30_000 }],
  },
  {
    name: 'clock + 1 h, told',
    server: log(300),
    job: { calls: 1_000 },
    told: 300,
    jumps: [{ atMs: 20_000, byMs: HOUR_MS }],
  },
  {
    name: 'clock - 1 h, counter, defaults',
    server: counter(300),
    job: { calls: 400 },
    options: DEFAULTS,
    jumps: [{ atMs: 5_000, byMs: -HOUR_MS }],
  },
  {
    name: 'clock + 30 s and HTTP dates',
    server: log(60, { hint: 'date' }),
    job: { calls: 200 },
    jumps: [{ atMs: 20_000, byMs: 30_000 }],
  },
];

const deadlines: readonly Scenario[] = [
  {
    name: 'deadline 90 s, 100 calls at 30/min',
    server: log(30),
    job: { calls: 100 },
    options: DEFAULTS,
    goals: { ratio: none },
  },
  {
    name: 'deadline 10 s, bucket of 1 at 60/min, 50 calls',
    server: bucket(60, 1),
    job: { calls: 50 },
    options: { deadlineMs: 10_000 },
    goals: { ratio: none, failedPart: 0.1, refusedPer100: 30 },
  },
  {
    name: 'deadline 5 s, traffic at 80 % of 300',
    server: log(300),
    job: { calls: 1_200, perMinute: 240 },
    options: { deadlineMs: 5_000 },
  },
  { name: 'abort of 30 % after 5 s', server: log(60), job: { calls: 200, aborts: { part: 0.3, afterMs: 5_000 } } },
  {
    name: 'abort of 60 % after 200 ms, told',
    server: log(300),
    job: { calls: 1_000, aborts: { part: 0.6, afterMs: 200 } },
    told: 300,
  },
];

export const NETWORK_SCENARIOS: readonly Scenario[] = [...networks, ...losses, ...outages, ...jumps, ...deadlines];
