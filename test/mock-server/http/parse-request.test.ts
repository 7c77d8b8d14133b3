import { parse } from 'node:querystring';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRequest, shortened } from '../../../src/mock-server/http/parse-request.ts';
import { valuePairs } from '../../../src/mock-server/input/masked-keys.ts';

const KEY = `fx_live_${'0123456789abcdef'.repeat(3)}`;
const record = (target: string, more: { headers?: Record<string, string | undefined>; body?: Uint8Array } = {}) =>
  parseRequest({ method: 'GET', target, headers: {}, ...more }).recorded;

test.each([
  ['/x', {}],
  ['/x?base=EUR', { base: 'EUR' }],
  ['/x?base=EUR&base=USD&base=GBP', { base: ['EUR', 'USD', 'GBP'] }],
  ['/x?a=1+2%20%C3%A9&b', { a: '1 2 é', b: '' }],
  [`/x?api_key=${KEY}`, { api_key: 'fx_live_…' }],
  ['/x?API_KEY=secret&apikey=secret&access_token=secret', { API_KEY: '…', apikey: '…', access_token: '…' }],
  [`/x?base=${KEY}`, { base: 'fx_live_…' }],
  [`/x?${KEY}=1`, { 'fx_live_…': '1' }],
  ['/x??base=EUR', { '?base': 'EUR' }],
  ['/x?__proto__=1', Object.fromEntries([['__proto__', '1']])],
])('the query of %s is recorded by name, without keys', (target, query) => {
  expect(record(target).query).toEqual(query);
});

test.each([
  `/x?api_key=${KEY}`,
  '/x?access_token=secret',
  `/${KEY}`,
  `/x?base=fx%5flive_${'0'.repeat(48)}`,
  `/x?${'a'.repeat(500)}`,
])('the target %s is not kept for later requests', (target) => {
  const known = { targets: new Map(), headers: {} };

  parseRequest({ method: 'GET', target, headers: {} }, known);

  expect(known.targets.size).toBe(0);
});

test.each<[Record<string, string>, boolean]>([
  [{ host: 'x', authorization: `Bearer ${KEY}`, accept: 'a/b' }, true],
  [{ host: 'x', authorization: `Bearer ${KEY.replace('0', '1')}`, accept: 'a/b' }, true],
  [{ host: 'x', authorization: KEY, accept: 'a/b' }, false],
  [{ host: 'x', authorization: 'Bearer other', accept: 'a/b' }, false],
  [{ host: 'x', accept: 'a/b', authorization: `Bearer ${KEY}` }, false],
  [{ host: 'x', authorization: `Bearer ${KEY}` }, false],
  [{ host: 'x', authorization: `Bearer ${KEY}`, accept: KEY }, false],
  [{ host: 'x', authorization: `Bearer ${KEY}`, accept: 'a/b', [KEY]: '1' }, false],
  [{}, false],
])('requests with the same recorded headers share them: %j, %s', (headers, areShared) => {
  const known = { targets: new Map(), headers: {} };
  const parsed = (sent: Record<string, string>) =>
    parseRequest({ method: 'GET', target: '/x', headers: sent }, known).recorded.headers;
  const first = parsed({ host: 'x', authorization: `Bearer ${KEY}`, accept: 'a/b' });

  const next = parsed(headers);

  expect(next === first).toBe(areShared);
  expect(Object.entries(next)).toEqual(Object.entries(record('/x', { headers }).headers));
  expect(JSON.stringify(known)).not.toContain(KEY.slice(-8));
  expect(parsed({ host: 'x', authorization: `Bearer ${KEY}`, accept: 'a/b' })).toEqual(first);
});

test('any query is recorded as the service reads it, and as node:querystring does', () => {
  const part = fc.constantFrom('a', 'b', 'toString', '__proto__', '?', '%20', '%', '+', 'é', '');
  const pair = fc.tuple(part, fc.constantFrom('=', '=', '=', '==', ''), part).map((texts) => texts.join(''));
  const queries = fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&'));
  fc.assert(
    fc.property(queries, (query) => {
      const { target, recorded } = parseRequest({ method: 'GET', target: `/x?${query}`, headers: {} });
      expect(recorded.query).toStrictEqual({ ...parse(query) });
      expect(valuePairs(recorded.query).sort()).toEqual([...target.parameters].sort());
    }),
  );
});

test.each([
  ['authorization', `Bearer ${KEY}`, 'Bearer fx_live_…'],
  ['authorization', KEY, 'fx_live_…'],
  ['authorization', 'Bearer some-other-secret', 'Bearer …'],
  ['authorization', `Basic ${Buffer.from(KEY).toString('base64')}`, 'Basic …'],
  ['authorization', `${KEY}-and-more`, '…'],
  ['proxy-authorization', 'Basic abc', 'Basic …'],
  ['cookie', 'session=abc', '…'],
  ['x-api-key', KEY, 'fx_live_…'],
  ['x-note', `key ${KEY}`, 'key fx_live_…'],
  ['accept', 'application/json', 'application/json'],
])('the header %s: %s is recorded as %s', (name, value, shown) => {
  expect(record('/x', { headers: { [name]: value } }).headers).toEqual({ [name]: shown });
});

test.each([
  [`Bearer ${KEY}`, 'bearer', KEY],
  [` bearer \t${KEY} `, 'bearer', KEY],
  [`Bearer  ${KEY}`, 'bearer', KEY],
  ['Bearer fx_', 'bearer', 'fx_'],
  ['Bearer', 'bearer', ''],
  ['Bearer-fx_', 'header', 'Bearer-fx_'],
  [KEY, 'header', KEY],
])('the header authorization: %j has, as %s, the key %j', (authorization, transport, key) => {
  const { credentials } = parseRequest({ method: 'GET', target: '/x', headers: { authorization } });

  expect(credentials).toMatchObject([{ transport, key }]);
});

test('a body is text without keys, and the journal cuts it after 16,384 characters', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  expect(record('/x', { body: bytes(`{"key":"${KEY}"}`) }).body).toBe('{"key":"fx_live_…"}');
  expect(record('/x', { body: bytes('x'.repeat(20_000)) }).body).toBe('x'.repeat(20_000));
  expect(shortened('x'.repeat(20_000))).toBe('x'.repeat(16_384));
  expect(record('/x', { body: bytes('') }).body).toBeUndefined();
});
