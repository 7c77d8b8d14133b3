import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import {
  type AnyFxRatesError,
  FxRates,
  type Poll,
  type PollOptions,
  type PollSchedule,
} from '../../../src/client/index.ts';
import { PollBudget } from '../../../src/client/state/poll-budget.ts';
import { quiet, ticksUntilSettled } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { clientOnMock } from '../../helpers/mock-with-key.ts';
import { API_KEY, exhaustedQuota, failure, quotaRecord, success } from '../../helpers/service-replies.ts';
import { errorOf, listOf, testClient } from '../../helpers/test-client.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RESETS_AT = Date.parse('2026-02-01T00:00:00.000Z');
/** From the start of the fake clock until the quota of `quotaRecord` resets. */
const LEFT_MS = RESETS_AT - Date.parse('2026-01-21T14:20:00.000Z');
/** Enough for every snapshot of the month. */
const rich = success(quotaRecord({ monthly_limit: 1_000_000 }));
const plenty = quotaRecord({ monthly_limit: null });
/** Snapshots of ten seconds. */
const dense = (perMinute: number) => ({ ...plenty, snapshot_granularity: '10s', rate_limit_per_minute: perMinute });

const ratesSent = (requests: readonly { readonly url: string }[]) =>
  requests.filter(({ url }) => url.includes('/latest')).length;

test('yields the data of each call, the first one immediately', async () => {
  let calls = 0;
  const { fx, clock } = testClient(() => success({ call: ++calls }), { quota: rich });
  const startedAt = clock.now();

  const [one] = await clock.run(listOf(fx.poll(), 1));
  expect(clock.now()).toBe(startedAt);
  const more = await clock.run(listOf(fx.poll({ base: 'EUR' }), 2));

  expect([one, ...more]).toEqual([{ call: 1 }, { call: 2 }, { call: 3 }]);
});

test.each([
  ["every: 'quota' with little left: evenly until the reset", 'quota', quotaRecord(), LEFT_MS / 258, 'quota'],
  ["every: 'quota' with plenty: each snapshot", 'quota', plenty, 5 * MINUTE, 'snapshot'],
  ['a snapshot comes more often than the limit allows: the limit', 'snapshot', dense(2), MINUTE / 2, 'limit'],
  ['dense snapshots and an unlimited plan: a minute, which others need too', 'quota', dense(1_000), MINUTE, 'limit'],
  ["dense snapshots with every: 'snapshot': each snapshot", 'snapshot', dense(1_000), MINUTE / 6, 'snapshot'],
  ['a limit of 0 per minute: once a minute', 'quota', { ...dense(0), snapshot_granularity: 'odd' }, MINUTE, 'limit'],
  [
    'a period that is over by the local clock: each snapshot',
    'quota',
    quotaRecord({ resets_at: '2026-01-21T14:00:00.000Z' }),
    5 * MINUTE,
    'snapshot',
  ],
  ["every: 'snapshot', whatever is left of the quota", 'snapshot', quotaRecord(), 5 * MINUTE, 'snapshot'],
  ['a number of milliseconds', 90_000, quotaRecord(), 90_000, 'every'],
  ['a record with an odd historical_days', 'quota', { ...plenty, historical_days: null }, 5 * MINUTE, 'snapshot'],
  ['a record with an odd limit', 'quota', { ...plenty, rate_limit_per_minute: 'many' }, 5 * MINUTE, 'snapshot'],
] as const)('%s', async (_, every, quota, intervalMs, reason) => {
  const { fx, clock } = testClient(success(), { quota: success(quota) });
  const startedAt = clock.now();

  const items = await clock.run(listOf(fx.poll({}, { every }).withMeta(), 3));

  expect(Math.abs(clock.now() - startedAt - 2 * intervalMs)).toBeLessThan(0.01 * intervalMs);
  expect(items.map(({ next }) => next.reason)).toEqual([reason, reason, reason]);
  expect(Number(items[1]?.next.at) - clock.now()).toBeLessThan(2);
});

test('a record whose resets_at is no date spreads what is left over a month', async () => {
  const { fx, clock } = testClient(success(), { quota: success({ ...quotaRecord(), resets_at: 'soon' }) });

  const [item] = await clock.run(listOf(fx.poll().withMeta(), 1));

  expect(item!.next.intervalMs).toBe(Math.ceil((31 * DAY) / 257));
});

test('a poll of quota() without known snapshots is made once a minute, also when the month is used up', async () => {
  const { fx, clock } = testClient(success({ ...exhaustedQuota(), snapshot_granularity: 'odd' }));
  const startedAt = clock.now();

  const records = await clock.run(listOf(fx.poll(undefined, { operation: 'quota' }), 4));

  expect(clock.now() - startedAt).toBe(3 * MINUTE);
  expect(records[0]?.monthly_limit).toBe(1_000);
});

test('quota() is called with the headers and the time limit of the poll', async () => {
  const { fx, clock, fetch } = testClient(success(), { quota: 'never' });
  const startedAt = clock.now();

  const options = { headers: { 'x-team': 'a' }, timeoutMs: 2_000, maxRetries: 0 };
  expect(await clock.run(errorOf(listOf(fx.poll({}, options), 1)))).toMatchObject({ kind: 'timeout', limitMs: 2_000 });

  expect(clock.now() - startedAt).toBe(2_000);
  expect(fetch.requests.map(({ headers }) => headers['x-team'])).toEqual(['a']);
});

test('the reserve of the guard is not spread, except for a poll that may use it', async () => {
  const options = { quota: success(quotaRecord()), quotaGuard: { reserve: 129 } };
  const intervalOf = async (priority: 'normal' | 'high') => {
    const { fx, clock } = testClient(success(), options);
    const [item] = await clock.run(listOf(fx.poll({}, { priority }).withMeta(), 1));
    return item!.next.intervalMs;
  };

  expect((await intervalOf('normal')) / (await intervalOf('high'))).toBeCloseTo(2, 1);
});

test('usage by other processes makes a wait longer, a bigger plan makes it shorter', async () => {
  const records = [quotaRecord({ monthly_used: 741 }), quotaRecord({ monthly_used: 987 })];
  let quota = records[0];
  const { fx, clock, fetch } = testClient(success(), { quota: () => success(quota) });
  const polled = listOf(fx.poll(), 3);
  await clock.advance(MINUTE);
  quota = records[1];

  await clock.advance(15 * HOUR);
  expect(ratesSent(fetch.requests)).toBe(1);

  quota = quotaRecord({ monthly_limit: 1_000_000 });
  await clock.advance(HOUR + MINUTE);
  expect(ratesSent(fetch.requests)).toBe(2);
  await clock.run(polled);
});

test('the interval starts with a call; a late loop calls immediately and skips missed calls', async () => {
  const sentAt: number[] = [];
  const { fx, clock } = testClient(async () => {
    sentAt.push(clock.now());
    await clock.sleep(2_000);
    return success();
  });
  const startedAt = clock.now();
  const loop = async () => {
    let count = 0;
    for await (const _ of fx.poll({}, { every: 10_000 })) {
      count += 1;
      if (count === 2) await clock.sleep(35_000);
      if (count === 4) break;
    }
  };

  await clock.run(loop());

  expect(sentAt.map((at) => at - startedAt)).toEqual([0, 10_000, 47_000, 57_000]);
});

const enough = new RangeError('enough');
const bug = Object.assign(new Error('a bug in the schema'), { kind: 'network' });
const throwing = z.unknown().transform((): number => {
  throw bug;
});
const ignore = () => undefined;
const throwsEnough = () => {
  throw enough;
};

test.each<[string, Reply, options: object, expected: object]>([
  ['a failure, without onError,', failure(503), {}, { kind: 'server' }],
  ['a refused key', failure(401), { onError: ignore }, { kind: 'authentication' }],
  ['a wrong parameter', failure(400), { onError: ignore }, { kind: 'request' }],
  ['an error that a schema throws', success(), { onError: ignore, schema: throwing }, bug],
  ['an onError that rejects', failure(503), { onError: () => Promise.reject(enough) }, enough],
  ['an onError that throws', failure(503), { onError: throwsEnough }, enough],
])('%s ends the poll with its error', async (_, reply, options, expected) => {
  const { fx, clock } = testClient(reply, { maxRetries: 0 });

  const error = await errorOf(clock.run(listOf(fx.poll({}, { every: MINUTE, ...(options as PollOptions) }), 1)));

  if (expected instanceof Error) expect(error).toBe(expected);
  else expect(error).toMatchObject(expected);
});

test.each<[string, (poll: AsyncIterator<unknown>, fx: { close(): Promise<void> }) => Promise<unknown>]>([
  ['return()', async (poll) => poll.return?.()],
  ['close()', async (_, fx) => fx.close()],
])('%s ends a poll whose onError does not end', async (_, end) => {
  const { fx, clock } = testClient(failure(503), { maxRetries: 0 });
  let isAsked = false;
  const onError = () => {
    isAsked = true;
    return new Promise<never>(() => undefined) as never;
  };
  const poll = fx.poll({}, { every: 60_000, onError })[Symbol.asyncIterator]();
  const next = poll.next().catch((error: unknown) => error);
  while (!isAsked) await clock.advance(1);

  await end(poll, fx);

  expect(await ticksUntilSettled(next)).toBeLessThan(100);
});

test('with onError, a temporary failure does not end the poll', async () => {
  const told: { readonly error: AnyFxRatesError; readonly next: PollSchedule }[] = [];
  const { fx, clock } = testClient([failure(503), success(), new TypeError('fetch failed'), success()], {
    maxRetries: 0,
  });
  const onError = (error: AnyFxRatesError, next: PollSchedule) => told.push({ error, next });
  const startedAt = clock.now();

  await clock.run(listOf(fx.poll({}, { every: 60_000, onError }), 2));

  expect(told.map(({ error }) => error.kind)).toEqual(['server', 'network']);
  expect(told[0]?.next).toMatchObject({ at: new Date(startedAt + 60_000), intervalMs: 60_000, reason: 'every' });
});

test.each([
  ['the quota is exhausted', exhaustedQuota(), {}],
  ['only the reserve is left', quotaRecord(), { quotaGuard: { reserve: 300 } }],
])('if %s, a poll with onError continues after the reset', async (_, record, options) => {
  const fresh = quotaRecord({ monthly_used: 0, resets_at: '2026-03-01T00:00:00.000Z' });
  const isOver = () => clock.now() >= RESETS_AT;
  const { fx, clock, fetch } = testClient(() => (isOver() ? success() : failure(402)), {
    quota: () => success(isOver() ? fresh : record),
    ...options,
  });
  const told: PollSchedule[] = [];

  await clock.run(listOf(fx.poll({}, { onError: (_error, next) => told.push(next) }), 1));

  const afterMs = 30_000; // the clocks can differ
  expect(told).toEqual([{ at: new Date(RESETS_AT + afterMs), intervalMs: LEFT_MS + afterMs, reason: 'quota' }]);
  expect(ratesSent(fetch.requests)).toBe('quotaGuard' in options ? 1 : 2);
});

test('a failed quota() ends a poll at its start, and has no effect later', async () => {
  const responses: Reply[] = [failure(404), rich];
  const { fx, clock } = testClient(success(), { quota: () => responses.shift() ?? failure(404) });

  expect(await errorOf(clock.run(listOf(fx.poll(), 1)))).toMatchObject({ kind: 'request', status: 404 });
  const items = await clock.run(listOf(fx.poll().withMeta(), 3));

  expect(items.map(({ next }) => next.intervalMs)).toEqual([5 * MINUTE, 5 * MINUTE, 5 * MINUTE]);
});

test('with onError, a poll calls a failed quota() again after a minute', async () => {
  const responses: Reply[] = [failure(503), rich];
  const { fx, clock } = testClient(success(), { quota: () => responses.shift() ?? rich, maxRetries: 0 });
  const told: PollSchedule[] = [];
  const startedAt = clock.now();

  await clock.run(listOf(fx.poll({}, { maxRetries: 0, onError: (_, next) => told.push(next) }), 1));

  expect(told).toMatchObject([{ intervalMs: MINUTE, reason: 'unknown' }]);
  expect(clock.now() - startedAt).toBe(MINUTE);
});

test('calls quota() every five minutes, and at once if the clock was set back', async () => {
  const askedAt: number[] = [];
  const { fx, clock } = testClient(success(), {
    quota: () => {
      askedAt.push(clock.now() - startedAt);
      return success(quotaRecord({ snapshot_granularity: '1min', monthly_limit: null }));
    },
  });
  const startedAt = clock.now();
  const ended = errorOf(listOf(fx.poll(), 100));

  await clock.advance(11 * MINUTE);
  expect(askedAt).toEqual([0, 5 * MINUTE, 10 * MINUTE]);
  clock.set(-HOUR);
  await clock.advance(MINUTE);

  expect(askedAt).toHaveLength(4);
  await fx.close();
  await ended;
});

test('if quota() fails after the period of its last record, a poll keeps its interval', async () => {
  const responses: Reply[] = [success(quotaRecord({ snapshot_granularity: '1d', monthly_limit: null }))];
  const { fx, clock } = testClient(success(), { quota: () => responses.shift() ?? failure(404) });

  const items = await clock.run(listOf(fx.poll().withMeta(), 12));

  expect(clock.now()).toBeGreaterThan(RESETS_AT);
  expect(new Set(items.map(({ next }) => next.intervalMs))).toEqual(new Set([24 * HOUR]));
});

test("a snapshot interval that cannot be parsed is an error only with every: 'snapshot'", async () => {
  const quota = success(quotaRecord({ snapshot_granularity: 'hourly-ish', monthly_limit: null }));
  const { fx, clock, warnings } = testClient(success(), { quota });

  const error = await errorOf(clock.run(listOf(fx.poll({}, { every: 'snapshot' }), 1)));
  expect(error).toMatchObject({ kind: 'config', message: expect.stringContaining("'hourly-ish'") });
  const [item] = await clock.run(listOf(fx.poll().withMeta(), 1));
  expect(item?.next).toMatchObject({ intervalMs: MINUTE, reason: 'limit' });
  expect(warnings).toEqual([expect.stringContaining("'hourly-ish'")]);
});

test('a warning with a text of the service does not show the key', async () => {
  const quota = success(quotaRecord({ snapshot_granularity: API_KEY, monthly_limit: null }));
  const { fx, clock, warnings } = testClient(success(), { quota });

  await clock.run(listOf(fx.poll(), 1));

  expect(warnings).toEqual([expect.stringContaining(`'fx_live_…${API_KEY.slice(-4)}'`)]);
});

const moments: [string, Reply, Reply, number][] = [
  ['during the wait', success(), rich, 2],
  ['during a call', 'never', rich, 2],
  ['while quota() is in flight', success(), 'never', 1],
];

test.each(moments)('an abort %s ends the poll at once, and leaves no timer', async (when, latest, quota, requests) => {
  const stop = new AbortController();
  const { fx, clock, fetch } = testClient(latest, { quota });
  const ended = errorOf(listOf(fx.poll({}, { signal: stop.signal }), 9));
  await clock.advance(1_000);

  stop.abort('closing');

  expect(await ended).toMatchObject({ kind: 'aborted', cause: 'closing' });
  expect(fetch.requests.at(-1)?.signal.aborted).toBe(when !== 'during the wait');
  expect(fetch.requests).toHaveLength(requests);
  expect(await clock.left()).toBe(0);
  expect(await errorOf(listOf(fx.poll({}, { signal: stop.signal }), 1))).toMatchObject({ kind: 'aborted' });
  expect(fetch.requests).toHaveLength(requests);
});

test.each(moments)('return() %s ends a next() at once, and leaves no timer', async (_, latest, quota, requests) => {
  for (const itemsOf of [(poll: Poll<unknown>) => poll, (poll: Poll<unknown>) => poll.withMeta()]) {
    const { fx, clock, fetch } = testClient(latest, { quota });
    const iterator: AsyncIterator<unknown> = itemsOf(fx.poll())[Symbol.asyncIterator]();
    if (requests === 2 && latest !== 'never') await iterator.next();
    const pending = iterator.next();
    await quiet();

    const ended = iterator.return?.();

    expect(await ticksUntilSettled(pending)).toBeLessThan(50);
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await ended).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(fetch.requests).toHaveLength(requests);
    expect(await clock.left()).toBe(0);
  }
});

test('closing the client in the loop of a poll ends the poll with an AbortError', async () => {
  const { fx, clock } = testClient(success(), { quota: rich });
  const loop = async () => {
    for await (const _ of fx.poll()) {
      await clock.sleep(HOUR); // later than the interval
      await fx.close();
    }
  };

  expect(await clock.run(errorOf(loop()))).toMatchObject({ kind: 'aborted' });
});

test('a poll bypasses the cache of the client', async () => {
  const { fx, clock, fetch } = testClient(success(), { quota: rich, cache: { maxAgeMs: HOUR } });

  await clock.run(listOf(fx.poll({}, { every: MINUTE }), 3));
  expect(ratesSent(fetch.requests)).toBe(3);

  await clock.run(listOf(fx.poll({}, { every: MINUTE, maxAgeMs: HOUR }), 3));
  expect(ratesSent(fetch.requests)).toBe(3);
});

test.each([
  ['a misspelt option', { evry: 1 }, /did you mean 'every'/],
  ['an interval of 0', { every: 0 }, /every: expected a positive number/],
  ['an interval in words', { every: '5m' }, /every: .*, or 'quota', or 'snapshot', got '5m'/],
  ['a hook that is none', { onError: 'log' }, /onError/],
  ['an operation that does not exist', { operation: 'rates' }, /operation: expected 'latest' or 'quota'/],
  ['an option of a call that is wrong', { timeoutMs: -1 }, /timeoutMs/],
  ['an empty list of queries', {}, /query:/, []],
])('throws for %s', async (_, options, message, query?) => {
  const { fx } = testClient(success());

  const error = await errorOf(() => fx.poll(query ?? {}, options as never));

  expect(error).toMatchObject({ kind: 'config', message: expect.stringMatching(message) });
});

/** Each day has hundreds of calls of quota(). */
async function month(from = '2026-01-27T00:00:00Z') {
  const given = clientOnMock();
  const { mock, fx } = given;
  await mock.clock.advanceTo(from);
  return { ...given, resetsAt: Date.parse((await fx.quota()).resets_at) };
}

/** Takes items until `until`, and returns the times. */
async function run(poll: Poll<unknown>, { now, until }: { now: () => number; until: number }): Promise<number[]> {
  const times: number[] = [];
  for await (const _ of poll) {
    if (now() >= until) break;
    times.push(now());
  }
  return times;
}

test.each([1, 5])('%i polls of a key use the month exactly and evenly, each its part of it', async (polls) => {
  const { fx, mock, resetsAt } = await month();
  const leftMs = resetsAt - mock.clock.now();
  const now = () => mock.clock.now();

  const times = await Promise.all(
    ['EUR', 'USD', 'GBP', 'JPY', 'CHF'].slice(0, polls).map((base) => run(fx.poll({ base }), { now, until: resetsAt })),
  );

  for (const own of times) {
    const gaps = own.slice(5).map((at, index) => at - own[index + 4]!);
    expect(Math.max(...gaps)).toBeLessThan((1.05 * polls * leftMs) / 1_000);
    expect(Math.min(...gaps)).toBeGreaterThan((0.95 * polls * leftMs) / 1_000);
  }
  expect(times.flat().length).toBeGreaterThan(990);
  expect(times.flat().length).toBeLessThanOrEqual(1_000);
  expect(mock.journal.list().filter(({ status }) => status === 429)).toEqual([]);
});

/** Another process: the state of a key belongs to a clock. */
function ownProcess({ mock, key }: Pick<ReturnType<typeof clientOnMock>, 'mock' | 'key'>): FxRates {
  const options = mock.clientOptions();
  return new FxRates({ apiKey: key, ...options, clock: Object.create(options.clock) });
}

test.each([
  { by: 'two more processes that poll', polls: 3, calls: 0, everyMs: DAY, share: 1 / 3 },
  { by: '480 calls of another program', polls: 1, calls: 1, everyMs: DAY / 240, share: 0.52 },
])('the month lasts beside $by', async ({ polls, calls, everyMs, share }) => {
  const given = await month('2026-01-30T00:00:00Z');
  const { mock, resetsAt } = given;
  const leftMs = resetsAt - mock.clock.now();
  const now = () => mock.clock.now();
  const other = ownProcess(given);
  const others = async () => {
    for (let n = 1; now() + everyMs < resetsAt; n += 1) {
      await Promise.all(Array.from({ length: calls }, (_, place) => other.latest({ n, place })));
      await mock.clock.sleep(everyMs);
    }
  };

  const [times] = await Promise.all([
    Promise.all(Array.from({ length: polls }, () => run(ownProcess(given).poll(), { now, until: resetsAt }))),
    others(),
  ]);

  expect(mock.journal.list({ status: 429 }).filter(({ quota }) => quota?.used === quota?.limit)).toEqual([]);
  for (const own of times) {
    const late = own.filter((at) => at > resetsAt - leftMs / 2);
    expect(late.length / 500 / share).toBeGreaterThan(0.8);
    expect(late.length / 500 / share).toBeLessThan(1.2);
  }
});

test('a list of queries makes a call per query in each round, and each item has its query', async () => {
  const { fx, clock, fetch } = testClient(({ url }) => success({ base: new URL(url).searchParams.get('base') }), {
    quota: success(quotaRecord({ monthly_used: 0 })),
  });

  const items = await clock.run(listOf(fx.poll([{ base: 'EUR' }, { base: 'USD' }]).withMeta(), 4));

  const round = ['EUR', 'USD'].map((base) => [{ base }, { base }]);
  expect(items.map(({ query, data }) => [query, data])).toEqual([...round, ...round]);
  expect(ratesSent(fetch.requests)).toBe(4);
  expect(items[3]!.next.intervalMs / (LEFT_MS / 1_000)).toBeCloseTo(2, 1);
});

test('a poll that starts or ends changes the next times of the others', async () => {
  const { fx, mock, resetsAt } = await month();
  const now = () => mock.clock.now();
  const startedAt = now();
  const alone = (resetsAt - startedAt) / 1_000;
  const first = run(fx.poll({ base: 'EUR' }), { now, until: startedAt + 40 * HOUR });
  await mock.clock.advance(10 * HOUR);

  const others = ['USD', 'GBP', 'JPY'].map((base) => run(fx.poll({ base }), { now, until: startedAt + 20 * HOUR }));
  const times = await first;
  await Promise.all(others);

  const gapsIn = (from: number, to: number) =>
    times.slice(1).flatMap((at, index) => {
      const before = times[index]!;
      return before >= startedAt + from * HOUR && at <= startedAt + to * HOUR ? [at - before] : [];
    });
  for (const gap of gapsIn(0, 10)) expect(gap / alone).toBeCloseTo(1, 0);
  for (const gap of gapsIn(11, 19)) expect(gap / alone).toBeGreaterThan(3.8);
  expect(gapsIn(11, 19).length).toBeGreaterThan(1);
  for (const gap of gapsIn(24, 40)) expect(gap / alone).toBeLessThan(1.1);
});

test('a poll with an interval of its own takes its requests first', async () => {
  const { fx, clock } = testClient(success(), { quota: success(quotaRecord({ monthly_used: 0 })) });
  const every = LEFT_MS / 500;
  const fixed = fx.poll({ base: 'USD' }, { every })[Symbol.asyncIterator]();
  await clock.run(fixed.next());

  const spread = fx.poll({ base: 'EUR' }).withMeta()[Symbol.asyncIterator]();
  const { value } = await clock.run(spread.next());

  expect(value?.next.intervalMs / every).toBeCloseTo(1, 1);
  await fixed.return?.();
  await spread.return?.();
});

test('a poll that is answered from the cache leaves the requests that it does not send', async () => {
  const quota = success(quotaRecord({ monthly_used: 0 }));
  const { fx, clock } = testClient(success(), { quota, cache: { maxAgeMs: HOUR } });
  const cached = fx.poll({ base: 'USD' }, { every: MINUTE, maxAgeMs: HOUR })[Symbol.asyncIterator]();
  await clock.run(cached.next());

  const spread = fx.poll({ base: 'EUR' }).withMeta()[Symbol.asyncIterator]();
  const { value } = await clock.run(spread.next());

  expect(LEFT_MS / value!.next.intervalMs / (1_000 - LEFT_MS / HOUR)).toBeCloseTo(1, 1);
  await cached.return?.();
  await spread.return?.();
});

test('rounds that are answered from the cache are no requests of the polls', async () => {
  const { fx, clock } = testClient(success(), { quota: rich, cache: { maxAgeMs: DAY } });
  const sent = vi.spyOn(PollBudget.prototype, 'sent');
  onTestFinished(() => sent.mockRestore());

  await clock.run(listOf(fx.poll({}, { every: MINUTE, maxAgeMs: DAY }), 5));
  expect(sent).toHaveBeenCalledTimes(1);
  await clock.run(listOf(fx.poll({}, { every: MINUTE }), 3));

  expect(sent).toHaveBeenCalledTimes(4);
});

test('a failed call of a list is reported, and the others continue', async () => {
  const { fx, clock } = testClient(({ url }) => (url.includes('XXX') ? { status: 500 } : success()), {
    quota: success(quotaRecord()),
    maxRetries: 0,
  });
  const errors: string[] = [];
  const poll = fx.poll([{ base: 'XXX' }, { base: 'EUR' }], { onError: ({ kind }) => errors.push(kind) });

  const [item] = await clock.run(listOf(poll.withMeta(), 1));

  expect(item?.query).toEqual({ base: 'EUR' });
  expect(errors).toEqual(['server']);
});
