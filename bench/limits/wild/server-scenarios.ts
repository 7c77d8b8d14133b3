import type { HintForm } from './hints.ts';
import type { Scenario } from './scenario.ts';
import { atOnce, bucket, counter, DEFAULTS, firstHit, fixed, leaky, log, none, per } from './specs.ts';

/** Hints that cost little time if the client waits as long as they say. */
const USABLE_HINTS: readonly HintForm[] = [
  ...(['seconds', 'fraction', 'milliseconds', 'date', 'date-alone', 'up5', 'up10', 'jitter10'] as const),
  ...(['early', 'some', 'absent'] as const),
  ...[0, 1],
];

const hints: readonly Scenario[] = USABLE_HINTS.flatMap((hint) => [
  { name: `hint ${hint}: fixed 60, learned`, server: fixed(60, { hint }), job: { calls: 200 } },
  { name: `hint ${hint}: log 300, told`, server: log(300, { hint }), job: { calls: 1_000 }, told: 300 },
]);

const falseHints: readonly Scenario[] = [
  { name: 'hint 60: fixed 60, learned', server: fixed(60, { hint: 60 }), job: { calls: 200 }, goals: { ratio: 2 } },
  {
    name: 'hint 60: log 300, told',
    server: log(300, { hint: 60 }),
    job: { calls: 1_000 },
    told: 300,
    goals: { ratio: 2 },
  },
  {
    // The client cannot know that the hint is false. The goal is that almost no request is refused.
    name: 'hint 3600: fixed 60, learned, defaults',
    server: fixed(60, { hint: 3_600 }),
    job: { calls: 200 },
    options: DEFAULTS,
    goals: { failedPart: none, refusedPer100: 2, ratio: none },
  },
  {
    name: 'hint seconds as HTML without quota: log 60',
    server: log(60, { html: true, quota: 'refused' }),
    job: { calls: 400 },
  },
];

/** Servers that refuse although less than the limit was used, or that count refused requests. */
const unexplained: readonly Scenario[] = [
  {
    name: 'hint to the end of the minute: counter 100, learned',
    server: counter(100, { hint: 'minute-end' }),
    job: { calls: 250 },
    goals: { ratio: 1.8 },
  },
  {
    name: 'hint to the end of the minute: counter 60, traffic 90 %, defaults',
    server: counter(60, { hint: 'minute-end' }),
    job: { calls: 1_080, perMinute: 54 },
    options: DEFAULTS,
    goals: { failedPart: 0.1 },
  },
  {
    name: 'hint 60: bucket of 60 at 300, told',
    server: bucket(300, 60, { hint: 60 }),
    job: { calls: 900 },
    told: 300,
    goals: { refusedPer100: 2, ratio: 2.2 },
  },
  {
    // As nginx limits with `burst=3` and a constant header. The client first obeys the hint, then finds the rate.
    name: 'hint 60: bucket of 3 at 100, told',
    server: bucket(100, 3, { hint: 60 }),
    job: { calls: 300 },
    told: 100,
    goals: { refusedPer100: 4, ratio: 3.2 },
  },
  {
    name: 'block of 60 s at each refusal, no hint: log 60',
    server: log(60, { blockMs: 60_000, hint: 'absent' }),
    job: { calls: 240 },
    goals: { ratio: 2.5 },
  },
];

const windows: readonly Scenario[] = [
  { name: 'window fixed 300, told', server: fixed(300), job: { calls: 1_000 }, told: 300 },
  { name: 'window from the first hit 300, told', server: firstHit(300), job: { calls: 1_000 }, told: 300 },
  { name: 'window from the first hit 60, learned', server: firstHit(60), job: { calls: 400 } },
  { name: 'window counter 60, learned, 16 callers', server: counter(60), job: { calls: 200, callers: 16 } },
  { name: 'window bucket of 300, told', server: bucket(300, 300), job: { calls: 1_000 }, told: 300 },
  { name: 'window bucket of 30, learned', server: bucket(300, 30), job: { calls: 1_000 } },
  {
    name: 'window bucket of 30, told',
    server: bucket(300, 30),
    job: { calls: 1_000 },
    told: 300,
    goals: { refusedPer100: 5 },
  },
  {
    name: 'window bucket of 1, told',
    server: bucket(60, 1),
    job: { calls: 200 },
    told: 60,
    goals: { refusedPer100: 10 },
  },
  {
    name: 'window bucket of 1, learned, 16 callers',
    server: bucket(60, 1),
    job: { calls: 200, callers: 16 },
    goals: { refusedPer100: 10 },
  },
  { name: 'window leaky 300, told', server: leaky(300), job: { calls: 600 }, told: 300 },
  { name: 'window leaky 60, learned', server: leaky(60), job: { calls: 120 } },
  { name: 'window used to a half before', server: log(300, { usedBefore: 0.5 }), job: { calls: 600 } },
];

const twoLimits: readonly Scenario[] = [
  {
    name: 'two limits: 5 per s, fixed 60',
    server: fixed(60, { second: per(1_000, 5) }),
    job: { calls: 200 },
    goals: { refusedPer100: 10 },
  },
  {
    name: 'two limits: 5 per s, log 300, told',
    server: log(300, { second: per(1_000, 5) }),
    job: { calls: 600 },
    told: 300,
    goals: { refusedPer100: 5 },
  },
  {
    name: 'two limits: 8 per 10 s, hints up to 10 s',
    server: log(60, { second: per(10_000, 8), hint: 'up10' }),
    job: { calls: 100 },
    goals: { refusedPer100: 12 },
  },
  // Retry-After is a whole second, five times the time in which the server has room again.
  {
    name: 'at most 5 requests at once, 200 ms each',
    server: log(3_000, atOnce(5, 200)),
    job: { calls: 400 },
    goals: { refusedPer100: 10, ratio: 4 },
  },
  {
    name: 'at most 5 requests at once, 4 processes, store 2 ms',
    server: log(3_000, atOnce(5, 200)),
    job: { calls: 400 },
    processes: 4,
    store: { latency: [1, 4] },
    goals: { refusedPer100: 12, ratio: 4 },
  },
];

const lowered = { server: log(300, { changes: [{ atMs: 90_000, limit: 60 }] }), job: { calls: 800 } };
const raised = { changes: [{ atMs: 90_000, limit: 300 }] };

const changes: readonly Scenario[] = [
  { name: 'change 300 to 60, learned', ...lowered },
  { name: 'change 300 to 60, told', ...lowered, told: 300, goals: { refusedPer100: 5 } },
  { name: 'change 60 to 300, learned', server: log(60, raised), job: { calls: 900 } },
  { name: 'change 60 to 300, quota refused', server: fixed(60, { ...raised, quota: 'refused' }), job: { calls: 900 } },
  {
    name: 'change 300 to 60 and back',
    server: fixed(300, {
      changes: [
        { atMs: 90_000, limit: 60 },
        { atMs: 300_000, limit: 300 },
      ],
    }),
    job: { calls: 1_200 },
  },
];

/**
 * Others use 70 % of the limit. The clairvoyant client takes every slot first and leaves them nothing; the client takes
 * the 30 % that they leave, and a little of what they do not use at once.
 */
const leftByOthers = { ratio: 1 / 0.3 };

const others: readonly Scenario[] = [
  {
    name: 'others use 30 %, told',
    server: log(300, { othersPerMinute: 90 }),
    job: { calls: 1_000 },
    told: 300,
    goals: { refusedPer100: 5 },
  },
  { name: 'others use 30 %, learned', server: fixed(60, { othersPerMinute: 18 }), job: { calls: 200 } },
  {
    name: 'others use 70 %, told',
    server: fixed(300, { othersPerMinute: 210 }),
    job: { calls: 400 },
    told: 300,
    goals: { refusedPer100: 10, ...leftByOthers },
  },
  {
    name: 'others use 70 %, learned, bucket',
    server: bucket(300, 30, { othersPerMinute: 210 }),
    job: { calls: 400 },
    goals: { refusedPer100: 25, ...leftByOthers },
  },
];

const nodes: readonly Scenario[] = [
  {
    name: 'two nodes of 150, told 300',
    server: log(150, { nodes: 2 }),
    job: { calls: 1_000 },
    told: 300,
    goals: { refusedPer100: 10 },
  },
  {
    name: 'four nodes of 60, learned',
    server: fixed(60, { nodes: 4, quota: 240 }),
    job: { calls: 800 },
    goals: { refusedPer100: 15 },
  },
  { name: 'counters lag 500 ms, learned', server: log(300, { lagMs: 500 }), job: { calls: 1_000 } },
  { name: 'counters lag 3 s, told', server: fixed(300, { lagMs: 3_000 }), job: { calls: 1_000 }, told: 300 },
];

/** The first refusal affects all requests in flight. The jobs are long enough for later requests to count, too. */
const quotas: readonly Scenario[] = [
  { name: 'quota refused, fixed 60', server: fixed(60, { quota: 'refused' }), job: { calls: 400 } },
  { name: 'quota says ten times the limit', server: fixed(60, { quota: 600 }), job: { calls: 400 } },
  // The client obeys the quota record, so the job takes ten times as long as necessary.
  {
    name: 'quota says a tenth of the limit',
    server: log(300, { quota: 30 }),
    job: { calls: 600 },
    goals: { refusedPer100: 1, ratio: 12 },
  },
  { name: 'quota says 2 to the power of 60', server: log(60, { quota: 2 ** 60 }), job: { calls: 400 } },
  { name: 'told ten times the limit', server: fixed(60), job: { calls: 400 }, told: 600, goals: { refusedPer100: 5 } },
];

export const SERVER_SCENARIOS: readonly Scenario[] = [
  ...[...hints, ...falseHints, ...unexplained, ...windows, ...twoLimits],
  ...[...changes, ...others, ...nodes, ...quotas],
];
