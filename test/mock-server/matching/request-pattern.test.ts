import { Script } from 'node:vm';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { operations } from '../../../src/generated/operations.ts';
import { createMockServer, type RequestFilter } from '../../../src/mock-server/index.ts';
import { matchesPattern } from '../../../src/mock-server/matching/request-pattern.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';
import { servedMock } from '../../helpers/served-mock.ts';

/** Parsed, because a literal would set the prototype. */
const PROTO = JSON.parse('{"__proto__":"x"}');

/** A mock that received requests for EUR with a header, for USD twice in one query, and with a body. */
async function asked() {
  const { mock, key, send } = mockWithKey();
  await send('/api/v1/latest?base=EUR', { headers: { authorization: `Bearer ${key}`, 'X-Trace': 'abc-1' } });
  await send('/api/v1/latest?base=USD&symbols=GBP&symbols=CHF');
  await send('/api/v1/latest', { method: 'POST', body: '{"base":"EUR"}', headers: {} });
  return mock;
}

test.each<[string, RequestFilter, number[]]>([
  ['an equal parameter', { query: { base: 'EUR' } }, [1]],
  ['a number as text', { query: { base: 1 } }, []],
  ['a regular expression', { query: { base: /^eu/i } }, [1]],
  ['a regular expression as JSON', { query: { base: { matches: '^(EUR|USD)$' } } }, [1, 2]],
  ['a regular expression that keeps a position', { query: { base: /[EU]/g } }, [1, 2]],
  ['an absent parameter', { query: { base: { absent: true } } }, [3]],
  ['a present parameter', { query: { base: { absent: false } } }, [1, 2]],
  ['one of the values of a repeated parameter', { query: { symbols: 'CHF' } }, [2]],
  ['all values of a repeated parameter', { query: { symbols: ['GBP', 'CHF'] } }, [2]],
  ['the same values in another order', { query: { symbols: ['CHF', 'GBP'] } }, []],
  ['some of the values as an array', { query: { symbols: ['GBP'] } }, []],
  ['several parameters', { query: { base: 'USD', symbols: 'GBP' } }, [2]],
  ['a parameter that every object has', { query: { constructor: { absent: true } } }, [1, 2, 3]],
  ['a header in any case', { headers: { 'x-TRACE': /^abc/ } }, [1]],
  ['an absent header', { headers: { 'x-trace': { absent: true } } }, [2, 3]],
  ['a header that every object has', { headers: { constructor: { absent: true } } }, [1, 2, 3]],
  ['a masked key', { headers: { authorization: 'Bearer fx_live_…' } }, [1, 2]],
  ['a body', { body: '{"base":"EUR"}' }, [3]],
  ['a body by regular expression', { body: /"base"/ }, [3]],
  ['no body', { body: { absent: true } }, [1, 2]],
  ['a path with a star', { path: '/api/*', query: { base: 'EUR' } }, [1]],
  ['a path with stars', { path: '*/la*st' }, [1, 2, 3]],
  ['a path of which two parts overlap', { path: '/api/v1/latest*latest' }, []],
  ['a whole path', { path: '/api/v1/quota' }, []],
  ['a method', { method: 'POST' }, [3]],
  ['an operation', { operation: 'quota' }, []],
  ['a key', { keyId: 'key_1' }, [1, 2]],
  ['a status', { status: 405 }, [3]],
  ['a code', { code: 'method_not_allowed' }, [3]],
  ['all its parameters', { query: { base: 'EUR', '*': { absent: true } } }, [1]],
  ['a number', { after: 1 }, [2, 3]],
])('a filter selects requests by %s', async (_, filter, numbers) => {
  const mock = await asked();

  expect(mock.journal.list(filter).map(({ number }) => number)).toEqual(numbers);
});

/** A slow, simple model to compare with. */
function matchesModel(pattern: string, path: string): boolean {
  if (pattern === '') return path === '';
  if (pattern[0] !== '*') return pattern[0] === path[0] && matchesModel(pattern.slice(1), path.slice(1));
  return matchesModel(pattern.slice(1), path) || (path !== '' && matchesModel(pattern, path.slice(1)));
}

test('a path with any number of stars selects what its model selects', () => {
  const text = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
  fc.assert(
    fc.property(text('ab*'), text('ab'), (pattern, rest) => {
      const path = `/${rest}`;
      expect(matchesPattern({ path: `/${pattern}` }, { method: 'GET', path, query: {}, headers: {} })).toBe(
        matchesModel(`/${pattern}`, path),
      );
    }),
    { numRuns: 1000 },
  );
});

// With a regular expression in its place, each of them takes hours.
test.each([
  ['*/*/*/*/*/*/*/*/*/x', '/'.repeat(800)],
  [`/${'*a'.repeat(40)}b`, `/${'a'.repeat(8000)}`],
])('the path pattern %s is decided without trying all ways to match it', (path, given) => {
  expect(matchesPattern({ path }, { method: 'GET', path: given, query: {}, headers: {} })).toBe(false);
});

const A30 = 'a'.repeat(30);

test.each<[string, RequestFilter]>([
  ['a repeated group with a repetition', { query: { text: /^(a+)+$/ } }],
  ['a repeated group with equal choices', { query: { text: /^(?:a|a)*$/ } }],
  ['many optional characters', { query: { text: new RegExp(`^${'a?'.repeat(30)}b`) } }],
  ['many choices', { query: { text: new RegExp(`^${'(a|a)'.repeat(30)}b`) } }],
  ['JSON, of a header', { headers: { 'x-text': { matches: '^(a+)+$' } } }],
])('a regular expression that takes too long is stopped and named: %s', async (_, filter) => {
  const { mock, send } = mockWithKey();
  await send(`/api/v1/latest?text=${A30}!`, { headers: { 'x-text': `${A30}!` } });

  expect(() => mock.journal.list(filter)).toThrow(
    expect.objectContaining({
      code: 'slow_pattern',
      message: expect.stringMatching(
        /^(query\.text|headers\.x-text) takes longer than 50 ms for 31 characters with \/\^/,
      ),
    }),
  );
});

test('a regular expression that waited for the processor is tested again', () => {
  vi.spyOn(Script.prototype, 'runInContext').mockImplementationOnce(() => {
    throw Object.assign(new Error(), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  });
  const request = { method: 'GET', path: '/', query: {}, headers: { 'x-a': 'aaa' } };

  expect(matchesPattern({ headers: { 'x-a': { matches: '^(a+)+$' } } }, request)).toBe(true);
});

test('the regular expressions of a pattern share the time limit', () => {
  const names = Array.from({ length: 500 }, (_, index) => `x-${index}`);
  const valuesOf = <Value>(value: Value) => Object.fromEntries(names.map((name) => [name, value]));
  const request = { method: 'GET', path: '/', query: {}, headers: valuesOf(`${'a'.repeat(18)}!`) };

  expect(() => matchesPattern({ headers: valuesOf({ matches: '^(a+)+$|!' }) }, request)).toThrow(
    expect.objectContaining({ code: 'slow_pattern' }),
  );
});

test('a rule whose regular expression takes too long is named in the response or rejection', async () => {
  const { mock, key, send } = mockWithKey();
  const { url } = await mock.serve();
  mock.rules.add({ id: 'slow', match: { query: { text: /^(a+)+$/ } }, delayMs: 1 });
  const message = expect.stringMatching(/^slow\.match\.query\.text takes longer than 50 ms for 31 characters with /);

  const response = await fetch(`${url}/api/v1/latest?text=${A30}!`, { headers: { authorization: `Bearer ${key}` } });

  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ success: false, error: { code: 'internal_error', message } });
  expect(mock.journal.list()).toMatchObject([{ status: 500, code: 'internal_error', keyId: 'key_1' }]);
  await expect(send(`/api/v1/latest?text=${A30}!`)).rejects.toMatchObject({ code: 'slow_pattern', message });
  await mock.close();
});

test('a wait for a request rejects when its regular expression takes too long', async () => {
  const { mock, send } = mockWithKey();
  const waiting = mock.journal.waitFor({ query: { text: /^(a+)+$/ } });

  await send(`/api/v1/latest?text=${A30}!`);

  await expect(waiting).rejects.toMatchObject({ code: 'slow_pattern', field: 'query.text' });
});

test.each([
  [/EUR.*USD/, true],
  [/^(?:EUR|USD)(,(?:EUR|USD))*$/, true],
  [/^(?:EUR|CHF)(,(?:EUR|CHF))*$/, false],
])('the regular expression %s decides a long text within the time limit', (regex, isMatch) => {
  const text = Array.from({ length: 4000 }, () => 'EUR,USD').join();
  const request = { method: 'GET', path: '/', query: { text }, headers: {} };

  expect(matchesPattern({ query: { text: { matches: regex.source } } }, request)).toBe(isMatch);
});

const KEY = `fx_live_${'0'.repeat(48)}`;
const MASKED = 'because recorded requests have it masked';

test.each<[object, string]>([
  [{ sttaus: 200 }, 'filter.sttaus is not a field of the filter; did you mean status? Valid names: operation, keyId, '],
  [{ query: { base: undefined } }, 'filter.query is {}; expected a value for base, not undefined.'],
  [{ headers: { 'x-a': undefined } }, 'filter.headers is {}; expected a value for x-a, not undefined.'],
  [{ operation: 'lates' }, `filter.operation is "lates"; expected one of ${Object.keys(operations).join(', ')}.`],
  [{ keyId: 'key_2' }, 'filter.keyId is "key_2"; expected the id of a key of this mock'],
  [{ path: '/api/v1/latest?base=EUR' }, 'filter.path is "/api/v1/latest?base=EUR"; expected a path such as'],
  [{ path: 'latest' }, 'filter.path is "latest"; expected a path such as'],
  [{ method: 'get' }, 'filter.method is "get"; expected a method in capitals, such as GET.'],
  [{ method: 'ANY' }, 'filter.method is "ANY"; expected a method in capitals, such as GET.'],
  [{ query: 'base=EUR' }, 'filter.query is "base=EUR"; expected an object of parameters such as { "base": "EUR" }.'],
  [{ query: { base: { match: 'x' } } }, 'filter.query is {"base":{"match":"x"}}; expected text, an array, '],
  [{ query: { base: Promise.resolve('x') } }, 'filter.query is {"base":"a promise"}; expected text, an array, '],
  [{ headers: Promise.resolve({}) }, 'filter.headers is a promise; expected an object of headers '],
  [{ body: Promise.resolve('x') }, 'filter.body is a promise; expected text, '],
  [
    { query: { base: { matches: '(' } } },
    'filter.query is {"base":{"matches":"("}}; expected a regular expression that',
  ],
  [{ query: { base: { matches: 'x'.repeat(16_385) } } }, 'of at most 16384 characters.'],
  [{ query: PROTO }, 'filter.query is {"__proto__":"x"}; expected names other than __proto__.'],
  [{ headers: PROTO }, 'filter.headers is {"__proto__":"x"}; expected names other than __proto__.'],
  [
    { headers: { 'x a': 'b' } },
    'filter.headers is {"x a":"b"}; expected an object of headers with valid names such as',
  ],
  [{ headers: { accept: ['a'] } }, 'filter.headers is {"accept":["a"]}; expected text, { "matches": '],
  [{ status: 'ok' }, 'filter.status is "ok"; expected an HTTP status, or 0 for no response.'],
  [{ headers: { 'x-key': KEY } }, `filter.headers is {"x-key":"fx_live_…"}; expected no API key, ${MASKED}`],
  [{ path: `/api/v1/${KEY}` }, `filter.path is "/api/v1/fx_live_…"; expected no API key, ${MASKED}`],
  [{ headers: { Cookie: 'session=1' } }, `filter.headers is {"Cookie":"session=1"}; expected no credential, ${MASKED}`],
  [{ headers: { 'X-API-Key': 'abc' } }, `filter.headers is {"X-API-Key":"abc"}; expected no credential, ${MASKED}`],
  [{ query: { access_token: ['abc'] } }, `filter.query is {"access_token":["abc"]}; expected no credential, ${MASKED}`],
  [{ body: 'x'.repeat(16_385) }, 'expected at most 16384 characters, because the journal keeps no more; use a'],
])('the filter %j is refused: it could never match', async (filter, message) => {
  expect(() => createMockServer().journal.list(filter as RequestFilter)).toThrow(message);
});

test.each([
  ['/api/v1/café', '/api/v1/café'],
  ['/api/v1/café', '/api/v1/caf%c3%a9'],
  ['/api/v1/a b', '/api/v1/a b'],
  ['/api/v1/"<€>`{😀}', '/api/v1/"<€>`{😀}'],
  ['/api/v1/caf%C3%A9', '/api/v1/café'],
  ['/api/v1/*é*', '/api/v1/*é*'],
  ['/api/v1/latest', '/%61pi/v1/latest'],
  ['/%61pi/v1/rates', '/api/v1/rates'],
])('the path %s matches a request to %s, encoded as in a URL', async (path, sent) => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ match: { path }, respond: { data: 'rule' } });

  expect((await send(sent)).json()).toEqual({ success: true, data: 'rule' });
  mock.expectRequests({ path }).toHaveCount(1);
});

test('a path with half a character is accepted', () => {
  expect(createMockServer().journal.list({ path: '/\ud83d' })).toEqual([]);
});

test.each([
  ['/requests/find', '{"filter":{"query":{"__proto__":"x"}}}', 'filter.query'],
  ['/rules', '{"delayMs":1,"match":{"query":{"__proto__":"x"}}}', 'match.query'],
])('over HTTP, %s rejects __proto__ in a pattern', async (route, body, field) => {
  await using it = await servedMock();

  expect(await it.admin('POST', route, JSON.parse(body))).toMatchObject({ status: 400, body: { error: { field } } });
});

test.each<[string, RequestFilter]>([
  ['the masked form of the journal', { headers: { authorization: 'Bearer …', cookie: '…' }, query: { api_key: '…' } }],
  ['a regular expression', { headers: { authorization: /^Bearer / } }],
  ['the absence', { headers: { 'proxy-authorization': { absent: true } } }],
])('a pattern can have %s of a credential', async (_, filter) => {
  const { mock, send } = mockWithKey();
  await send('/api/v1/latest?api_key=abc', { headers: { authorization: 'Bearer abc', cookie: 'a=1' } });

  mock.expectRequests(filter).toHaveCount(1);
});

test('rules match the complete body, of which the journal keeps the beginning', async () => {
  const { mock, key, send } = mockWithKey();
  const body = `${'x'.repeat(20_000)}end`;
  mock.rules.add({ match: { method: 'POST', body }, respond: { data: 'rule' } });
  mock.rules.add({ times: 1, match: { body }, respond: { status: 503 }, counted: false });
  const post = () => send('/api/v1/latest', { method: 'POST', headers: { authorization: key }, body });

  expect((await post()).status).toBe(503);
  expect((await post()).json()).toEqual({ success: true, data: 'rule' });
  expect(mock.journal.list().map((entry) => entry.body)).toEqual([body.slice(0, 16_384), body.slice(0, 16_384)]);
});
