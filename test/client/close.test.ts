import { expect, test, vi } from 'vitest';
import { FxRates, type FxRatesError, type FxRatesOptions, type Middleware } from '../../src/client/index.ts';
import type { LimitStore } from '../../src/client/limits/shared/limit-store.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';
import { fakeFetch } from '../helpers/fake-fetch.ts';
import { MemoryLimitStore } from '../helpers/memory-limit-store.ts';
import { API_KEY, failure, quotaRecord, rateLimited, success } from '../helpers/service-replies.ts';
import { BASE_URL, differentCalls, errorOf, listOf, testClient } from '../helpers/test-client.ts';

const OTHER_KEY = API_KEY.replace('0', '1');
const CLOSED = { kind: 'aborted', message: 'The call was aborted because its client was closed (close())' };

async function errorsOf(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  return Promise.all(calls.map((call) => errorOf(call)));
}

test('ends calls in the queue, in flight and between retries, and leaves no timer', async () => {
  const queued = testClient(rateLimited('30'));
  const inFlight = testClient('never');
  const retrying = testClient(failure(503));
  const calls = [queued, inFlight, retrying].flatMap(({ fx }) => differentCalls(fx, 2));
  const ended = errorsOf(calls);
  await quiet();

  await Promise.all([queued, inFlight, retrying].map(({ fx }) => fx.close()));

  for (const error of await ended) expect(error).toMatchObject(CLOSED);
  for (const { clock } of [queued, inFlight, retrying]) expect(await clock.left()).toBe(0);
  expect(inFlight.fetch.requests.every(({ signal }) => signal.aborted)).toBe(true);
  const attempts = ((await ended) as FxRatesError[]).map((error) => error.attempts.map(({ status }) => status));
  expect(attempts).toEqual([[429], [429], [], [], [503], [503]]);
});

test('sends nothing after close(), whenever the key arrives', async () => {
  for (let ticks = 0; ticks < 40; ticks += 1) {
    const { fx, fetch } = testClient(success(), { apiKey: async () => API_KEY });
    const call = fx.latest().catch((error: unknown) => error);
    for (let tick = 0; tick < ticks; tick += 1) await undefined;
    const before = fetch.requests.length;

    await fx.close();

    const result = await call;
    expect([ticks, fetch.requests.length]).toEqual([ticks, before]);
    if (before === 0) expect(result).toMatchObject(CLOSED);
  }
});

test.each<[string, FxRatesOptions]>([
  ['', {}],
  [' with a guard', { quotaGuard: { reserve: 1 }, deadlineMs: 60_000 }],
  [' with a cache', { cache: 'snapshot', deadlineMs: 60_000 }],
])('ends a call%s in the tick in which it is made, without a request', async (_, options) => {
  const { fx, fetch, clock } = testClient('never', options);
  const startedAt = clock.now();
  const ended = errorOf(fx.latest());

  await clock.run(fx.close());

  expect(clock.now()).toBe(startedAt);
  expect(await ended).toMatchObject(CLOSED);
  expect(fetch.requests).toEqual([]);
});

test('a closed client sends nothing, and its error has the next step', async () => {
  const { fx, fetch } = testClient(success());
  await fx.close();
  await fx.close();

  for (const work of [() => fx.latest(), () => fx.batch([{ n: 0 }]), () => fx.poll()]) {
    expect(await errorOf(async () => work())).toMatchObject({
      kind: 'config',
      message: expect.stringContaining('create a new'),
    });
  }
  expect(fetch.requests).toEqual([]);
});

test('a call that a listener of the abort makes during close() is refused', async () => {
  const late: Promise<unknown>[] = [];
  const callLate: Middleware = (request, next) => {
    request.signal.addEventListener('abort', () => late.push(errorOf(fx.latest({ late: true }))));
    return next(request);
  };
  const { fx } = testClient('never', { middleware: [callLate] });
  const ended = errorOf(fx.latest());
  await quiet();

  await fx.close();

  expect(await ended).toMatchObject(CLOSED);
  expect(await Promise.race([Promise.all(late), quiet()])).toMatchObject([{ kind: 'config' }]);
});

test('await using closes the client at the end of the block, and no other client of the key', async () => {
  const clock = new FakeClock();
  const options = { clock, fetch: fakeFetch([rateLimited('30'), success()]) };
  const other = testClient([], options).fx;
  const going: Promise<unknown>[] = [];
  {
    await using one = testClient([], options).fx;
    going.push(errorOf(one.latest({ n: 1 })), other.latest({ n: 2 }));
    await quiet();
  }

  expect(await going[0]).toMatchObject(CLOSED);
  expect(other.limits()?.gate).not.toBe('open');
  await clock.run(Promise.all(going));
});

test('after the last client of a key is closed, the next one has a new state and its own store', async () => {
  const clock = new FakeClock();
  const fetch = fakeFetch(success(), { quota: success(quotaRecord()) });
  const stores = [0, 1, 2].map(() => new MemoryLimitStore(clock));
  const client = (place: number) => testClient([], { clock, fetch, rateLimit: { store: stores[place]! } }).fx;
  const [first, second] = [client(0), client(1)];
  await Promise.all([clock.run(first.quota()), clock.run(second.quota())]);
  await first.close();
  await clock.run(second.latest());
  expect(stores.map(({ exchanges }) => exchanges > 0)).toEqual([true, false, false]);
  expect(second.quotaEstimate()).toBeDefined();

  await second.close();
  const third = client(2);
  expect(third.quotaEstimate()).toBeUndefined();
  await clock.run(third.latest());

  expect(stores.map(({ exchanges }) => exchanges > 0)).toEqual([true, false, true]);
});

test.each<[string, object, 'derived' | 'root', boolean]>([
  ['with a key of its own: its state', { apiKey: OTHER_KEY }, 'derived', false],
  ['with the same key: nothing', {}, 'derived', true],
  ['with a key of its own: its state, by closing the first client', { apiKey: OTHER_KEY }, 'root', false],
  ['with the same key: its state, by closing the first client', {}, 'root', false],
])('a client of withOptions() releases %s', async (_, options, closed, isKept) => {
  const fetch = fakeFetch(success(), { quota: success(quotaRecord()) });
  const { fx, clock } = testClient([], { fetch });
  const unclosed = [1, 2].map(() => fx.withOptions(closed === 'root' ? options : {}));
  const derived = fx.withOptions(options);
  await clock.run(Promise.all([...unclosed, derived].map((one) => one.quota())));

  await (closed === 'root' ? fx : derived).close();
  await (closed === 'root' ? derived : undefined)?.close();

  const next = testClient([], { clock, fetch, ...options }).fx;
  expect(next.quotaEstimate() !== undefined).toBe(isKept);
  if (closed === 'derived') expect(fx.quotaEstimate()).toBeDefined();
  await next.close();
});

test('a client of withOptions() that is closed after the first one releases no state of another client', async () => {
  const fetch = fakeFetch(success(), { quota: success(quotaRecord()) });
  const { fx, clock } = testClient([], { fetch });
  const other = testClient([], { clock, fetch }).fx;
  const derived = fx.withOptions();
  await clock.run(Promise.all([derived, other].map((one) => one.quota())));

  await fx.close();
  await derived.close();

  expect(testClient([], { clock, fetch }).fx.quotaEstimate()).toBeDefined();
});

test('closing a client ends its batches and polls', async () => {
  const { fx, clock } = testClient((request) => (request.url.includes('n=1') ? 'never' : success()));
  const batch = fx.batch([{ n: 0 }, { n: 1 }]);
  const ended = errorsOf([listOf(batch), listOf(fx.poll({}, { every: 60_000 }))]);
  await quiet();

  await fx.close();

  for (const error of await ended) expect(error).toMatchObject(CLOSED);
  expect(batch.left().size).toBe(1);
  expect(await clock.left()).toBe(0);
});

test('closing a client ends a call that did not join a call with a longer wait', async () => {
  const { fx, clock } = testClient([rateLimited('30'), 'never']);
  const waiting = errorOf(fx.latest());
  await clock.advance(1_000);

  const own = errorOf(fx.latest({}, { deadlineMs: 5_000 }));
  await fx.close();

  expect(await waiting).toMatchObject(CLOSED);
  expect(await own).toMatchObject(CLOSED);
});

test('withOptions has other defaults for the same limit and quota', async () => {
  const { fx, clock, fetch } = testClient([rateLimited('30'), success()], { quota: success(quotaRecord()) });
  await fx.quota();
  const hasty = fx.withOptions({ onLimit: 'throw', timeoutMs: undefined });
  const waiting = fx.latest({ n: 1 });
  await quiet();

  expect(hasty.quotaEstimate()).toEqual(fx.quotaEstimate());
  expect(await errorOf(hasty.latest({ n: 2 }))).toMatchObject({ kind: 'rate_limited', reason: 'policy' });
  await clock.run(waiting);
  expect(fetch.requests.filter(({ url }) => url.includes('n=2'))).toEqual([]);
});

test('withOptions shares the cache, also with another age, the key and the warnings', async () => {
  const apiKey = vi.fn(() => API_KEY);
  const options = { cache: { maxAgeMs: 60_000 }, auth: 'query', apiKey } as const;
  const { fx, fetch, clock, warnings } = testClient(success(), options);
  await fx.latest();
  await clock.advance(30_000);
  const metaOf = async (options: FxRatesOptions) => (await fx.withOptions(options).latest().withMeta()).meta;

  const same = await metaOf({ timeoutMs: 1_000 });
  const younger = await metaOf({ cache: { maxAgeMs: 40_000 } });
  const fresh = await metaOf({ cache: { maxAgeMs: 0 } });

  expect([same, younger]).toMatchObject(Array(2).fill({ source: 'cache', ageMs: 30_000 }));
  expect(fresh.source).toBe('network');
  expect(fetch.requests).toHaveLength(2);
  expect(apiKey).toHaveBeenCalledOnce();
  expect(warnings).toHaveLength(1);
});

test('withOptions: another key has its own limit, another transport replaces the first', async () => {
  const { fx, fetch } = testClient(success());
  await fx.latest();
  const other = fakeFetch(success());

  const client = fx.withOptions({ apiKey: API_KEY.replace('0', '1'), fetch: other });
  expect(client.limits()).toMatchObject({ gate: 'open', inFlight: 0 });
  await client.latest();

  expect([fetch.requests.length, other.requests.length]).toEqual([1, 1]);
  expect(await errorOf(() => fx.withOptions({ timeoutMs: -1 }))).toMatchObject({ kind: 'config' });
});

class Plain extends FxRates {
  readonly currency = 'EUR';
  rate(): Promise<unknown> {
    return this.latest({ base: this.currency });
  }
}
class WithDefaults extends Plain {
  constructor({ maxRetries = 5, ...options }: FxRatesOptions = {}) {
    super({ ...options, maxRetries });
  }
}
class Selective extends Plain {
  constructor({ baseUrl, apiKey, fetch, clock }: FxRatesOptions = {}) {
    super({ baseUrl, apiKey, fetch, clock });
  }
}

test.each([
  { name: 'without a constructor', Client: Plain, isClosedToo: true },
  { name: 'with a constructor that has defaults', Client: WithDefaults, isClosedToo: true },
  { name: 'with a constructor that selects options', Client: Selective, isClosedToo: false },
])('withOptions() of a subclass $name returns one of the subclass', async ({ Client, isClosedToo }) => {
  const fetch = fakeFetch(success());
  const first = new Client({ baseUrl: BASE_URL, apiKey: API_KEY, fetch, clock: new FakeClock() });

  const second: Plain = first.withOptions({ timeoutMs: 5_000 }).withOptions({ deadlineMs: 5_000 });
  await second.rate();

  expect(second).toBeInstanceOf(Client);
  expect(fetch.requests.map(({ url }) => url)).toEqual([`${BASE_URL}/api/v1/latest?base=EUR`]);
  await first.close();
  expect(await Promise.allSettled([second.rate()])).toMatchObject([{ status: isClosedToo ? 'rejected' : 'fulfilled' }]);
});

test('closing a client closes the clients made from it and theirs, which can be closed alone', async () => {
  const { fx } = testClient('never');
  const inner = fx.withOptions({ maxRetries: 0 }).withOptions({ timeoutMs: 5_000 });
  const alone = fx.withOptions({});
  const ended = errorsOf([fx.latest({ n: 1 }), inner.latest({ n: 2 })]);
  const first = errorsOf([alone.latest({ n: 3 }), listOf(alone.batch([{ n: 4 }]))]);
  await quiet();

  await alone.close();
  expect(await first).toMatchObject([CLOSED, CLOSED]);
  expect(await Promise.race([ended, quiet()])).toBeUndefined();
  await fx.close();

  const errors = (await ended) as FxRatesError[];
  for (const error of errors) expect(error).toMatchObject(CLOSED);
  expect(new Set(errors.map(({ callId }) => callId)).size).toBe(2);
  for (const closed of [inner, alone]) await expect(closed.quota()).rejects.toThrow('The client is closed');
  expect(() => inner.poll()).toThrow('The client is closed');
});

test.each([
  ['limits()', (fx: FxRates) => fx.limits()],
  ['quotaEstimate()', (fx: FxRates) => fx.quotaEstimate()],
  ['withOptions()', (fx: FxRates) => fx.withOptions().limits()],
])('after close(), %s does not affect the next client of the key', async (_, read) => {
  const { fx, clock, fetch } = testClient(success(), { rateLimit: { perMinute: 30 } });
  await fx.latest();
  await fx.close();

  read(fx);

  const next = new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY, clock, fetch, rateLimit: { perMinute: 300 } });
  expect(next.limits()?.perMinute).toBe(300);
  expect(fx.limits()?.perMinute).toBe(30);
});

test('close waits until the store has the results, except of a state that another client uses', async () => {
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock, { takesMs: 2 });
  const options = { clock, fetch: fakeFetch(success()), rateLimit: { store } };
  const [one, other] = [testClient([], options).fx, testClient([], options).fx];
  await clock.run(Promise.all([one.latest({ n: 1 }), other.latest({ n: 2 })]));
  const { writes } = store;
  await one.close();
  let isClosed = false;

  const closing = other.close().then(() => {
    isClosed = true;
  });
  await quiet();
  expect([isClosed, store.writes]).toEqual([false, writes]);
  await clock.advance(10);
  await closing;

  expect(store.writes).toBeGreaterThan(writes);
});

test('close waits until the store knows that the quota() of the client has ended', async () => {
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock, { takesMs: 2 });
  const states: string[] = [];
  const noting: LimitStore = {
    async exchange(name, known, offer) {
      const reply = await store.exchange(name, known, offer);
      if (offer !== undefined && reply.isWritten) states.push(offer.state);
      return reply;
    },
  };
  const { fx } = testClient([], {
    fetch: fakeFetch(success(), { quota: 'never' }),
    clock,
    rateLimit: { store: noting },
  });
  await clock.run(Promise.all(differentCalls(fx, 40)));
  await clock.advance(100);
  const inFlight = () => JSON.parse(states.at(-1) ?? '').limit.inFlight;
  const before = inFlight();

  await clock.run(fx.close());

  expect([before, inFlight()]).toEqual([1, 0]);
});
