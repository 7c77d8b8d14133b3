import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import {
  AbortError,
  type FxRates,
  type FxRatesError,
  type FxRatesOptions,
  type Middleware,
} from '../../../src/client/index.ts';
import { deferred } from '../../helpers/deferred.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, exhaustedQuota, failure, rateLimited, success } from '../../helpers/service-replies.ts';
import { errorOf, schemaOf, testClient } from '../../helpers/test-client.ts';

test('a method and get() share a request, however ordered; values of one name keep their order', async () => {
  const { fx, fetch } = testClient(success());

  await Promise.all([
    fx.latest({ base: 'EUR', symbols: ['USD', 'JPY'], a: 1 }),
    fx.get('/api/v1/latest', { query: { a: 1, symbols: ['USD', 'JPY'], base: 'EUR' } }),
    fx.latest({ base: 'EUR', symbols: ['JPY', 'USD'], a: 1 }),
  ]);

  expect(fetch.requests.map(({ url }) => new URL(url).search)).toEqual([
    '?base=EUR&symbols=USD&symbols=JPY&a=1',
    '?base=EUR&symbols=JPY&symbols=USD&a=1',
  ]);
});

test('every caller receives a response of any depth', async () => {
  const depth = 50_000;
  const { fx } = testClient({ body: `{"success":true,"data":{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}}` });

  const [first, second] = await Promise.all([fx.latest(), fx.latest()]);

  // Compared here: what an assertion prints goes as deep as the data.
  expect(Array.isArray(second['deep']) && second['deep'] !== first['deep']).toBe(true);
});

type LatestParameters = Parameters<FxRates['latest']>;

test.each<[string, LatestParameters, LatestParameters]>([
  ['another query', [{ base: 'EUR' }, {}], [{ base: 'USD' }, {}]],
  ['another timeout', [{}, {}], [{}, { timeoutMs: 5 }]],
  ['another number of retries', [{}, {}], [{}, { maxRetries: 0 }]],
  ['another policy for limits', [{}, {}], [{}, { onLimit: 'throw' }]],
  ['another priority', [{}, {}], [{}, { priority: 'high' }]],
  ['another age', [{}, {}], [{}, { maxAgeMs: 5_000 }]],
  ['another header', [{}, { headers: { 'accept-language': 'en' } }], [{}, { headers: { 'accept-language': 'de' } }]],
])('calls with %s do not mix', async (_, first, second) => {
  const { fx, fetch } = testClient(success(), { cache: { maxAgeMs: 1_000 } });

  await Promise.all([fx.latest(...first), fx.latest(...second), fx.latest(...first), fx.latest(...second)]);

  expect(fetch.requests).toHaveLength(2);
});

test('an abort ends the call of one caller only, whose error does not contain later attempts', async () => {
  const { fx, clock, fetch } = testClient([failure(503), success({ EUR: 1 })]);
  const controller = new AbortController();
  const gone = errorOf(fx.latest({}, { signal: controller.signal }));
  const keys = schemaOf((value) => ({ value: Object.keys(value as object) }));
  const others = [fx.latest(), fx.latest({}, { schema: keys })]; // each caller has its own schema
  await quiet();

  controller.abort(new Error('enough'));

  expect(await clock.run(Promise.all(others))).toEqual([{ EUR: 1 }, ['EUR']]);
  expect(await gone).toMatchObject({ kind: 'aborted', cause: new Error('enough'), attempts: [{ status: 503 }] });
  expect(fetch.requests.map(({ signal }) => signal.aborted)).toEqual([false, false]);
});

test('the abort of the last caller aborts the request', async () => {
  const { fx, fetch, clock } = testClient('never');
  const [first, second] = [new AbortController(), new AbortController()];
  const calls = [fx.latest({}, { signal: first.signal }), fx.latest({}, { signal: second.signal })].map(errorOf);
  await quiet();

  first.abort();
  await quiet();
  expect(fetch.requests[0]?.signal.aborted).toBe(false);
  second.abort();

  expect(await Promise.all(calls)).toMatchObject([{ kind: 'aborted' }, { kind: 'aborted' }]);
  expect(fetch.requests[0]?.signal.aborted).toBe(true);
  await quiet();
  expect(await clock.left()).toBe(0);
});

test('a call right after the abort of the last caller sends a new request', async () => {
  const held = deferred<Reply>();
  const { fx, fetch } = testClient(['never', () => held.promise]);
  const controller = new AbortController();
  const left = errorOf(fx.latest({}, { signal: controller.signal }));
  await quiet();

  controller.abort();
  const next = fx.latest();
  expect(await left).toBeInstanceOf(AbortError);
  await quiet();
  const joined = fx.latest(); // joins the new request, although the first one ended after that began
  held.resolve(success({ EUR: 1 }));

  await expect(Promise.all([next, joined])).resolves.toEqual([{ EUR: 1 }, { EUR: 1 }]);
  expect(fetch.requests).toHaveLength(2);
});

test('a client keeps no call in memory that has ended', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const { fx } = testClient(success());
  const ended: WeakRef<object>[] = [];
  for (let call = 0; call < 50; call += 1) {
    const { meta } = await fx.latest({ call }).withMeta();
    ended.push(new WeakRef(meta.attempts));
  }
  await quiet();

  collectGarbage();

  // A few can still be on a stack.
  expect(ended.filter((attempts) => attempts.deref() !== undefined).length).toBeLessThan(10);
});

test('a caller that joins later extends the wait of the request to its own deadline', async () => {
  const { fx, fetch, clock } = testClient([rateLimited('30'), rateLimited('30'), success({ EUR: 1 })]);
  const first = errorOf(fx.latest({}, { deadlineMs: 45_000 }));
  await clock.advance(20_000);

  const second = fx.latest({}, { deadlineMs: 45_000 });
  await clock.advance(25_000);

  expect(await first).toMatchObject({ kind: 'timeout', scope: 'deadline' });
  await expect(clock.run(second)).resolves.toEqual({ EUR: 1 });
  expect(fetch.requests).toHaveLength(3);
});

test('a call with another deadline has a request of its own', async () => {
  const { fx, fetch, clock } = testClient([rateLimited('30'), success({ EUR: 1 }), success({ EUR: 1 })]);
  const patient = fx.latest();
  await clock.advance(1000);
  const calledAt = clock.now();

  const hasty = await errorOf(fx.latest({}, { deadlineMs: 10_000 }));

  const message = expect.stringContaining(
    'the next slot is in 29 s, which is too late for the deadline of the call (deadlineMs)',
  );
  expect(hasty).toMatchObject({ reason: 'deadline', retryAfterMs: 29_000, attempts: [], message });
  expect(clock.now()).toBe(calledAt);
  const other = fx.latest({}, { deadlineMs: 40_000 });
  await expect(clock.run(Promise.all([patient, other]))).resolves.toEqual([{ EUR: 1 }, { EUR: 1 }]);
  expect(fetch.requests.filter(({ url }) => url.includes('/latest'))).toHaveLength(3);
});

test('an aborted signal sends nothing, and does not call the key provider', async () => {
  const apiKey = vi.fn(() => API_KEY);
  const { fx, fetch } = testClient(success(), { apiKey });
  const reason = new Error('before');

  const error = await errorOf(fx.latest({}, { signal: AbortSignal.abort(reason) }));

  expect(error).toMatchObject({ kind: 'aborted', cause: reason, attempts: [] });
  await quiet();
  expect(fetch.requests).toEqual([]);
  expect(apiKey).not.toHaveBeenCalled();
});

test('coalesce: false sends a request of its own', async () => {
  const { fx, fetch } = testClient(success());

  await Promise.all([fx.latest(), fx.latest(), fx.latest({}, { coalesce: false }), fx.latest({}, { coalesce: false })]);

  expect(fetch.requests).toHaveLength(3);
});

test('calls share a request and a cached response if their headers are the same in another order', async () => {
  const { fx, fetch } = testClient(success(), { cache: { maxAgeMs: 60_000 } });

  await Promise.all([
    fx.latest({}, { headers: { 'x-a': '1', 'x-b': '2' } }),
    fx.latest({}, { headers: { 'x-b': '2', 'x-a': '1' } }),
    fx.latest({}, { headers: { 'x-a': '2', 'x-b': '2' } }),
  ]);
  await fx.latest({}, { headers: { 'x-b': '2', 'x-a': '2' } });

  expect(fetch.requests).toHaveLength(2);
});

const elsewhere: Middleware = (request, next) => next({ ...request, url: 'nowhere' });

test.each<[string, FxRatesOptions, readonly unknown[]]>([
  ['a key function that hangs', { apiKey: hangsAtSecondCall() }, [[401, 'some_code']]],
  ['a middleware that breaks its contract', { middleware: [elsewhere] }, [[undefined, 'config']]],
  ['a quota that another call has found used up', {}, [[503, 'some_code']]],
])('the error of %s has the attempts of its call', async (_, options, attempts) => {
  const status = 'apiKey' in options ? 401 : 503;
  const reply: Reply = ({ url }) => failure(url.includes('refused') ? 402 : status);
  const { fx, clock } = testClient(reply, { quota: success(exhaustedQuota()), ...options });

  const failed = errorOf(fx.latest());
  await clock.advance(1);
  const refused = errorOf(fx.latest({ refused: true }));
  const error = await clock.run(failed);
  await clock.run(refused);

  expect((error as FxRatesError).attempts.map((attempt) => [attempt.status, attempt.code])).toEqual(attempts);
});

function hangsAtSecondCall(): () => string | Promise<string> {
  let calls = 0;
  return () => {
    calls += 1;
    return calls === 1 ? API_KEY : new Promise(() => undefined);
  };
}
