import { expect, test } from 'vitest';
import { createMockServer, type MockServerOptions, type Replay } from '../../../src/mock-server/index.ts';
import { snapshotIntervalMs } from '../../../src/mock-server/mock/respond-latest.ts';
import { CURRENCIES } from '../../../src/mock-server/service/invented-rates.ts';
import { MockCore, type MockCoreOptions } from '../../helpers/mock-core.ts';
import { mockWithKey, sender } from '../../helpers/mock-with-key.ts';

test.each([
  ['5min', 300_000],
  ['1min', 60_000],
  ['60min', 3_600_000],
  ['30s', 30_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['2fortnights', 300_000],
])('a granularity of %s is a new snapshot every %i ms', (granularity, intervalMs) => {
  expect(snapshotIntervalMs(granularity)).toBe(intervalMs);
});

function latest(query = '', options: MockCoreOptions = {}) {
  const core = new MockCore(options);
  const { key } = core.createKey();
  return core.send(`/api/v1/latest${query}`, { key });
}

test('without parameters, returns all currencies except the base, labelled as invented', () => {
  const { data } = latest();

  expect(data).toMatchObject({ base: 'USD', source: 'invented by the fxrates mock server' });
  expect(Object.keys(data.rates)).toEqual(CURRENCIES.filter((code) => code !== 'USD'));
});

test('returns symbols in the order of the request, in any case, in one list or in several parameters', () => {
  const { data } = latest('?base=EUR&symbols=JPY,CHF');

  expect(Object.keys(data.rates)).toEqual(['JPY', 'CHF']);
  expect(latest('?base=EUR').data.rates).toMatchObject(data.rates);
  for (const query of ['?base=eur&symbols=jpy,%20chf', '?base=EUR&symbols=JPY&symbols=CHF,']) {
    expect(latest(query).data).toEqual(data);
  }
});

test.each([
  ['1min', '2026-01-15T12:34:00.000Z'],
  ['5min', '2026-01-15T12:30:00.000Z'],
  ['60min', '2026-01-15T12:00:00.000Z'],
])('with a granularity of %s, the timestamp is %s', (snapshotGranularity, timestamp) => {
  const now = Date.parse('2026-01-15T12:34:56.789Z');

  expect(latest('', { now, behaviour: { snapshotGranularity } }).data.timestamp).toBe(timestamp);
});

test.each([
  ['400 invalid_parameter', 400],
  ['422 invalid_parameter', 422],
  ['ignored', 200],
] as const)('a currency that does not exist is %s, as the switch says', (badParameter, status) => {
  for (const query of ['?base=XXX', '?symbols=EUR,XXX', '?base=constructor']) {
    expect(latest(query, { behaviour: { badParameter } }).status).toBe(status);
  }
});

test.each([
  ['?bse=EUR', 'served; latest does not know the parameter "bse" (did you mean base?)'],
  ['?base=EUR&symbol=USD&day=1', 'served; latest does not know the parameters "symbol" (did you mean symbols?), "day"'],
  ['?a&b&c&d&d&e', 'served; latest does not know the parameters "a", "b", "c" and 2 more'],
  ['?base=EUR&symbols=USD', 'served'],
])('the reason for %s names parameters that latest does not know', (query, why) => {
  const core = new MockCore();
  const { status } = core.send(`/api/v1/latest${query}`, { key: core.createKey().key });

  expect(status).toBe(200);
  expect(core.journal.entries.at(-1)).toMatchObject({ why });
  expect(core.journal.entries.at(-1)?.switches.includes('unknownParameters')).toBe(why !== 'served');
});

test('a key as the name of a parameter is masked in the reason and in the refusal', () => {
  const core = new MockCore({ behaviour: { unknownParameters: '400' } });
  const { key } = core.createKey();
  const { status, text } = core.send(`/api/v1/latest?${key}=1`, { key });

  expect(status).toBe(400);
  expect(text + JSON.stringify(core.journal.entries)).not.toContain(key);
});

/** A mock, and a function that returns status, text and data of a response to `latest`. */
function asked(options: MockServerOptions = {}) {
  const { send, ...rest } = mockWithKey({ plan: 'unlimited', ...options });
  const latest = (query = '') => send(`/api/v1/latest${query}`);
  return { ...rest, send, latest, data: async (query = '') => (await latest(query)).json().data };
}

test('a latest function receives the query without the key and returns the data', async () => {
  const { data, key, id } = asked({
    latest: (query, { at, keyId, plan }) => ({ asked: query.toString(), at, keyId, plan }),
  });

  const received = { asked: 'base=EUR', at: expect.any(Number), keyId: id, plan: 'unlimited' };
  expect(await data(`?api_key=${key}&base=EUR`)).toEqual(received);
});

test("a latest function can change the mock's own data", async () => {
  const query = '?base=EUR&symbols=USD';
  const { data } = asked({ latest: (_query, context) => ({ ...context.invented(), delayed: true }) });

  expect(await data(query)).toEqual({ ...(await asked().data(query)), delayed: true });
});

test.each([
  [() => undefined, 'returned undefined; expected an object'],
  [() => Promise.resolve({}), 'returned a promise; expected an object'],
  [() => 'rates', 'returned "rates"'],
  [() => ({ rates: { USD: Number.NaN } }), 'returned a value that JSON cannot represent'],
  [() => ({ n: 1n }), 'returned a value that JSON cannot represent'],
  [
    () => {
      throw new RangeError(`no fx_live_${'0'.repeat(48)}`);
    },
    'latest threw RangeError: no fx_live_….',
  ],
])('data that is not an object is a 500 that names the cause: %s', async (wrong, why) => {
  const { mock, latest } = asked({ latest: wrong as never });

  const { status, json } = await latest();

  expect(status).toBe(500);
  expect(json()).toMatchObject({ error: { message: expect.stringContaining(why) } });
  expect(mock.journal.list().at(-1)?.why).toContain(why);
});

const recorded = { success: true, data: { rate: 1.25 }, meta: { more: 'kept' } };

test('one recorded envelope is the response to every query, unchanged', async () => {
  const { latest } = asked({ replay: recorded });

  for (const query of ['?base=EUR', '']) expect((await latest(query)).json()).toEqual(recorded);
});

test('finds responses by query, in any order of parameters, also with the key in the URL', async () => {
  const replay = { 'symbols=USD&base=EUR': { one: 1 }, '': recorded, '?base=GBP': { two: 2 } };
  const { key, data, latest } = asked({ replay });

  expect(await data(`?base=EUR&symbols=USD&api_key=${key}`)).toEqual({ one: 1 });
  expect(await data('?base=GBP')).toEqual({ two: 2 });
  expect((await latest()).json()).toEqual(recorded);
});

test('a recorded error is returned with its status', async () => {
  const error = { success: false, error: { code: 'no_such_base', message: 'No.', status: 422, base: 'X' } };
  const { latest } = asked({ replay: { 'base=X': error, '*': recorded } });
  const [failed, other] = [await latest('?base=X'), await latest('?base=Y')];

  expect([failed.status, failed.json(), other.status, other.json()]).toEqual([422, error, 200, recorded]);
});

test('recorded text keeps its digits', async () => {
  const text = async (replay: Replay) => (await asked({ replay }).latest()).text;

  expect(await text(' {"success":true,"data":{"EUR":1.10}}\n')).toBe('{"success":true,"data":{"EUR":1.10}}');
  expect(await text({ '': '{"EUR":1.10,"note":"<b>"}' })).toBe(
    '{"success":true,"data":{"EUR":1.10,"note":"\\u003cb\\u003e"}}',
  );
});

test('names the recorded queries if a query was not recorded', async () => {
  const { status, json } = await asked({ replay: { 'base=EUR': {} } }).latest('?base=USD');

  const message = "No response is recorded for the query 'base=USD'; recorded queries: 'base=EUR'.";
  expect([status, json()]).toMatchObject([501, { error: { code: 'not_recorded', message } }]);
});

test.each([
  [{ latest: () => ({}), replay: recorded }, 'expected either latest or replay, not both'],
  [{ replay: 'file.json' }, 'replay is "file.json"; expected a recorded envelope'],
  [{ replay: {} }, 'replay is {}'],
  [{ replay: [recorded] }, 'replay is ['],
  [{ replay: '{ "base=EUR": [] }' }, 'replay["base=EUR"] is []; expected an envelope, or the data of one.'],
  [{ replay: '[]' }, 'replay is []; expected a recorded envelope, or an object of responses by query'],
  [{ replay: { 'base=EUR': 7 } }, 'replay["base=EUR"] is 7; expected an envelope, or the data of one.'],
  [{ replay: { 'a=1&b=2': {}, 'b=2&a=1': {} } }, 'replay is "b=2&a=1"; expected each query once'],
  [{ replay: { success: false, error: { code: 'x' } } }, 'replay.error is {"code":"x"}; expected a recorded error'],
])('%j is refused', (options, message) => {
  expect(() => createMockServer(options as never)).toThrow(message);
});

test('an array begins again for a space and after a reset, and continues in a copy of the mock', async () => {
  const { mock, data } = asked({ latest: [{ number: 1 }, { number: 2 }] });
  const first = async (scope: Pick<typeof mock, 'baseUrl' | 'fetch'>, key: string) =>
    (await sender(scope, key)()).json().data;

  expect(await data()).toEqual({ number: 1 });
  const space = mock.space();
  expect(await first(space, space.key)).toEqual({ number: 1 });
  const fork = mock.fork();
  expect(await first(fork, fork.createKey().key)).toEqual({ number: 2 });
  await space.close();
  mock.reset();
  expect(await first(mock, mock.createKey().key)).toEqual({ number: 1 });
});

test('an object is the data of every response until reset', async () => {
  const { mock, data } = asked();

  mock.latest.set({ rates: { USD: 1.1 } });
  expect([await data(), await data('?base=GBP')]).toEqual([{ rates: { USD: 1.1 } }, { rates: { USD: 1.1 } }]);

  mock.latest.reset();
  expect(await data('?base=GBP')).toMatchObject({ base: 'GBP' });
});

test('the data of one base takes precedence over the data of all', async () => {
  const { mock, data } = asked();
  mock.latest.set({ n: 'EUR' }, { base: 'EUR' });
  mock.latest.set({ n: 'all' });

  expect([await data('?base=EUR'), await data('?base=USD')]).toEqual([{ n: 'EUR' }, { n: 'all' }]);
  mock.latest.reset({ base: 'EUR' });
  expect(await data('?base=EUR')).toEqual({ n: 'all' });
});

test('reset() without a base also removes the data of each base, and keeps other stubs', async () => {
  const { mock, data } = asked();
  const { id } = mock.stubs.add({ match: { path: '/elsewhere' }, data: {} });
  mock.latest.set({ n: 'EUR' }, { base: 'EUR' });
  mock.latest.set({ n: 'all' });

  mock.latest.reset();

  expect(mock.stubs.list().map((stub) => stub.id)).toEqual([id]);
  expect(await data('?base=EUR')).not.toHaveProperty('n');
});

test('a stub takes precedence over mock.latest', async () => {
  const { mock, data } = asked();
  mock.stubs.add({ match: { operation: 'latest' }, data: { n: 'stub' }, times: 1 });
  mock.latest.set({ n: 'set' }, { base: 'EUR' });

  expect([await data('?base=EUR'), await data('?base=EUR')]).toEqual([{ n: 'stub' }, { n: 'set' }]);
});

test('JSON text keeps its digits', async () => {
  const { mock, latest } = asked();
  mock.latest.set('[{"rate": 1.10}, {"a":"]},{", "rate": 1e2}]');

  expect([(await latest()).text, (await latest()).text]).toEqual([
    '{"success":true,"data":{"rate": 1.10}}',
    '{"success":true,"data":{"a":"]},{", "rate": 1e2}}',
  ]);
});

test('mock.latest takes precedence over the options latest and replay until a reset', async () => {
  const byFunction = asked({ latest: () => ({ n: 'option' }) });
  const byReplay = asked({ replay: '{"": {"n":"option"}}' });

  for (const { mock, data } of [byFunction, byReplay]) {
    mock.latest.set(() => ({ n: 'set' }));
    expect(await data()).toEqual({ n: 'set' });
    mock.latest.reset();
    expect(await data()).toEqual({ n: 'option' });
  }
});

test('the option latest accepts what latest.set() accepts, and copies it', async () => {
  const latest = { n: 1 };
  const { data } = asked({ latest });
  latest.n = 2;

  expect(await data()).toEqual({ n: 1 });
  const sequence = asked({ latest: [{ n: 2 }, '{"n":3}'] });
  expect([await sequence.data(), await sequence.data(), await sequence.data()]).toEqual([{ n: 2 }, { n: 3 }, { n: 3 }]);
});

test.each<[unknown, string]>([
  [5, 'latest is 5; expected an object, an array of objects, a function'],
  [undefined, 'latest is undefined; expected an object, an array'],
  [[], 'latest is []; expected an object, an array of objects, '],
  [[{}, 5], 'latest[1] is 5; expected an object.'],
  ['nonsense', 'latest is "nonsense"; expected an object.'],
  [async () => ({}), 'latest is a function; expected a function that is not async.'],
  [new Map([['base', 'EUR']]), 'expected a value that JSON can represent'],
  [{ rates: { USD: Number.NaN } }, 'latest is {"rates":{"USD":"NaN"}}; expected a value that JSON can represent.'],
])('the data %j is refused', (data, message) => {
  expect(() => asked().mock.latest.set(data as object)).toThrow(message);
});

test.each(['EUR', 'eur', 'Eur'])('the base %s is set for requests in upper and lower case', async (base) => {
  const { mock, data } = asked();
  mock.latest.set({ n: 'before' }, { base: 'eUR' });
  mock.latest.set({ n: 1 }, { base });

  expect([await data('?base=EUR'), await data('?base=eur')]).toEqual([{ n: 1 }, { n: 1 }]);
  expect(await data('?base=GBP')).toMatchObject({ base: 'GBP' });
  expect(mock.stubs.list()).toHaveLength(1);
  mock.latest.reset({ base });
  expect(await data('?base=EUR')).toMatchObject({ base: 'EUR' });
  expect(() => mock.latest.set({}, { base: '' })).toThrow('base is ""; expected a currency code such as EUR.');
});
