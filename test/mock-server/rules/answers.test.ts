import { expect, test } from 'vitest';
import {
  type Answer,
  type AnswerFunction,
  connectMockServer,
  createMockServer,
  type MockServer,
  type RuleOptions,
} from '../../../src/mock-server/index.ts';
import { mockWithKey, sender } from '../../helpers/mock-with-key.ts';

const EUR = { query: { base: 'EUR' } };

const failed = (code: string, message: string, status: number) => ({
  status,
  text: JSON.stringify({ success: false, error: { code, message, status } }),
});

test.each<[string, Answer, { status: number; text: string; type?: string | null }]>([
  ['data', { data: [1] }, { status: 200, text: '{"success":true,"data":[1]}', type: 'application/json' }],
  ['an error', { status: 422, error: { code: 'x', message: 'No XXX.' } }, failed('x', 'No XXX.', 422)],
  ['an error without a status', { error: { code: 'x' } }, failed('x', 'Bad Request', 400)],
  ['a status alone', { status: 503 }, failed('service_unavailable', 'Service Unavailable', 503)],
  ['the status 429 with its documented code', { status: 429 }, failed('rate_limited', 'Too Many Requests', 429)],
  ['a body of text', { body: 'down' }, { status: 200, text: 'down', type: 'text/plain; charset=utf-8' }],
  ['a body of JSON text', { body: '{"a":1.10}' }, { status: 200, text: '{"a":1.10}', type: 'application/json' }],
  ['a body as JSON', { body: { a: 1 } }, { status: 200, text: '{"a":1}', type: 'application/json' }],
  ['a type', { body: 'x', headers: { 'Content-Type': 'text/html' } }, { status: 200, text: 'x', type: 'text/html' }],
  ['no content', { status: 204 }, { status: 204, text: '', type: null }],
  ['no content and an empty body', { status: 204, body: '' }, { status: 204, text: '', type: null }],
  ['an empty body', { status: 404, body: '' }, { status: 404, text: '', type: null }],
  ['a redirect', { status: 301, headers: { location: '/x' } }, { status: 301, text: '', type: null }],
  ['a redirect with a body', { status: 302, body: 'moved' }, { status: 302, text: 'moved' }],
  ['a body of null', { body: null }, { status: 200, text: 'null', type: 'application/json' }],
  ['a body of false', { body: false }, { status: 200, text: 'false', type: 'application/json' }],
  ['a body of a class with toJSON()', { body: new Date(0) }, { status: 200, text: '"1970-01-01T00:00:00.000Z"' }],
  ['data of null', { data: null }, { status: 200, text: '{"success":true,"data":null}' }],
])('a rule responds with %s, counted or not', async (_, respond, { type, ...expected }) => {
  for (const counted of [true, false]) {
    const { mock, send } = mockWithKey();
    mock.rules.add({ respond, counted });

    const response = await send('/api/v1/latest', { redirect: 'manual' });

    expect(response).toMatchObject(expected);
    if (type !== undefined) expect(response.headers.get('content-type')).toBe(type);
  }
});

test('a header can have several values, in process, over HTTP and after a restart', async () => {
  const { mock, key, send } = mockWithKey();
  await using server = await mock.serve();
  const respond = {
    body: 'x',
    headers: { 'Set-Cookie': ['a=1; Path=/', 'b=2'], 'X-Tag': 'one', 'x-tag': 'two', Link: '<a>' },
  };
  await connectMockServer(server.adminUrl).rules.add({ respond });
  mock.restore(JSON.parse(JSON.stringify(mock.snapshot())));

  const responses = [await send(), await sender({ baseUrl: server.url, fetch }, key)()];

  for (const { headers } of responses) {
    expect(headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect([headers.get('x-tag'), headers.get('link')]).toEqual(['one, two', '<a>']);
  }
  expect(mock.rules.list()).toMatchObject([{ respond: [{ headers: { 'set-cookie': ['a=1; Path=/', 'b=2'] } }] }]);
});

const NUMBERS = { body: 'x', headers: { 'Retry-After': 7, age: [0, '1'] } };
const NUMBERS_RULE = { respond: NUMBERS };

test.each<[string, (mock: MockServer, adminUrl: string) => unknown]>([
  ['a rule', (mock) => mock.rules.add(NUMBERS_RULE)],
  ['several responses', (mock) => mock.rules.add({ respond: [NUMBERS] })],
  ['a function', (mock) => mock.rules.add({ respond: () => NUMBERS })],
  ['a setup', (mock) => mock.setUp({ rules: [NUMBERS_RULE] })],
  ['the text of a setup', (mock) => mock.setUp(JSON.stringify({ rules: [NUMBERS_RULE] }))],
  ['the admin API', (_, adminUrl) => connectMockServer(adminUrl).rules.add(NUMBERS_RULE)],
  ['a setup by the admin API', (_, adminUrl) => connectMockServer(adminUrl).setUp({ rules: [NUMBERS_RULE] })],
])('headers can be whole numbers in %s', async (_, add) => {
  const { mock, send } = mockWithKey();
  await using server = await mock.serve();
  await add(mock, server.adminUrl);
  mock.restore(JSON.parse(JSON.stringify(mock.snapshot())));

  const { headers } = await send();

  expect([headers.get('retry-after'), headers.get('age')]).toEqual(['7', '0, 1']);
});

test('an empty body has a length of 0 over a socket, too', async () => {
  const { mock, key } = mockWithKey();
  await using server = await mock.serve();
  mock.rules.add({ respond: { body: '' } });

  const { headers } = await sender({ baseUrl: server.url, fetch }, key)();

  expect([headers.get('content-length'), headers.get('transfer-encoding')]).toEqual(['0', null]);
});

test('a sequence has one response per request; the last one repeats, or times ends it', async () => {
  const { mock, send } = mockWithKey();
  const respond = [{ status: 503 }, { status: 502 }, { data: 'third' }];
  mock.rules.add({ id: 'endless', match: { operation: 'latest' }, respond });
  mock.rules.add({
    id: 'ended',
    match: { operation: 'latest' },
    respond: [{ status: 500 }, { status: 501 }],
    times: 3,
  });
  const statuses = [];
  for (let request = 0; request < 7; request += 1) {
    statuses.push((await send()).status);
    await send('/api/v1/latest', { headers: {} }); // 401: nothing is supplied
  }

  expect(statuses).toEqual([500, 501, 501, 503, 502, 200, 200]);
});

test('the journal shows the error code of an envelope in a body', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({
    match: EUR,
    respond: { status: 422, body: { success: false, error: { code: 'unknown_currency' } } },
  });
  mock.rules.add({ match: { query: { base: 'USD' } }, respond: { status: 422, body: { error: { code: 7 } } } });
  await send('/api/v1/latest?base=EUR');
  await send('/api/v1/latest?base=USD');

  expect(mock.journal.list().map(({ code }) => code)).toEqual(['unknown_currency', undefined]);
});

test('a function receives the request with its key masked, and the invented data', async () => {
  const { mock, send, key, id: keyId } = mockWithKey();
  const invented = (await send('/api/v1/latest?base=EUR&symbols=USD')).json().data;
  mock.rules.add({
    match: { operation: 'latest' },
    respond: ({ query, headers, ...request }, context) => ({
      status: 201,
      headers: { 'x-tag': headers['x-tag'] ?? '' },
      data: {
        ...{ ...context.invented(), query, keyId: request.keyId, operation: request.operation },
        key: headers['authorization'],
      },
    }),
  });

  const authorization = `Bearer ${key}`;
  const { status, headers, json } = await send('/api/v1/latest?base=EUR&symbols=USD', {
    headers: { authorization, 'x-tag': 'a' },
  });

  expect([status, headers.get('x-tag')]).toEqual([201, 'a']);
  const query = { base: 'EUR', symbols: 'USD' };
  expect(json().data).toEqual({ ...invented, query, keyId, operation: 'latest', key: 'Bearer fx_live_…' });
});

test.each<[string, AnswerFunction, string]>([
  ['nothing', () => undefined as never, 'returned a wrong response: response is missing; expected an object'],
  ['a promise', () => Promise.resolve({}) as never, 'returned a promise; expected a response, returned synchronously'],
  ['a promise that rejects', () => Promise.reject(new Error('boom')) as never, 'returned a promise'],
  ['text', () => 'rates' as never, 'returned a wrong response: response is "rates"'],
  ['NaN', () => ({ data: { USD: Number.NaN } }), 'a value that JSON can represent'],
  [
    'an exception with a key',
    () => {
      throw new RangeError(`no fx_live_${'0'.repeat(48)}`);
    },
    'The function of the rule threw RangeError: no fx_live_….',
  ],
])('a function that returns or throws %s causes a 500 that names the cause', async (_, respond, why) => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ respond });

  const { status, json } = await send();

  expect(status).toBe(500);
  expect(json()).toMatchObject({ error: { code: 'internal_error', message: expect.stringContaining(why) } });
  expect(mock.journal.list()[0]?.why).toContain(why);
});

test.each<RuleOptions>([
  { match: { query: { base: /^eur$/i }, headers: { 'x-tag': 'a' } }, respond: { data: { rate: 1 } }, times: 3 },
  { respond: { status: 422, error: { code: 'unknown_currency' } }, counted: false },
  { respond: { body: 'down', headers: { 'set-cookie': ['a=1', 'b=2'], 'x-tag': ['one', 'two'] } } },
  { respond: [{ status: 503 }, { status: 204 }, { body: '' }], delayMs: { min: 1, max: 2 } },
  { fail: { kind: 'truncate', afterBytes: 3 }, encoding: 'br', retryAfter: { absent: true }, nth: [1, 2] },
  { delayMs: 5, afterMs: 10, forMs: 1000, probability: 0.5 },
  { delayMs: 1, match: { status: 429, code: 'rate_limited' } },
])('a rule that was read can be added again, in process, over HTTP and in a setup: %j', async (options) => {
  const setting = { seed: 1, clock: { mode: 'virtual', autoAdvance: false } } as const;
  await using mock = createMockServer(setting);
  const remote = connectMockServer((await mock.serve()).adminUrl);
  const added = mock.rules.add({ id: 'x', ...options });

  expect(createMockServer(setting).rules.add(added)).toEqual(added);
  expect(await remote.rules.add(await remote.rules.get('x'))).toEqual(added);
  expect(createMockServer({ ...setting, setup: { rules: [added] } }).rules.list()).toEqual([added]);
  expect(createMockServer({ ...setting, rules: [added] }).rules.list()).toEqual([added]);
});

test('a rule with a function can be added again where the function is, and is refused without it', async () => {
  await using mock = createMockServer();
  const remote = connectMockServer((await mock.serve()).adminUrl);
  const rule = mock.rules.add({ id: 'x', respond: () => ({ data: 1 }), delayMs: 1 });
  expect(mock.rules.add(rule)).toMatchObject({ hasFunction: true });

  const read = await remote.rules.get('x');

  expect(read.hasFunction).toBe(true);
  expect(read).not.toHaveProperty('respond');
  await expect(remote.rules.add(read)).rejects.toThrow(
    'respond is missing; expected the function of the rule, which JSON does not contain.',
  );
  await expect(remote.rules.add({ respond: () => ({ data: 1 }) })).rejects.toThrow('respond is a function; expected');
});
