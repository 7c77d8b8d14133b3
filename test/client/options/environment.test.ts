import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigError, FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { fakeFetch } from '../../helpers/fake-fetch.ts';
import { API_KEY, success } from '../../helpers/service-replies.ts';
import { BASE_URL, errorOf, testClient } from '../../helpers/test-client.ts';

const { env, versions } = process;

beforeEach(() => {
  process.env = { ...env };
  delete process.env['FXRATES_BASE_URL'];
  delete process.env['FXRATES_API_KEY'];
});

afterEach(() => {
  process.env = env;
  Object.defineProperty(process, 'versions', { value: versions });
  Reflect.deleteProperty(globalThis, 'document');
});

const FROM_ENV = { FXRATES_BASE_URL: 'https://from-env.test/', FXRATES_API_KEY: API_KEY };
const BY_OPTIONS = { baseUrl: BASE_URL, apiKey: API_KEY };
const NOTHING = { baseUrl: 'not set', apiKey: 'not set' };

test.each<[Record<string, string>, FxRatesOptions, object]>([
  [FROM_ENV, {}, { baseUrl: 'https://from-env.test', apiKey: 'fx_live_…cdef' }],
  [{ ...FROM_ENV, FXRATES_API_KEY: 'unused-key' }, BY_OPTIONS, { baseUrl: BASE_URL, apiKey: 'fx_live_…cdef' }],
  [{ FXRATES_BASE_URL: '', FXRATES_API_KEY: '' }, {}, NOTHING],
  [{}, {}, NOTHING],
  [{}, { baseUrl: BASE_URL }, { ...NOTHING, baseUrl: BASE_URL }],
])('with the environment %j and the options %j, the client shows %j', (variables, options, shown) => {
  Object.assign(process.env, variables);

  const fx = new FxRates(options);

  expect(JSON.parse(JSON.stringify(fx))).toEqual(shown);
  expect(inspect(fx)).toBe(`FxRates ${inspect(shown)}`);
});

test("shows the mask of a provider's key only after the first call", async () => {
  const { fx } = testClient(success(), { apiKey: async () => API_KEY });

  expect(fx.toJSON()).toMatchObject({ apiKey: 'from a function' });
  expect(fx.limits()).toBeUndefined();
  await fx.latest();

  expect(fx.toJSON()).toMatchObject({ apiKey: 'fx_live_…cdef' });
  expect(fx.limits()).toMatchObject({ gate: 'open', inFlight: 0 });
});

test.each([
  ['FXRATES_API_KEY', `${API_KEY}\r`],
  ['FXRATES_API_KEY', `Bearer ${API_KEY}`],
  ['FXRATES_BASE_URL', '127.0.0.1:4111'],
  ['FXRATES_BASE_URL', 'http://rates.example'],
  ['FXRATES_BASE_URL', 'https://rates.example?x=1'],
])('names %s if its value %j is wrong, or the option that has it', async (variable, value) => {
  Object.assign(process.env, FROM_ENV, { [variable]: value });
  const option = variable === 'FXRATES_API_KEY' ? 'apiKey' : 'baseUrl';

  const byEnvironment = await errorOf(() => new FxRates());
  delete process.env['FXRATES_BASE_URL'];
  delete process.env['FXRATES_API_KEY'];
  const byOption = await errorOf(() => new FxRates({ [option]: value })); // without the other one

  expect(byEnvironment).toMatchObject({ kind: 'config', message: expect.stringMatching(`^${variable}: `) });
  expect(byOption).toMatchObject({ kind: 'config', message: expect.stringMatching(`^${option}: `) });
  expect(`${inspect(byEnvironment)}${inspect(byOption)}`).not.toContain(API_KEY);
});

const NO_BASE_URL = 'baseUrl: missing; pass baseUrl or set FXRATES_BASE_URL';
const NO_KEY = 'apiKey: missing; pass apiKey or set FXRATES_API_KEY';

test.each([
  ['base URL', { apiKey: API_KEY }, NO_BASE_URL],
  ['base URL, but an empty one', { baseUrl: '', apiKey: API_KEY }, 'baseUrl: is empty; pass a value, or omit baseUrl'],
  ['key', { baseUrl: BASE_URL }, NO_KEY],
  ['key, but an empty one', { baseUrl: BASE_URL, apiKey: '' }, 'apiKey: is empty; pass a value, or omit apiKey'],
])('without a %s the constructor succeeds, and each call rejects', async (_, options, message) => {
  const fetch = fakeFetch({});

  const fx = new FxRates({ ...options, fetch });

  for (const call of [() => fx.latest(), () => fx.quota(), () => fx.get('/x')]) {
    const error = await errorOf(call());
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toMatch(message);
  }
  expect([fx.limits(), fx.quotaEstimate(), fetch.requests]).toEqual([undefined, undefined, []]);
  expect(inspect(fx)).toContain('not set');
});

test('the first call reads variables that were set after the constructor', async () => {
  const fetch = fakeFetch(success());
  const fx = new FxRates({ fetch }).withOptions({ maxRetries: 0 });

  process.env['FXRATES_BASE_URL'] = 'https://late.test';
  process.env['FXRATES_API_KEY'] = API_KEY;
  await fx.latest();

  expect(fetch.requests[0]?.url).toBe('https://late.test/api/v1/latest');
});

test('throws in a browser, even if an option is wrong too, but not with jsdom in Node.js', () => {
  Object.defineProperty(globalThis, 'document', { value: {}, configurable: true });
  expect(new FxRates(BY_OPTIONS)).toBeInstanceOf(FxRates);

  Object.defineProperty(process, 'versions', { value: { ...versions, node: undefined } });

  expect(() => new FxRates()).toThrow('looks like a browser, whose users could read the API key');
  expect(() => new FxRates(BY_OPTIONS)).toThrow(ConfigError);
});
