import { expect, test } from 'vitest';
import {
  buildOperationTarget,
  checkPath,
  operationEndpoint,
  pathEndpoint,
  sortedTarget,
} from '../../../src/client/call/endpoint.ts';
import { ConfigError } from '../../../src/client/errors/errors.ts';
import type { Operation, Parameter } from '../../../src/operation.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

test('an endpoint has its path and whether it uses quota', () => {
  expect(operationEndpoint('latest', { base: 'EUR' })).toMatchObject({
    name: 'latest',
    target: '/api/v1/latest?base=EUR',
    consumesQuota: true,
  });
  expect(operationEndpoint('quota', undefined)).toMatchObject({ target: '/api/v1/quota', consumesQuota: false });
});

test.each([
  [null, 'null'],
  [new Date(0), 'Date (object)'],
  [{}, 'an object'],
  [1n, '1 (bigint)'],
  [Number.NaN, 'NaN (number)'],
  [Number.POSITIVE_INFINITY, 'Infinity (number)'],
  [() => 'EUR', 'a function'],
  [Symbol('EUR'), 'Symbol(EUR) (symbol)'],
  [['EUR', ['USD']], 'a list'],
  [['EUR', new Map()], 'Map (object)'],
])('a value that cannot be sent is rejected with what was expected: $1', (value, got) => {
  const expected = `query: 'base' must be a string, a finite number, a boolean or a list of these, got ${got}`;

  expect(() => operationEndpoint('latest', { base: value })).toThrow(new ConfigError(expected));
  expect(() => pathEndpoint('/p', { base: value })).toThrow(new ConfigError(expected));
});

const period: Operation = {
  id: 'period',
  method: 'GET',
  path: '/api/v1/{base}/{from}..{to}',
  summary: '',
  description: '',
  query: 'named',
  parameters: [
    parameter('base', { in: 'path', required: true, list: 'comma' }),
    parameter('from', { in: 'path', required: true }),
    parameter('to', { in: 'path', required: true }),
    parameter('symbols', { list: 'comma' }),
    parameter('places', { list: 'repeated', types: ['integer'] }),
    parameter('amount', { types: ['number'] }),
  ],
  consumesQuota: true,
  worksWhenQuotaExhausted: false,
  example: undefined,
  errors: [],
};
const required = { base: 'EUR', from: '2026-01-01', to: '2026-02-01' };

test.each([
  [{}, '/api/v1/EUR/2026-01-01..2026-02-01'],
  [{ base: 'a/b ä?' }, '/api/v1/a%2Fb%20%C3%A4%3F/2026-01-01..2026-02-01'],
  [{ symbols: ['EUR', 'GBP'] }, '/api/v1/EUR/2026-01-01..2026-02-01?symbols=EUR,GBP'],
  [{ symbols: ['a b', '€'] }, '/api/v1/EUR/2026-01-01..2026-02-01?symbols=a+b,%E2%82%AC'],
  [{ base: ['EUR', 'a/b'] }, '/api/v1/EUR,a%2Fb/2026-01-01..2026-02-01'],
  [{ amount: '1,5' }, '/api/v1/EUR/2026-01-01..2026-02-01?amount=1%2C5'],
  [{ places: [2, 4], amount: 1.5 }, '/api/v1/EUR/2026-01-01..2026-02-01?places=2&places=4&amount=1.5'],
  [{ amount: undefined }, '/api/v1/EUR/2026-01-01..2026-02-01'],
])('%j is sent as %s', (values, target) => {
  expect(buildOperationTarget(period, { ...required, ...values })).toBe(target);
});

test.each([
  [{ base: '' }, "'base': expected a value that is not empty"],
  [{ base: '..' }, "'.' and '..' are not valid values"],
  [{ base: '\ud800' }, "'base': contains half a surrogate pair"],
  [{ symbols: ['EUR,GBP'] }, "'symbols': expected values without a comma"],
  [{ symbols: [] }, "'symbols': expected at least one value, got an empty list"],
  [{ places: [] }, "'places': expected at least one value, got an empty list"],
  [{ amount: Number.NaN }, "query: 'amount' must be a string, a finite number"],
])('rejects %j: %s', (values, message) => {
  expect(() => buildOperationTarget(period, { ...required, ...values })).toThrow(message);
});

function parameter(name: string, rest: Partial<Parameter>): Parameter {
  return {
    ...{ name, in: 'query', description: '', required: false, type: 'string', types: ['string'], example: undefined },
    ...rest,
  };
}

test.each([
  [undefined, '/p'],
  [{}, '/p'],
  [{ base: undefined }, '/p'],
  [{ base: 'EUR' }, '/p?base=EUR'],
  [{ base: 'EUR', amount: 1.5, all: true }, '/p?base=EUR&amount=1.5&all=true'],
  [{ symbols: ['USD', 'JPY'] }, '/p?symbols=USD&symbols=JPY'],
  [{ symbols: ['USD', undefined] }, '/p?symbols=USD'],
  [{ symbols: [] }, '/p'],
  [{ base: '' }, '/p?base='],
  [{ q: 'a&b=c d#é' }, '/p?q=a%26b%3Dc+d%23%C3%A9'],
  [{ q: "~!'()*-._ \ud800" }, '/p?q=%7E%21%27%28%29*-._+%EF%BF%BD'],
  [{ 'a,b': 'EUR,USD' }, '/p?a%2Cb=EUR%2CUSD'],
  [{ q: 'line\r\nbreak' }, '/p?q=line%0D%0Abreak'],
  [Object.create(null, { base: { value: 'EUR', enumerable: true } }), '/p?base=EUR'],
])('%j is sent as %s', (query, target) => {
  expect(pathEndpoint('/p', query).target).toBe(target);
});

test.each(['api_key', 'API_KEY'])('rejects the parameter %s', (name) => {
  expect(() => pathEndpoint('/p', { [name]: 'x' })).toThrow(ConfigError);
  expect(() => pathEndpoint('/p', { [name]: 'x' })).toThrow("'api_key' cannot be set");
});

test.each([
  ["'EUR'", 'EUR'],
  ['a string of 61 characters', 'x'.repeat(61)],
  ['false (boolean)', false],
  ['null', null],
  ['a list', ['EUR']],
  ['5 (number)', 5],
  ['URLSearchParams (object)', new URLSearchParams({ base: 'EUR' })],
  ['Map (object)', new Map([['base', 'EUR']])],
  ['Date (object)', new Date(0)],
  ['a function', () => ({ base: 'EUR' })],
])('rejects %s as a query', (got, query) => {
  const message = `query: expected an object of parameters, got ${got}`;

  expect(() => pathEndpoint('/p', query as never)).toThrow(new ConfigError(message));
});

test.each([
  ...['/', '/api/v1/latest', '/a.b/..c', '/a%20b', '/a:b@c'].map((path) => [path, path]),
  ['/api/v1/měna/€"<>', '/api/v1/m%C4%9Bna/%E2%82%AC%22%3C%3E'],
])('the path %s is sent as %s', (path, sent) => {
  expect(checkPath(path)).toBe(sent);
});

const ELSEWHERE = ['', 'api/v1/latest', 'https://elsewhere.test/', '//elsewhere.test/', '/\\elsewhere.test/'];
const UNSENDABLE = ['/a?b=c', '/a#b', '/a b', '/a\tb', '/a\nb', '/a\u0000b', '/\u007f'];
const UPWARDS = ['/../admin', '/a/..', '/a/./b', '/a/%2e%2E/b', '/a/.%2e', '/..%2fadmin', '/%2e%2e%2fadmin'];
const UPWARDS_IN_CODE = ['/%2E%2e/admin', '/a%2f..%2fadmin', '/..%5cadmin', '/..%255cadmin', '/%252e%252e%252fadmin'];
const UPWARDS_OF_JAVA = ['/..;/admin', '/..;a=b/admin', '/%2e%2e%3b/admin', '/.%2f'];

test.each([...ELSEWHERE, ...UNSENDABLE, ...UPWARDS, ...UPWARDS_IN_CODE, ...UPWARDS_OF_JAVA, undefined, null, 42, {}])(
  'rejects the path %j',
  (path) => {
    expect(() => checkPath(path)).toThrow(ConfigError);
    expect(() => checkPath(path)).toThrow(/^path: /);
  },
);

test('rejects a path with what was given, but without the key in it', () => {
  expect(() => checkPath(undefined)).toThrow(/, got undefined;/);
  expect(() => checkPath(`latest/${API_KEY}`)).not.toThrow('89abcdef');
});

test.each(['timeoutMs', 'deadlineMs', 'maxRetries', 'onLimit', 'maxAgeMs'])(
  'rejects the call option %s in a query',
  (name) => {
    const message = `fx.latest(query, { ${name} })`;

    expect(() => operationEndpoint('latest', { [name]: 1 })).toThrow(message);
    expect(() => pathEndpoint('/x', { [name]: 1 })).toThrow(message);
  },
);

test.each(['priority', 'signal', 'schema'])('sends a parameter named %s, which a service may have', (name) => {
  expect(pathEndpoint('/x', { [name]: 'a' }).target).toBe(`/x?${name}=a`);
});

test.each([
  ['/p', '/p'],
  ['/p?b=1', '/p?b=1'],
  ['/p?b=2&a=x%2Cy,z&b=1', '/p?a=x%2Cy,z&b=2&b=1'],
  ['/p?a=&a-b=1&a=0', '/p?a=&a=0&a-b=1'],
])('the parameters of %s are sorted by name, and their values unchanged', (target, sorted) => {
  expect(sortedTarget(target)).toBe(sorted);
});
