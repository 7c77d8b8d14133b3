import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigError, FxRates } from '../../../src/client/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { BASE_URL } from '../../helpers/test-client.ts';

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

test('takes base URL and key from the environment', () => {
  process.env['FXRATES_BASE_URL'] = 'https://from-env.test/';
  process.env['FXRATES_API_KEY'] = API_KEY;

  expect(new FxRates().toJSON()).toEqual({ baseUrl: 'https://from-env.test', apiKey: 'fx_live_…cdef' });
});

test('what is given wins over the environment', () => {
  process.env['FXRATES_BASE_URL'] = 'https://from-env.test';
  process.env['FXRATES_API_KEY'] = 'unused-key-from-the-environment';

  expect(new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY }).toJSON()).toEqual({
    baseUrl: BASE_URL,
    apiKey: 'fx_live_…cdef',
  });
});

test('says what is missing and where it can come from', () => {
  expect(() => new FxRates({ apiKey: API_KEY })).toThrow('baseUrl: none given; pass baseUrl or set FXRATES_BASE_URL');
  expect(() => new FxRates({ baseUrl: BASE_URL })).toThrow('apiKey: none given; pass apiKey or set FXRATES_API_KEY');
});

test.each([
  ['FXRATES_BASE_URL', 'baseUrl: none given'],
  ['FXRATES_API_KEY', 'apiKey: is empty; set FXRATES_API_KEY'],
])('an empty %s is refused', (name, message) => {
  process.env['FXRATES_BASE_URL'] = BASE_URL;
  process.env['FXRATES_API_KEY'] = API_KEY;
  process.env[name] = '';

  expect(() => new FxRates()).toThrow(message);
});

test('refuses to work in a browser, whatever else is wrong', () => {
  Object.defineProperty(globalThis, 'document', { value: {}, configurable: true });
  Object.defineProperty(process, 'versions', { value: { ...versions, node: undefined } });

  expect(() => new FxRates()).toThrow('API keys do not belong in browsers');
  expect(() => new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY })).toThrow(ConfigError);
});

test('a page in Node, as jsdom makes one, is no browser', () => {
  Object.defineProperty(globalThis, 'document', { value: {}, configurable: true });

  expect(new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY })).toBeInstanceOf(FxRates);
});
