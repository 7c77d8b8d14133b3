import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { readClientOptions } from '../../../src/client/config/option-table.ts';
import { resolveCall, resolveOptions } from '../../../src/client/config/settings.ts';
import { ConfigError, FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { BASE_URL, errorOf, testClient } from '../../helpers/test-client.ts';

const given = { baseUrl: BASE_URL, apiKey: API_KEY };

test('fills in the documented defaults', () => {
  expect(resolveOptions(given)).toMatchObject({
    baseUrl: BASE_URL,
    auth: 'bearer',
    timeoutMs: 10_000,
    deadlineMs: Number.POSITIVE_INFINITY,
    maxRetries: 2,
    onLimit: 'wait',
    maxRetryAfterMs: 600_000,
    retryAfterUnit: 'auto',
    rateLimit: { perMinute: 'learn', maxConcurrent: 16 },
    maxResponseBytes: 10 * 1024 * 1024,
  });
});

test('an option that is undefined has its default', () => {
  const options = Object.fromEntries(
    ['timeoutMs', 'deadlineMs', 'rateLimit', 'fetch', 'dispatcher', 'clock', 'onWait'].map((name) => [name, undefined]),
  );

  expect(resolveOptions({ ...given, ...options })).toMatchObject({
    timeoutMs: 10_000,
    deadlineMs: Number.POSITIVE_INFINITY,
  });
});

const DOCUMENTED = ['options.ts', 'api-call.ts'].flatMap((file) => {
  const source = readFileSync(new URL(`../../../src/client/${file}`, import.meta.url), 'utf8');
  const options = source.slice(source.search(/export interface (?:FxRatesOptions|CallOptions)/));
  const fields = options.matchAll(/@default ([^\n]+)\n(?: +\* @example[^\n]*\n)? +\*\/\n +readonly (\w+)\?:/g);
  return Array.from(fields, ([, text = '', name = '']) => [name, text] as const);
});

const known = DOCUMENTED.filter(([, text]) => !/^(?:undefined|process)/.test(text));

test.each(known)('the default of %s is %s, as documented', (name, text) => {
  const call = resolveCall({}, resolveOptions(given)).settings;
  const byDefault = { ...call, ...readClientOptions({}) }[name];

  expect(JSON.stringify(byDefault)).toBe(JSON.stringify(runInNewContext(`(${text})`)));
});

const numbers = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '10', null, {}, 10n];
const wrong: Record<keyof FxRatesOptions, readonly unknown[]> = {
  baseUrl: ['nowhere', null, 42, {}],
  apiKey: ['two words', null, 42, {}],
  auth: ['Bearer', '', null, true],
  timeoutMs: [...numbers, false],
  deadlineMs: [...numbers, true],
  maxRetries: [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', null, false],
  onLimit: ['sleep', null, false],
  maxRetryAfterMs: [...numbers, 1.5],
  retryAfterUnit: ['ms', null],
  rateLimit: [true, null, 'learn', 60],
  cache: [
    true,
    null,
    'hour',
    {},
    ...[-1, Number.NaN, '5min', null].map((maxAgeMs) => ({ maxAgeMs })),
    { maxAgeMs: 1, store: {} },
    { maxAgeMs: 1, staleIfLimitedMs: -1 },
    { maxAgeMs: 1, ttl: 1 },
  ],
  quotaGuard: [true, null, {}, ...[-1, 1.5, '200', null].map((reserve) => ({ reserve })), { reserve: 1, onLow: 'log' }],
  middleware: [null, {}, () => undefined, ['log']],
  fetch: [null, {}, 'fetch'],
  dispatcher: [null, {}, 'http://proxy.test', { dispatch: true }],
  proxy: ['http://proxy.test:3128', true, null, {}],
  numbers: [null, 'bigint', 1, {}],
  maxResponseBytes: [...numbers, 1.5],
  allowInsecureHttp: [null, 'true', 1],
  coalesce: [null, 'no', 1],
  headers: [
    null,
    'a: b',
    [['a', 'b']],
    { a: 1 },
    { 'a b': 'c' },
    { Authorization: 'x' },
    { 'Keep-Alive': '5' },
    { a: 'b\nc' },
  ],
  clock: [null, {}, { now: () => 0 }, { now: 0, sleep: () => undefined }],
  logger: [null, {}, 'console', () => undefined, { warn: true }],
  logLevel: ['verbose', null, 1],
  onRequest: [null, {}, 'log'],
  onRetry: [null, {}, 'log'],
  onWait: [null, {}, 'log'],
  onQuota: [null, {}, 'log'],
};
const wrongOptions = Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value] as const));

test.each(wrongOptions)('the option %s cannot be %o', async (name, value) => {
  const error = await errorOf(() => new FxRates({ ...given, [name]: value }));

  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${name}[ .:]`)) });
});

const counts = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '16', null];

test.each<[string, unknown]>([
  ...counts.map((value): [string, unknown] => ['perMinute', value]),
  ...counts.map((value): [string, unknown] => ['maxConcurrent', value]),
])('the option rateLimit.%s cannot be %o', (name, value) => {
  expect(() => new FxRates({ ...given, rateLimit: { [name]: value } })).toThrow(ConfigError);
  expect(() => new FxRates({ ...given, rateLimit: { [name]: value } })).toThrow(`rateLimit.${name}: expected`);
});

test.each([
  [{ tunnel: 5 }, "FxRates options: unknown option 'tunnel'; valid options: baseUrl, apiKey"],
  [{ baseurl: BASE_URL }, "FxRates options: unknown option 'baseurl'; did you mean 'baseUrl'?"],
  [{ apikey: API_KEY }, "unknown option 'apikey'; did you mean 'apiKey'?"],
  [{ maxRetry: 1 }, "unknown option 'maxRetry'; did you mean 'maxRetries'?"],
  [{ ['timeoutMs'.repeat(12)]: 1 }, '; valid options: baseUrl, apiKey'],
  [{ rateLimit: { perMinutes: 5 } }, "unknown option 'perMinutes'; did you mean 'perMinute'?"],
])('rejects the unknown option in %j', (options, message) => {
  expect(() => new FxRates({ ...given, ...options } as never)).toThrow(ConfigError);
  expect(() => new FxRates({ ...given, ...options } as never)).toThrow(message);
});

test.each([API_KEY, 'a-key-of-another-form-3f9c2d', null, 42])('rejects %j as options', async (value) => {
  const error = await errorOf(() => new FxRates(value as never));

  expect(error).toMatchObject({
    kind: 'config',
    message: expect.stringMatching(/^FxRates options: expected an object/),
  });
  expect(String(error)).not.toContain('89abcdef');
  expect(String(error)).not.toContain('3f9c2d');
});

test('rejects fetch together with dispatcher', () => {
  const options = { ...given, fetch: async () => new Response(), dispatcher: new Agent() };

  expect(() => new FxRates(options)).toThrow('fetch and dispatcher: pass either fetch or dispatcher');
});

test.each([
  ['signal', { signal: new AbortController() }],
  ['timeoutMs', { timeoutMs: 0 }],
  ['deadlineMs', { deadlineMs: Number.POSITIVE_INFINITY }],
  ['deadlineMs', { deadlineMs: true }],
  ['maxRetries', { maxRetries: 0.5 }],
  ['onLimit', { onLimit: 'ignore' }],
  ['schema', { schema: {} }],
  ['schema', { schema: { parse: () => 1 } }],
  ['schema', { schema: null }],
  ['call options', { timeout: 5 }],
  ['call options', 'EUR'],
])('a call with a wrong %s rejects without a request', async (name, options) => {
  const { fx, fetch } = testClient({});

  const errors = [await errorOf(fx.latest({}, options as never)), await errorOf(fx.get('/p', options as never))];

  for (const error of errors) {
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${name}: `)) });
  }
  expect(fetch.requests).toEqual([]);
});

test('options of a call take precedence over those of the client', () => {
  const client = resolveOptions({ ...given, timeoutMs: 1, deadlineMs: 2, maxRetries: 3, onLimit: 'throw' });

  expect(resolveCall({}, client)).toMatchObject({
    deadlineMs: 2,
    settings: { timeoutMs: 1, maxRetries: 3, onLimit: 'throw' },
  });
  expect(resolveCall({ timeoutMs: 9, deadlineMs: false, maxRetries: 0, onLimit: 'wait' }, client)).toMatchObject({
    deadlineMs: Number.POSITIVE_INFINITY,
    settings: { timeoutMs: 9, maxRetries: 0, onLimit: 'wait' },
  });
});

test('the error about a misspelt option has the suggestion only', () => {
  expect(() => new FxRates({ timeout: 1 } as never)).toThrow(
    new ConfigError("FxRates options: unknown option 'timeout'; did you mean 'timeoutMs'?"),
  );
});
