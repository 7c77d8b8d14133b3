import { expect, test } from 'vitest';
import { describeValue } from '../../../src/client/errors/describe-value.ts';
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
])('%o is none of the client’s errors', (value) => {
  expect(FxRatesError.is(value)).toBe(false);
});

test('an error of another copy of the package is known by its brand', () => {
  const foreign = Object.assign(new Error('x'), { kind: 'server', [Symbol.for('fxrates.error')]: true });

  expect(FxRatesError.is(foreign)).toBe(true);
});

test('the cause is the original, and there is none when none was given', () => {
  const original = new Error('original');

  expect(new NetworkError('x', { cause: original }).cause).toBe(original);
  expect('cause' in new NetworkError('x')).toBe(false);
});

test.each([
  ['EUR', "'EUR'"],
  ['x'.repeat(61), 'a text of 61 characters'],
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
