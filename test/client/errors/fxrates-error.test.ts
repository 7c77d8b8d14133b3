import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { describeValue } from '../../../src/client/errors/program-values.ts';
import {
  AbortError,
  AuthenticationError,
  ConfigError,
  FxRatesError,
  NetworkError,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
  ResponseError,
  ServerError,
  TimeoutError,
} from '../../../src/client/index.ts';
import { quotaRecord } from '../../helpers/service-replies.ts';

const errors: [FxRatesError, string, string][] = [
  [new ConfigError('x'), 'ConfigError', 'config'],
  [new AuthenticationError('x'), 'AuthenticationError', 'authentication'],
  [new RateLimitError('x', { reason: 'policy' }), 'RateLimitError', 'rate_limited'],
  [new QuotaExhaustedError('x'), 'QuotaExhaustedError', 'quota_exhausted'],
  [new RequestError('x'), 'RequestError', 'request'],
  [new ServerError('x'), 'ServerError', 'server'],
  [new NetworkError('x'), 'NetworkError', 'network'],
  [new TimeoutError({ scope: 'attempt', limitMs: 5 }), 'TimeoutError', 'timeout'],
  [new AbortError(), 'AbortError', 'aborted'],
  [new ResponseError('x'), 'ResponseError', 'response'],
];

test.each(errors)('%s has a name, a kind and a brand', (error, name, kind) => {
  expect(error).toBeInstanceOf(Error);
  expect(error).toBeInstanceOf(FxRatesError);
  expect(error).toMatchObject({ name, kind, attempts: [] });
  expect(String(error)).toMatch(new RegExp(`^${name}: `));
  expect(FxRatesError.is(error)).toBe(true);
  expect(Object.keys(error)).not.toContain('cause');
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name, kind, message: error.message });
});

test.each([
  [new Error('x')],
  [{ kind: 'network', name: 'NetworkError' }],
  [undefined],
  [null],
  ['NetworkError'],
  [Symbol.for('fxrates.error')],
])('%o is not an error of the client', (value) => {
  expect(FxRatesError.is(value)).toBe(false);
});

test('is() recognizes an error of another copy of the package', () => {
  const foreign = Object.assign(new Error('x'), { kind: 'server', [Symbol.for('fxrates.error')]: true });

  expect(FxRatesError.is(foreign)).toBe(true);
});

test('absent fields are not printed but can be read', () => {
  const error = new ConfigError('baseUrl: none given');
  const printed = inspect(error);

  expect(printed).toContain("kind: 'config'");
  expect(printed).not.toMatch(/undefined|headers|attempts/);
  expect(error).toMatchObject({ code: undefined, status: undefined, headers: undefined, attempts: [] });
  expect(inspect(new RateLimitError('x', { reason: 'policy', status: 429 }))).toMatch(
    /status: 429,.*reason: 'policy'/s,
  );
  expect(inspect(new RateLimitError('x', { reason: 'policy' }))).not.toContain('retryA');
  expect(inspect(new QuotaExhaustedError('x'))).not.toContain('resetsAt');
  expect(inspect(new ResponseError('x'))).not.toContain('issues');
  expect(inspect(new NetworkError('x', { attempts: [] }))).toContain('attempts: []');
});

test('the JSON of a RateLimitError has retryAt and reason', () => {
  const retryAt = new Date('2026-01-15T00:00:07.000Z');
  const limited = new RateLimitError('x', { reason: 'deadline', retryAfterMs: 7000, retryAt });
  const exhausted = new QuotaExhaustedError('x', {
    local: true,
    quota: quotaRecord({ resets_at: '2026-02-01T00:00:00.000Z' }),
  });

  expect(JSON.parse(JSON.stringify(limited))).toMatchObject({
    reason: 'deadline',
    retryAfterMs: 7000,
    retryAt: '2026-01-15T00:00:07.000Z',
  });
  expect(JSON.parse(JSON.stringify(exhausted))).toMatchObject({ local: true, resetsAt: '2026-02-01T00:00:00.000Z' });
});

test('the cause is the original error, or absent', () => {
  const original = new Error('original');

  expect(new NetworkError('x', { cause: original }).cause).toBe(original);
  expect('cause' in new NetworkError('x')).toBe(false);
});

test.each([
  ['EUR', "'EUR'"],
  ['x'.repeat(61), 'a string of 61 characters'],
  [null, 'null'],
  [undefined, 'undefined'],
  [['EUR'], 'a list'],
  [{ base: 'EUR' }, 'an object'],
  [() => 1, 'a function'],
  [Number.NaN, 'NaN (number)'],
  [10n, '10 (bigint)'],
  [Symbol('s'), 'Symbol(s) (symbol)'],
  [false, 'false (boolean)'],
])('the wrong value %o is shown as %s', (value, shown) => {
  expect(describeValue(value)).toBe(shown);
});
