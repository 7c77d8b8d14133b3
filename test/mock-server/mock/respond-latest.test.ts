import { expect, test } from 'vitest';
import { createMockServer, type MockServerOptions, recordedRules } from '../../../src/mock-server/index.ts';
import { CURRENCIES } from '../../../src/mock-server/service/invented-rates.ts';
import { MockCore, type MockCoreOptions } from '../../helpers/mock-core.ts';
import { mockWithKey, sender } from '../../helpers/mock-with-key.ts';

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

test('returns symbols in the order of the request, from one list or several parameters', () => {
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
  ['2hours', '2026-01-15T12:00:00.000Z'],
  ['30s', '2026-01-15T12:34:30.000Z'],
  ['1h', '2026-01-15T12:00:00.000Z'],
  ['1d', '2026-01-15T00:00:00.000Z'],
  ['2fortnights', '2026-01-15T12:30:00.000Z'],
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
  ['?base=EURO', 'latest does not know the currency "EURO" (did you mean EUR?)'],
  ['?base=&symbols=usd,XAB,', 'latest does not know the currencies "", "XAB" (did you mean PAB?)'],
])('the refusal of %s names the currencies that are not invented', (query, message) => {
  expect(latest(query).body.error).toMatchObject({ code: 'invalid_parameter', message });
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

/** A mock, and a function that returns status, text and data of a response to `latest`. */
function asked(options: MockServerOptions = {}) {
  const { send, ...rest } = mockWithKey({ plan: 'unlimited', ...options });
  const latest = (query = '') => send(`/api/v1/latest${query}`);
  return { ...rest, send, latest, data: async (query = '') => (await latest(query)).json().data };
}

const recorded = { success: true, data: { rate: 1.25 }, meta: { more: 'kept' } };

/** A mock that responds from a recording. */
const replaying = (recording: string | object) =>
  asked({ rules: recordedRules(typeof recording === 'string' ? recording : JSON.stringify(recording)) });

test('one recorded envelope is the response to every query, unchanged', async () => {
  const { latest } = replaying(recorded);

  for (const query of ['?base=EUR', '']) expect((await latest(query)).json()).toEqual(recorded);
});

test('finds responses by query, in any order of parameters, also with the key in the URL', async () => {
  const recording = { 'symbols=USD&base=EUR': { one: 1 }, '': recorded, '?base=GBP': { two: 2 } };
  const { key, data, latest } = replaying(recording);

  expect(await data(`?base=EUR&symbols=USD&api_key=${key}`)).toEqual({ one: 1 });
  expect(await data('?base=GBP')).toEqual({ two: 2 });
  expect((await latest()).json()).toEqual(recorded);
});

test('a recorded error is returned with its status', async () => {
  const error = { success: false, error: { code: 'no_such_base', message: 'No.', status: 422, base: 'X' } };
  const { latest } = replaying({ 'base=X': error, '*': recorded });
  const [failed, other] = [await latest('?base=X'), await latest('?base=Y')];

  expect([failed.status, failed.json(), other.status, other.json()]).toEqual([422, error, 200, recorded]);
});

test('recorded text keeps its digits', async () => {
  const text = async (recording: string) => (await replaying(recording).latest()).text;

  expect(await text(' {"success":true,"data":{"EUR":1.10}}\n')).toBe('{"success":true,"data":{"EUR":1.10}}');
  expect(await text('\uFEFF{\n"success":true,"data":1.10\n}\n')).toBe('{\n"success":true,"data":1.10\n}');
  expect(await text('{"":{"EUR":1.10,"note":"<b>"}}')).toBe(
    '{"success":true,"data":{"EUR":1.10,"note":"\\u003cb\\u003e"}}',
  );
});

test('empty and broken lines between recorded ones do not count', () => {
  const lines = ['{"base=EUR":{}}', '', '{"base=', ' {"base=USD":{}} \r', '7'];

  expect(recordedRules(lines.join('\n'))).toHaveLength(3);
});

test('a text with more than a hundred broken lines is no recording', () => {
  const withBroken = (broken: number) => `{"base=EUR":{}}\n${'{"base=\n'.repeat(broken)}{"base=USD":{}}`;

  expect(recordedRules(withBroken(100))).toHaveLength(3);
  expect(() => recordedRules(withBroken(101))).toThrow('expected the text of a recorded envelope');
});

test.each(['base=USD', 'base=EUR&symbols=USD', 'base=EUR&base=USD', ''])(
  'names the recorded queries if the query %j was not recorded',
  async (query) => {
    const { status, json } = await replaying({ 'base=EUR': {} }).latest(`?${query}`);

    const message = "No response is recorded for this query; recorded queries: 'base=EUR'.";
    expect([status, json()]).toMatchObject([501, { error: { code: 'not_recorded', message } }]);
  },
);

test('a recording becomes rules with bodies below all others, which list() returns as JSON', () => {
  const { mock } = replaying('{"base=EUR":{"USD":1.10}}');
  mock.rules.add({ id: 'other', delayMs: 0 });

  expect(JSON.parse(JSON.stringify(mock.rules.list()))).toMatchObject([
    { id: 'recorded', match: { operation: 'latest' }, respond: [{ status: 501 }] },
    {
      id: 'recorded.1',
      match: { operation: 'latest', query: { base: ['EUR'], '*': { absent: true } } },
      respond: [{ status: 200, body: '{"success":true,"data":{"USD":1.10}}' }],
    },
    { id: 'other' },
  ]);
});

test.each([
  ['file.json', 'recording is "file.json"; expected the text of a recorded envelope'],
  ['{}', 'recording is {}'],
  [recorded, 'recording is {"success":true,"data":{"rate":1.25},"meta":{"more":"kept"}}; expected the text of'],
  ['{ "base=EUR": [] }', 'recording["base=EUR"] is []; expected an envelope, or the data of one.'],
  ['[]', 'recording is []; expected the text of a recorded envelope, or of an object of responses by query'],
  ['rates.ndjson', '}: the content of the file, not its path.'],
  [undefined, 'recording is missing; expected the text of a recorded envelope'],
  ['{ "base=EUR": 7 }', 'recording["base=EUR"] is 7; expected an envelope, or the data of one.'],
  ['{ "a=1&b=2": {}, "b=2&a=1": {} }', 'recording is "b=2&a=1"; expected each query once'],
  ['{ "success": false, "error": { "code": "x" } }', 'recording.error is {"code":"x"}; expected a recorded error'],
])('the recording %j is refused', (recording, message) => {
  expect(() => recordedRules(recording as never)).toThrow(message);
});

test('an array begins again for a space and after a reset, and continues in a copy of the mock', async () => {
  const rules = [{ respond: [{ data: { number: 1 } }, { data: { number: 2 } }] }];
  const { mock, data } = asked({ rules });
  const first = async (scope: Pick<typeof mock, 'baseUrl' | 'fetch'>, key: string) =>
    (await sender(scope, key)()).json().data;

  expect(await data()).toEqual({ number: 1 });
  const space = mock.space();
  expect(await first(space, space.key)).toEqual({ number: 1 });
  const copy = createMockServer();
  copy.restore(mock.snapshot());
  expect(await first(copy, copy.createKey().key)).toEqual({ number: 2 });
  await space.close();
  mock.reset();
  expect(await first(mock, mock.createKey().key)).toEqual({ number: 1 });
});

test('reset() removes the data of one base, or of each base and all, and keeps other rules', () => {
  const { mock } = asked();
  const left = () => mock.rules.list().map(({ id }) => id);
  mock.rules.add({ id: 'mine', match: { path: '/elsewhere' }, respond: { data: {} } });
  for (const base of ['EUR', 'USD', undefined]) mock.latest.set({ n: 1 }, { base });

  mock.latest.reset({ base: 'EUR' });
  expect(left()).toEqual(['latest', 'latest.USD', 'mine']);
  mock.latest.reset();

  expect(left()).toEqual(['mine']);
});

test('JSON text keeps its digits', async () => {
  const { mock, latest } = asked();
  mock.latest.set('[{"rate": 1.10}, {"a":"]},{", "rate": 1e2}]');

  expect([(await latest()).text, (await latest()).text]).toEqual([
    '{"success":true,"data":{"rate": 1.10}}',
    '{"success":true,"data":{"a":"]},{", "rate": 1e2}}',
  ]);
});

test('the data for all queries and a recording replace each other; reset() removes both', async () => {
  const { mock, data, latest } = replaying({ '': { n: 'recorded' } });
  expect(await data()).toEqual({ n: 'recorded' });
  mock.latest.set({ n: 'set' });
  expect(await data('?base=EUR')).toEqual({ n: 'set' });
  mock.setUp({ rules: recordedRules('{"":{"n":"again"}}') });
  expect([await data(), (await latest('?base=EUR')).status]).toEqual([{ n: 'again' }, 501]);

  mock.latest.reset();

  expect(mock.rules.list()).toEqual([]);
  mock.reset();
  expect(mock.rules.list().map(({ id }) => id)).toEqual(['recorded', 'recorded.1']);
});

test('an array of data may have objects and JSON text', async () => {
  const { mock, data } = asked();
  mock.latest.set([{ n: 2 }, '{"n":3}']);

  expect([await data(), await data(), await data()]).toEqual([{ n: 2 }, { n: 3 }, { n: 3 }]);
});

test.each<[unknown, string]>([
  [5, 'latest is 5; expected an object, an array of objects, or JSON text'],
  [undefined, 'latest is missing; expected an object, an array'],
  [[], 'latest is []; expected an object, an array of objects, '],
  [[{}, 5], 'latest[1] is 5; expected an object.'],
  ['nonsense', 'latest is "nonsense"; expected an object.'],
  [() => ({}), 'latest is a function; expected an object, an array of objects, or JSON text of one of these; for a'],
  [new Map([['base', 'EUR']]), 'expected a string or a value that JSON can represent.'],
  [{ rates: new Map([['USD', 1]]) }, 'expected a string or a value that JSON can represent.'],
  [{ rates: Promise.resolve({ USD: 1 }) }, 'expected a string or a value that JSON can represent.'],
  [{ rates: { USD: Number.NaN } }, 'expected a string or a value that JSON can represent.'],
])('the data %j is refused', (data, message) => {
  expect(() => asked().mock.latest.set(data as object)).toThrow(message);
});

test.each(['EUR', 'eur', 'Eur'])('the base %s is set for requests in upper and lower case', async (base) => {
  const { mock, data } = asked();
  mock.latest.set({ n: 'before' }, { base: 'eUR' });
  mock.latest.set({ n: 1 }, { base });

  expect([await data('?base=EUR'), await data('?base=eur')]).toEqual([{ n: 1 }, { n: 1 }]);
  expect(await data('?base=GBP')).toMatchObject({ base: 'GBP' });
  expect(mock.rules.list()).toHaveLength(1);
  mock.latest.reset({ base });
  expect(await data('?base=EUR')).toMatchObject({ base: 'EUR' });
  expect(() => mock.latest.set({}, { base: '' })).toThrow('base is ""; expected a currency code such as EUR.');
});
