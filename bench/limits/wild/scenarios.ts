import type { Scenario, StoreSpec } from './scenario.ts';
import type { HintForm, Outage, ServerSpec } from './server.ts';

type More = Partial<ServerSpec>;

export const fixed = (limit: number, more: More = {}): ServerSpec => ({ kind: 'fixed-minute', limit, ...more });
export const firstHit = (limit: number, more: More = {}): ServerSpec => ({ kind: 'fixed-first-hit', limit, ...more });
export const log = (limit: number, more: More = {}): ServerSpec => ({ kind: 'sliding-log', limit, ...more });
export const counter = (limit: number, more: More = {}): ServerSpec => ({ kind: 'sliding-counter', limit, ...more });
export const bucket = (limit: number, burst: number, more: More = {}): ServerSpec => ({
  ...{ kind: 'bucket', limit, burst },
  ...more,
});

const none = Number.POSITIVE_INFINITY;
const HOUR_MS = 3_600_000;

/** A script or a job with one process. The limit is asked with `quota()` unless the name says otherwise. */
const scripts: readonly Scenario[] = [
  { name: 'one call', server: fixed(30), job: { calls: 1 }, goals: { requests: 1, excessMs: 300 } },
  { name: '30 calls under 30', server: log(30), job: { calls: 30 }, goals: { refusedPer100: 0 } },
  { name: '100 calls under 30, fixed minute', server: fixed(30), job: { calls: 100 } },
  { name: '100 calls under 30, window from the first request', server: firstHit(30), job: { calls: 100 } },
  { name: '100 calls under 30, sliding log', server: log(30), job: { calls: 100 } },
  { name: '100 calls under 30, sliding counter', server: counter(30), job: { calls: 100 } },
  { name: '100 calls under 30, bucket', server: bucket(30, 30), job: { calls: 100 } },
  { name: '1,000 calls under 300, fixed minute', server: fixed(300), job: { calls: 1_000 } },
  { name: '1,000 calls under 300, sliding log', server: log(300), job: { calls: 1_000 } },
  { name: '1,000 calls under 300, 16 callers', server: log(300), job: { calls: 1_000, callers: 16 } },
  { name: '1,000 calls under 300, told', server: log(300), told: 300, job: { calls: 1_000 } },
  { name: '100 calls under 30, told, fixed minute', server: fixed(30), told: 30, job: { calls: 100 } },
  {
    name: '1,000 calls under 1,000, told, round trips of 20 ms',
    server: log(1_000),
    network: { latency: [10, 10] },
    told: 1_000,
    job: { calls: 1_000 },
    goals: { ratio: none, makespanMs: 2_500 },
  },
  {
    name: 'two bursts with a pause between them',
    server: fixed(300),
    job: { calls: 330, again: { atMs: 155_000, calls: 290 } },
  },
  { name: 'an earlier run has used half of the limit', server: log(300, { usedBefore: 0.5 }), job: { calls: 600 } },
];

/** Without `quota()`, only a refusal shows the limit. It affects all requests in flight, at most 16. */
const unasked: readonly Scenario[] = [
  {
    name: 'no quota(), 100 calls under 30, fixed minute',
    server: fixed(30, { hasNoQuota: true }),
    job: { calls: 100 },
  },
  { name: 'no quota(), 1,000 calls under 300', server: log(300, { hasNoQuota: true }), job: { calls: 1_000 } },
];

const HINTS: readonly HintForm[] = ['fraction', 'milliseconds', 'date', 'absent', 60];

const hints: readonly Scenario[] = [
  ...HINTS.map((hint) => ({
    name: `Retry-After ${hint}, 200 calls under 60`,
    server: fixed(60, { hint }),
    job: { calls: 200 },
    ...(hint === 'milliseconds' ? { goals: { early: 1 } } : {}), // one request decides about the unit
    ...(hint === 60 ? { goals: { ratio: 2 } } : {}), // obeyed, although the minute ends earlier
  })),
  { name: '429 as HTML without Retry-After', server: log(60, { html: true, hint: 'absent' }), job: { calls: 200 } },
];

/** As nginx and API gateways count, and as limiters that block the key after a refusal. */
const products: readonly Scenario[] = [
  {
    name: 'nginx 30r/m, burst of 10, no Retry-After',
    server: bucket(30, 11, { hint: 'absent', html: true }),
    job: { calls: 75 },
  },
  {
    name: 'nginx 60r/m without burst',
    server: bucket(60, 1, { hint: 'absent', html: true }),
    job: { calls: 200 },
    goals: { refusedPer100: 16 },
  },
  { name: 'gateway, 300 per minute, burst of 10', server: bucket(300, 10), job: { calls: 600, callers: 16 } },
  { name: 'gateway, 300 per minute, burst of 30', server: bucket(300, 30), job: { calls: 1_000 } },
  {
    name: 'also at most 5 per second',
    server: log(300, { second: { kind: 'sliding-log', limit: 5, windowMs: 1_000 } }),
    job: { calls: 600 },
    goals: { refusedPer100: 4 },
  },
  {
    // One refusal is necessary, and its block lasts 15 s longer than the window.
    name: 'a block of 75 s after a refusal',
    server: firstHit(30, { blockMs: 75_000 }),
    job: { calls: 75 },
    goals: { ratio: 1.25 },
  },
];

/** A clairvoyant client takes every slot. A fair one takes what others leave, and learns that only by refusals. */
const leftBy = (part: number) => ({ refusedPer100: 8, ratio: 1.25 / (1 - part) });

const others: readonly Scenario[] = [
  {
    name: 'others use 30 %',
    server: fixed(60, { othersPerMinute: 18 }),
    job: { calls: 200 },
    goals: leftBy(0.3),
  },
  {
    name: 'others use 30 %, told',
    server: log(300, { othersPerMinute: 90 }),
    told: 300,
    job: { calls: 1_000 },
    goals: leftBy(0.3),
  },
  {
    name: 'others use 70 %',
    server: log(300, { othersPerMinute: 210 }),
    job: { calls: 400 },
    goals: leftBy(0.7),
  },
];

const changes: readonly Scenario[] = [
  {
    name: 'the plan is upgraded from 30 to 300',
    server: log(30, { changes: [{ atMs: 90_000, limit: 300 }] }),
    job: { calls: 600 },
  },
  {
    name: 'the plan is downgraded from 300 to 30',
    server: log(300, { changes: [{ atMs: 90_000, limit: 30 }] }),
    job: { calls: 700 },
  },
  {
    name: 'told 300, but the plan allows 60',
    server: fixed(60),
    told: 300,
    job: { calls: 400 },
    goals: { refusedPer100: 6 },
  },
];

const under300 = { server: log(300), job: { calls: 1_000 } };
const under60 = { server: fixed(60), job: { calls: 200 } };

const networks: readonly Scenario[] = [
  { name: 'round trips of 2 s, sliding log', ...under300, network: { latency: [900, 1_100] } },
  { name: 'round trips of 2 s, fixed minute', ...under60, network: { latency: [900, 1_100] } },
  { name: 'heavy tail beyond 60 ms', ...under300, network: { latency: { medianMs: 60 } } },
  { name: 'heavy tail beyond 400 ms', ...under60, network: { latency: { medianMs: 400 } } },
  // Each call has three attempts, so one of 8,000 loses all of them.
  { name: '5 % of requests lost', ...under300, network: { lostRequests: 0.05 }, goals: { failedPart: 0.001 } },
  { name: '5 % of responses lost', ...under60, network: { lostResponses: 0.05 } },
  { name: '5 % of connections reset', ...under60, network: { resets: 0.05 } },
];

/** The bucket allows five requests per second, so the outage affects a steady job at any time. */
const steady = (outage: Outage): Pick<Scenario, 'server' | 'job'> => ({
  server: bucket(300, 10, { outages: [outage] }),
  job: { calls: 300, callers: 16 },
});
const from20s = { fromMs: 20_000, untilMs: 40_000 };

const outages: readonly Scenario[] = [
  {
    name: 'down for 5 s, 503 with Retry-After',
    ...steady({ ...from20s, untilMs: 25_000, kind: 503, retryAfter: 'remaining' }),
  },
  { name: 'down for 20 s, 503', ...steady({ ...from20s, kind: 503 }) },
  { name: 'down for 60 s, 503', ...steady({ ...from20s, untilMs: 80_000, kind: 503 }) },
  { name: 'down for 20 s, no response', ...steady({ ...from20s, kind: 'silence' }) },
  {
    name: '30 % of responses are 503 for 20 s',
    ...steady({ ...from20s, kind: 503, part: 0.3 }),
    goals: { failedPart: 0.3 ** 3 }, // each call has three attempts
  },
  {
    name: 'down for 20 s at the start, 500',
    server: fixed(300, { outages: [{ fromMs: 0, untilMs: 20_000, kind: 500 }] }),
    job: { calls: 200 },
  },
  {
    name: 'down for 10 s while the limit is used up, 503',
    server: fixed(60, { outages: [{ fromMs: 1_500, untilMs: 11_500, kind: 503, retryAfter: 5 }] }),
    job: { calls: 200 },
  },
];

const clocks: readonly Scenario[] = [
  {
    name: 'the clock jumps an hour ahead',
    server: log(300),
    job: { calls: 1_000 },
    jumps: [{ atMs: 20_000, byMs: HOUR_MS }],
    // Like a machine that slept: the minute of the service seems to be over, which costs one refusal and even sending.
    goals: { early: 1, ratio: 1.7 },
  },
  {
    name: 'the clock jumps an hour back',
    server: fixed(60),
    job: { calls: 200 },
    jumps: [{ atMs: 8_000, byMs: -HOUR_MS }],
  },
];

const traffic = (perMinute: number) => ({ job: { calls: 5 * perMinute, perMinute }, goals: { excessMs: 2_000 } });

/** So near the limit, a slot that is used late is missing for minutes. */
const nearlyFull = { ...traffic(28.5), job: { calls: 20 * 28.5, perMinute: 28.5 } };

/** A job that runs again and again for half an hour. Before each run, a part of the limit is free. */
const repeated = { job: { calls: 800, bursts: { calls: 40, everyMs: 90_000 } }, goals: { excessMs: 5_000 } };
const repeats: readonly Scenario[] = [
  { name: '40 calls under 30 each 90 s, fixed minute', server: fixed(30), ...repeated },
  { name: '40 calls under 30 each 90 s, sliding log', server: log(30), ...repeated },
  { name: '40 calls under 30 each 90 s, sliding counter', server: counter(30), ...repeated },
  { name: '40 calls under 30 each 90 s, bucket', server: bucket(30, 30), ...repeated },
];

/** Request handlers: calls at random times, with deadlines and aborts. */
const handlers: readonly Scenario[] = [
  { name: 'traffic of 80 %', server: fixed(60), ...traffic(48) },
  { name: 'traffic of 95 %, fixed minute', server: fixed(30), ...nearlyFull },
  { name: 'traffic of 95 %, window from the first request', server: firstHit(30), ...nearlyFull },
  { name: 'traffic of 95 %, sliding counter', server: counter(30), ...nearlyFull },
  {
    name: 'traffic of 80 %, a block of 60 s after a refusal',
    server: firstHit(30, { blockMs: 60_000, hasNoQuota: true }),
    job: { calls: 480, perMinute: 24 },
    goals: { excessMs: 30_000 }, // one block
  },
  { name: 'traffic of 80 %, deadline 5 s', server: log(300), ...traffic(240), options: { deadlineMs: 5_000 } },
  {
    name: 'traffic of 400 %, deadline 2 s, bucket',
    server: bucket(30, 10),
    job: { calls: 960, perMinute: 120 },
    options: { deadlineMs: 2_000 },
    goals: { ratio: none, failedPart: 0.02 }, // a response can take longer than usual
  },
  {
    name: '100 calls under 30, deadline 90 s',
    server: log(30),
    job: { calls: 100 },
    options: { deadlineMs: 90_000 },
    goals: { ratio: none, failedPart: 0.01 }, // `quota()` takes the slot of a call
  },
  { name: '30 % are aborted after 5 s', server: log(60), job: { calls: 200, aborts: { part: 0.3, afterMs: 5_000 } } },
];

const near: StoreSpec = { latency: [1, 3] };
const far: StoreSpec = { latency: [20, 60] };
const failing = (kind: 'down' | 'silent'): StoreSpec => ({
  latency: [2, 6],
  failures: [{ fromMs: 20_000, untilMs: 60_000, kind }],
});
const job = { calls: 1_100, callers: 16 };
const four = { server: log(300), job, processes: 4 };
/** Without a store, or while it fails, each process learns the limit from its own refusals. */
const alone = { refusedPer100: 12 };

const fleets: readonly Scenario[] = [
  { name: '4 processes, file store, under 30', server: log(30), job: { calls: 100 }, processes: 4, store: near },
  { name: '4 processes, Redis, told 300', ...four, told: 300, store: far },
  { name: '10 processes, Redis, under 300', ...four, processes: 10, store: far },
  { name: '4 processes, slow Redis', ...four, store: { latency: [100, 300] } },
  { name: '4 processes, store down for 40 s', ...four, store: failing('down'), goals: alone },
  { name: '4 processes, store silent for 40 s', ...four, store: failing('silent'), goals: alone },
  { name: '4 processes, no store', ...four, goals: alone },
  { name: '10 processes, no store', ...four, processes: 10, goals: alone },
  { name: '10 processes, traffic of 80 %', ...four, ...traffic(240), processes: 10, store: far },
  { name: '4 processes, down for 20 s', ...four, ...steady({ ...from20s, kind: 503 }), store: near },
  {
    name: '100 commands at once, file store, under 30',
    server: fixed(30),
    job: { calls: 100 },
    processes: 100,
    store: near,
  },
  ...[fixed(30), log(30)].map((server) => ({
    name: `100 commands, 20 at once, file store, ${server.kind}`,
    server,
    job: { calls: 100, callers: 20 },
    isShell: true,
    store: near,
    // The first window ends 2 s after it is full, which a token bucket would also ask for. Of two commands, one can be sent
    // while the refusal of the other is on its way to the store.
    goals: { ratio: 1.35, early: 1 },
  })),
  {
    name: '20 commands in 20 s, no store',
    server: log(60),
    job: { calls: 20, perMinute: 60 },
    processes: 20,
    goals: { requests: 20, refusedPer100: 0 },
  },
];

/** Calls of a site, within a fifth of the limit, beside a batch of the first process. */
const beside = (server: ServerSpec, more: Partial<Scenario> = {}): Scenario => ({
  name: `calls beside a batch under ${server.limit}, ${server.kind}`,
  server,
  job: { calls: 1.5 * server.limit, perMinute: 0.15 * server.limit },
  batch: 10 * server.limit,
  ...more,
  goals: { excessMs: 1_000, refusedPer100: none, ...more.goals }, // the requests of the batch are refused, too
});

const besides: readonly Scenario[] = [
  ...[fixed, firstHit, log, counter].flatMap((kind) => [beside(kind(30)), beside(kind(300))]),
  beside(bucket(300, 100)),
  ...[30, 300].flatMap((limit) => [
    beside(fixed(limit), {
      name: `calls beside a batch under ${limit}, 2 processes, store`,
      processes: 2,
      store: near,
    }),
    beside(fixed(limit), { name: `calls beside a batch under ${limit}, 2 processes, no store`, processes: 2 }),
  ]),
];

/** Situations of users. */
export const SCENARIOS: readonly Scenario[] = [
  ...[...scripts, ...unasked, ...hints, ...products, ...others, ...changes],
  ...[...networks, ...outages, ...clocks, ...repeats, ...handlers, ...fleets, ...besides],
];
