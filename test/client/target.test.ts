import { expect, test } from 'vitest';
import { checkPath, pathEndpoint } from '../../src/client/endpoints.ts';
import { ConfigError } from '../../src/client/errors/errors.ts';
import { API_KEY, success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

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
  [{ q: 'line\r\nbreak' }, '/p?q=line%0D%0Abreak'],
  [Object.create(null, { base: { value: 'EUR', enumerable: true } }), '/p?base=EUR'],
])('%j is sent as %s', (query, target) => {
  expect(pathEndpoint('/p', query).target).toBe(target);
});

test.each([
  [{ base: null }, "'base'"],
  [{ base: Number.NaN }, "'base'"],
  [{ base: Number.POSITIVE_INFINITY }, "'base'"],
  [{ base: {} }, "'base'"],
  [{ base: ['EUR', ['USD']] }, "'base'"],
  [{ base: () => 'EUR' }, "'base'"],
  [{ base: 1n }, "'base'"],
  [{ base: Symbol('EUR') }, "'base'"],
  [{ api_key: 'x' }, "'api_key' cannot be set"],
  [{ API_KEY: 'x' }, "'api_key' cannot be set"],
])('rejects the query %o', (query, problem) => {
  expect(() => pathEndpoint('/p', query as never)).toThrow(ConfigError);
  expect(() => pathEndpoint('/p', query as never)).toThrow(problem);
});

test.each([
  ['text', 'EUR'],
  ['null', null],
  ['a list', ['EUR']],
  ['a number', 5],
  ['URLSearchParams', new URLSearchParams({ base: 'EUR' })],
  ['a Map', new Map([['base', 'EUR']])],
  ['a Date', new Date(0)],
  ['a function', () => ({ base: 'EUR' })],
])('rejects %s as a query', (_, query) => {
  expect(() => pathEndpoint('/p', query as never)).toThrow(ConfigError);
  expect(() => pathEndpoint('/p', query as never)).toThrow(/^query: expected an object/);
});

test.each(['/', '/api/v1/latest', '/api/v1/rates/EUR', '/a.b/..c', '/a%20b', '/a:b@c'])(
  'accepts the path %s',
  (path) => {
    expect(checkPath(path)).toBe(path);
  },
);

test('percent-encodes characters that are not valid in a request line', () => {
  expect(checkPath('/api/v1/měna/€"<>')).toBe('/api/v1/m%C4%9Bna/%E2%82%AC%22%3C%3E');
});

test.each([
  '',
  'api/v1/latest',
  'https://elsewhere.test/',
  '//elsewhere.test/',
  '/\\elsewhere.test/',
  '/a?b=c',
  '/a#b',
  '/a b',
  '/a\tb',
  '/a\nb',
  '/../admin',
  '/a/..',
  '/a/./b',
  '/a/%2e%2E/b',
  '/a/.%2e',
  '/..%2fadmin',
  '/%2e%2e%2fadmin',
  '/%2E%2e/admin',
  '/a%2f..%2fadmin',
  '/..%5cadmin',
  '/..%255cadmin',
  '/%252e%252e%252fadmin',
  '/..;/admin',
  '/..;a=b/admin',
  '/%2e%2e%3b/admin',
  '/.%2f',
  '/a\u0000b',
  '/\u007f',
  undefined,
  null,
  42,
  {},
])('rejects the path %j', (path) => {
  expect(() => checkPath(path)).toThrow(ConfigError);
  expect(() => checkPath(path)).toThrow(/^path: /);
});

test('rejects a path without showing the key in it', () => {
  expect(() => checkPath(`latest/${API_KEY}`)).not.toThrow('89abcdef');
});

test.each(['timeoutMs', 'deadlineMs', 'maxRetries', 'onLimit', 'maxAgeMs'])(
  'rejects the call option %s in a query, without a request',
  async (name) => {
    const { fx, fetch } = testClient(success());

    for (const call of [() => fx.latest({ [name]: 1 }), () => fx.get('/x', { query: { [name]: 1 } })]) {
      const error = await errorOf(call());
      expect(error).toMatchObject({
        kind: 'config',
        message: expect.stringContaining(`fx.latest(query, { ${name} })`),
      });
    }

    expect(fetch.requests).toEqual([]);
  },
);

test.each(['priority', 'signal', 'schema'])('sends a parameter named %s, which a service may have', (name) => {
  expect(pathEndpoint('/x', { [name]: 'a' }).target).toBe(`/x?${name}=a`);
});
