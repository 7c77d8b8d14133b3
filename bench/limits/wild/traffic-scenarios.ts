import type { Scenario } from './scenario.ts';
import { bucket, DEFAULTS, fixed, log, none } from './specs.ts';
import type { StoreSpec } from './store.ts';

const TWO_HOURS_MIN = 120;

/** Random traffic for two hours. The goal is the mean time that a call takes beyond the least possible. */
const poisson: readonly Scenario[] = [50, 80, 95, 120].flatMap((percent) => {
  const perMinute = (60 * percent) / 100;
  const job = { calls: Math.round(perMinute * TWO_HOURS_MIN), perMinute };
  // Above the limit, each call would wait longer than the one before. The deadline decides which calls are served.
  const options = percent > 100 ? DEFAULTS : { deadlineMs: false as const };
  const goals = { excessMs: percent > 90 ? none : 2_000 };
  return [
    { name: `traffic ${percent} %: log 60, learned`, server: log(60), job, options, goals },
    { name: `traffic ${percent} %: fixed 60, told`, server: fixed(60), job, told: 60, options, goals },
  ];
});

/** Calls, a pause in which learning is not finished, and calls again. */
const interrupted: readonly Scenario[] = [
  {
    name: 'two bursts: log 300, hint 60, told, round trips of 1 s',
    server: log(300, { hint: 60 }),
    network: { latency: [450, 550] },
    job: { calls: 574, again: { atMs: 150_000, calls: 290 } },
    told: 300,
  },
  {
    name: 'two bursts: fixed 300, learned, round trips of 600 ms',
    server: fixed(300),
    network: { latency: [250, 350] },
    job: { calls: 330, again: { atMs: 155_000, calls: 290 } },
  },
];

const STORES: readonly (readonly [string, StoreSpec | undefined])[] = [
  ['no store', undefined],
  ['store 2 ms', { latency: [1, 3] }],
  ['store 20-60 ms', { latency: [20, 60] }],
  ['store 100-300 ms', { latency: [100, 300] }],
  ['store down from 20 to 60 s', { latency: [2, 6], failures: [{ fromMs: 20_000, untilMs: 60_000, kind: 'down' }] }],
  [
    'store silent from 20 to 60 s',
    { latency: [2, 6], failures: [{ fromMs: 20_000, untilMs: 60_000, kind: 'silent' }] },
  ],
];

/** Without a store, or while it fails, each process must learn the limit from its own refusals. */
function fleetGoals(store: StoreSpec | undefined): { readonly refusedPer100?: number } {
  return store === undefined || store.failures !== undefined ? { refusedPer100: 12 } : {};
}

const fleets: readonly Scenario[] = STORES.flatMap(([name, store]) => {
  const shared = { ...(store === undefined ? {} : { store }), goals: fleetGoals(store) };
  const job = { calls: 1_200, callers: 16 };
  return [
    { name: `4 processes, ${name}: log 300, told`, server: log(300), job, processes: 4, told: 300, ...shared },
    { name: `10 processes, ${name}: fixed 300, learned`, server: fixed(300), job, processes: 10, ...shared },
  ];
});

const largeFleets: readonly Scenario[] = [
  {
    name: '30 processes, store 20-60 ms: log 300, told',
    server: log(300),
    job: { calls: 1_200, callers: 4 },
    processes: 30,
    store: { latency: [20, 60] },
    told: 300,
  },
  {
    name: '30 processes, no store: log 300, learned',
    server: log(300),
    job: { calls: 1_200, callers: 4 },
    processes: 30,
    goals: { refusedPer100: 40 },
  },
  {
    name: '10 processes, store 20-60 ms: traffic 80 %',
    server: log(300),
    job: { calls: 1_200, perMinute: 240 },
    processes: 10,
    store: { latency: [20, 60] },
    goals: { excessMs: 2_000 },
  },
  {
    name: '4 processes, store 20-60 ms: bucket of 10',
    server: bucket(300, 10),
    job: { calls: 600, callers: 16 },
    processes: 4,
    store: { latency: [20, 60] },
  },
];

const single: readonly Scenario[] = [
  { name: 'one cold call', server: fixed(30), job: { calls: 1 }, goals: { requests: 1, excessMs: 300 } },
  { name: '30 calls under 30, learned', server: log(30), job: { calls: 30 }, goals: { refusedPer100: 0 } },
  { name: '31 calls under 30, told', server: fixed(30), job: { calls: 31 }, told: 30 },
  {
    name: '20 cold processes, a call each, 60/min',
    server: log(60),
    job: { calls: 20, perMinute: 60 },
    processes: 20,
    goals: { requests: 20, refusedPer100: 0 },
  },
  {
    name: '60 cold processes, a call each, traffic 120 % of 30',
    server: log(30),
    job: { calls: 60, perMinute: 36 },
    processes: 60,
    options: DEFAULTS,
    goals: { refusedPer100: none, ratio: none },
  },
  {
    name: '100 cold processes, store 2 ms, a call each at once',
    server: fixed(30),
    job: { calls: 100 },
    processes: 100,
    store: { latency: [1, 3] },
  },
  {
    name: '60 cold processes, store 2 ms, traffic 120 % of 30',
    server: log(30),
    job: { calls: 60, perMinute: 36 },
    processes: 60,
    store: { latency: [1, 3] },
    options: DEFAULTS,
    goals: { ratio: none },
  },
];

export const TRAFFIC_SCENARIOS: readonly Scenario[] = [
  ...[...poisson, ...interrupted, ...fleets, ...largeFleets],
  ...single,
];
