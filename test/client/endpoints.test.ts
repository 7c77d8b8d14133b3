import { expect, test } from 'vitest';
import { operationEndpoint, pathEndpoint } from '../../src/client/endpoints.ts';
import { ConfigError } from '../../src/client/index.ts';

test('an endpoint has its path and whether it uses quota', () => {
  expect(operationEndpoint('latest', { base: 'EUR' })).toMatchObject({
    name: 'latest',
    target: '/api/v1/latest?base=EUR',
    consumesQuota: true,
  });
  expect(operationEndpoint('quota', undefined)).toMatchObject({ target: '/api/v1/quota', consumesQuota: false });
});

test('a parameter that an operation does not have is refused by name', () => {
  expect(() => operationEndpoint('quota', { base: 'EUR' })).toThrow(ConfigError);
  expect(() => operationEndpoint('quota', { base: 'EUR' })).toThrow(/^quota: .*base/);
});

test('a path of the contract is its operation, any other counts as costing quota', () => {
  expect(pathEndpoint('/api/v1/quota', undefined)).toMatchObject({ name: 'quota', consumesQuota: false });
  expect(pathEndpoint('/api/v1/other', { page: 2 })).toMatchObject({
    name: '/api/v1/other',
    target: '/api/v1/other?page=2',
    consumesQuota: true,
  });
});

test.each([
  [null, 'null'],
  [new Date(0), 'Date (object)'],
  [{}, 'an object'],
  [1n, '1 (bigint)'],
  [Number.NaN, 'NaN (number)'],
  [['EUR', new Map()], 'Map (object)'],
])('a value that cannot be sent is rejected with what was expected: $1', (value, got) => {
  const expected = `query: 'base' must be a string, a finite number, a boolean or a list of these, got ${got}`;

  expect(() => operationEndpoint('latest', { base: value })).toThrow(new ConfigError(expected));
});

test('URLSearchParams as a query are rejected by name', () => {
  const query = new URLSearchParams({ base: 'EUR' });

  expect(() => operationEndpoint('latest', query)).toThrow(
    new ConfigError('query: expected an object of parameters, got URLSearchParams (object)'),
  );
});
