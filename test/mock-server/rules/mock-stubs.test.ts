import { expect, test } from 'vitest';
import { connectMockServer, createMockServer, type StubOptions } from '../../../src/mock-server/index.ts';
import { mockWithKey, sender } from '../../helpers/mock-with-key.ts';

const EUR = { query: { base: 'EUR' } };

test.each<[string, StubOptions, { status: number; text: string; type?: string | null }]>([
  ['data', { data: [1] }, { status: 200, text: '{"success":true,"data":[1]}', type: 'application/json' }],
  [
    'an error',
    { status: 422, error: { code: 'unknown_currency', message: 'No XXX.' } },
    { status: 422, text: '{"success":false,"error":{"code":"unknown_currency","message":"No XXX.","status":422}}' },
  ],
  [
    'an error without a status',
    { error: { code: 'x' } },
    { status: 400, text: '{"success":false,"error":{"code":"x","message":"Bad Request","status":400}}' },
  ],
  [
    'a status alone',
    { status: 503 },
    {
      status: 503,
      text: '{"success":false,"error":{"code":"service_unavailable","message":"Service Unavailable","status":503}}',
    },
  ],
  ['a body of text', { body: 'down' }, { status: 200, text: 'down', type: 'text/plain; charset=utf-8' }],
  ['a body of JSON text', { body: '{"a":1.10}' }, { status: 200, text: '{"a":1.10}', type: 'application/json' }],
  ['a body as JSON', { body: { a: 1 } }, { status: 200, text: '{"a":1}', type: 'application/json' }],
  [
    'headers',
    { body: '<p>', headers: { 'Content-Type': 'text/html' } },
    { status: 200, text: '<p>', type: 'text/html' },
  ],
  ['no content', { status: 204 }, { status: 204, text: '', type: null }],
  ['no content and an empty body', { status: 204, body: '' }, { status: 204, text: '', type: null }],
  ['an empty body', { status: 404, body: '' }, { status: 404, text: '', type: null }],
  ['a redirect', { status: 301, headers: { location: '/x' } }, { status: 301, text: '', type: null }],
  ['a redirect with a body', { status: 302, body: 'moved' }, { status: 302, text: 'moved' }],
  ['a body of null', { body: null }, { status: 200, text: 'null', type: 'application/json' }],
  ['a body of false', { body: false }, { status: 200, text: 'false', type: 'application/json' }],
  ['a body of 0', { body: 0 }, { status: 200, text: '0', type: 'application/json' }],
  ['a body of a class with toJSON()', { body: new Date(0) }, { status: 200, text: '"1970-01-01T00:00:00.000Z"' }],
  ['data of null', { data: null }, { status: 200, text: '{"success":true,"data":null}' }],
])('a stub responds with %s', async (_, stub, { type, ...expected }) => {
  const { mock, send } = mockWithKey();
  mock.stubs.add(stub);

  const response = await send('/api/v1/latest', { redirect: 'manual' });

  expect(response).toMatchObject(expected);
  if (type !== undefined) expect(response.headers.get('content-type')).toBe(type);
});

test('a header of a stub can have several values, in process, over HTTP and after a restart', async () => {
  const { mock, key, send } = mockWithKey();
  await using server = await mock.serve();
  const stub = {
    body: 'x',
    headers: { 'Set-Cookie': ['a=1; Path=/', 'b=2'], 'X-Tag': 'one', 'x-tag': 'two', Link: '<a>' },
  };
  await connectMockServer(server.adminUrl).stubs.add(stub);
  mock.restore(JSON.parse(JSON.stringify(mock.snapshot())));

  const responses = [await send(), await sender({ baseUrl: server.url, fetch }, key)()];

  for (const { headers } of responses) {
    expect(headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect([headers.get('x-tag'), headers.get('link')]).toEqual(['one, two', '<a>']);
  }
  expect(mock.stubs.list()[0]?.responses).toMatchObject([{ headers: { 'set-cookie': ['a=1; Path=/', 'b=2'] } }]);
});

test('an empty body of a stub or a fault has a length of 0 over a socket, too', async () => {
  const { mock, key } = mockWithKey();
  await using server = await mock.serve();
  mock.stubs.add({ body: '' });
  mock.faults.add({ kind: 'status', status: 503, body: '', nth: 2 });
  const send = sender({ baseUrl: server.url, fetch }, key);

  for (const expected of [200, 503]) {
    const { status, headers } = await send();
    const [length, encoding] = [headers.get('content-length'), headers.get('transfer-encoding')];
    expect([status, length, encoding]).toEqual([expected, '0', null]);
  }
});

test('stubbed requests are authenticated, limited and counted', async () => {
  const { mock, id: keyId, send } = mockWithKey();
  mock.stubs.add({ match: { operation: 'latest' }, data: {} });
  expect((await send('/api/v1/latest', { headers: {} })).status).toBe(401);

  for (let request = 0; request < 30; request += 1) await send('/api/v1/latest');

  expect((await send('/api/v1/latest')).status).toBe(429);
  expect(mock.keys.get(keyId).month.used).toBe(30);
  expect(mock.stubs.list()[0]?.served).toBe(30);
});

test('the stub with the highest priority applies; of equal ones, the one added last', async () => {
  const { mock, send } = mockWithKey();
  mock.latest.set({ base: 'latest' });
  mock.stubs.add({ id: 'fallback', priority: -1, data: 'fallback' });
  const data = async (query = '') => (await send(`/api/v1/latest${query}`)).json().data;
  expect(await data()).toBe('fallback');
  mock.stubs.add({ id: 'important', priority: 2, match: EUR, data: 'important' });
  mock.stubs.add({ id: 'usual', data: 'usual' });
  mock.stubs.add({ id: 'newer', data: 'newer' });
  mock.stubs.add({ id: 'last', priority: -1, data: 'last' });

  expect([await data('?base=EUR'), await data()]).toEqual(['important', 'newer']);
  expect(mock.stubs.list().map(({ id, priority }) => [id, priority])).toEqual([
    ['latest', 0],
    ['fallback', -1],
    ['last', -1],
    ['usual', 0],
    ['newer', 0],
    ['important', 2],
  ]);
  const copy = createMockServer();
  copy.restore(JSON.parse(JSON.stringify(mock.snapshot())));
  copy.stubs.add({ id: 'late', data: 'late' });
  expect(copy.stubs.list().map(({ id }) => id)).toEqual([
    ...['latest', 'fallback', 'last', 'usual', 'newer', 'late', 'important'],
  ]);
  mock.stubs.add({ id: 'important', match: EUR, data: 'no longer' });
  mock.stubs.add({ id: 'newest', data: 'newest' });
  expect(await data('?base=EUR')).toBe('newest');
});

test('a stub responds for a path and a method that the service does not have', async () => {
  const { mock, id: keyId, send } = mockWithKey();
  mock.stubs.add({ match: { path: '/api/v1/no-operation' }, data: { amount: 5 } });
  mock.stubs.add({ match: { path: '/api/v1/no-alerts', method: 'POST', body: /EUR/ }, status: 201, data: { id: 1 } });

  expect((await send('/api/v1/no-operation?from=EUR')).status).toBe(200);
  expect((await send('/api/v1/no-alerts', { method: 'POST', body: '{"base":"EUR"}' })).status).toBe(201);
  expect((await send('/api/v1/no-alerts', { method: 'POST', body: '{"base":"USD"}' })).status).toBe(404);
  expect((await send('/api/v1/no-operation', { method: 'DELETE' })).status).toBe(404);
  expect(mock.keys.get(keyId).month.used).toBe(0);
  expect(mock.audit().unknownRoutes).toHaveLength(2);
});

test.each<[unknown, string]>([
  [undefined, 'stub is undefined; expected an object.'],
  [{}, 'stub is {}; expected data, error or body.'],
  [{ status: 299 }, 'stub is {"status":299}; expected data, error or body.'],
  [{ data: 1, body: 2 }, 'stub is {"data":1,"body":2}; expected at most one of data, error and body.'],
  [{ status: 99 }, 'status is 99; expected an HTTP status from 200 to 599.'],
  [{ statuss: 200 }, 'statuss is not a field of a stub; did you mean status? Valid names: id, match, status, '],
  [{ data: 1, priority: 1.5 }, 'priority is 1.5; expected a whole number; the stub with the highest one applies.'],
  [{ data: 1, times: 0 }, 'times is 0; expected a whole number of requests from 1.'],
  [{ data: 1, responses: [{ data: 2 }] }, 'responses is [{"data":2}]; expected either responses or data, not both.'],
  [{ responses: [] }, 'responses is []; expected an array of responses with status, '],
  [{ responses: [{ data: 1 }, 3] }, 'responses[1] is 3; expected an object.'],
  [{ responses: [{ data: 1 }, {}] }, 'responses[1] is {}; expected data, error or body.'],
  [{ responses: [{ body: () => 1 }] }, 'responses[0].body is a function; expected a string or a value that JSON'],
  [
    { responses: [{ statuss: 200 }] },
    'responses[0].statuss is not a field of responses[0]; did you mean status? Valid ',
  ],
  [{ error: 'x' }, 'error is "x"; expected an object with code and message.'],
  [{ error: { code: 5 } }, 'error.code is 5; expected text.'],
  [
    { body: 'x', headers: { 'content-length': '7' } },
    'headers is {"content-length":"7"}; expected an object of header',
  ],
  [{ body: 'x', headers: { 'x-a': 'b\nc' } }, 'headers is {"x-a":"b\\nc"}; expected an object of header names and '],
  [{ body: 'x', headers: { 'set-cookie': [] } }, 'headers is {"set-cookie":[]}; expected an object of header names'],
  [{ body: 'x', headers: { 'x-a': ['b', 1] } }, 'headers is {"x-a":["b",1]}; expected an object of header names and '],
  [{ status: 204, body: 'x' }, 'expected no data, error or body, because a response with status 204 has none.'],
  [{ status: 304, data: 1 }, 'expected no data, error or body, because a response with status 304 has none.'],
  [{ body: Buffer.from('hi') }, 'body is {"type":"Buffer","data":[104,105]}; expected a string or a value that JSON'],
  [{ data: new Map([['a', 1]]) }, 'data is {}; expected a string or a value that JSON can represent.'],
  [
    { data: { a: [Number.POSITIVE_INFINITY] } },
    'data is {"a":["Infinity"]}; expected a string or a value that JSON can',
  ],
  [{ data: 1, match: { keyId: 'key_99' } }, 'match.keyId is "key_99"; expected the id of a key of this mock'],
])('the stub %j is refused', (stub, message) => {
  const { mock } = mockWithKey();

  expect(() => mock.stubs.add(stub as StubOptions)).toThrow(message);
});

test('the delay of each response of a stub and that of a fault add up, by the clock of the mock', async () => {
  const { mock, send } = mockWithKey({ clock: 'virtual' });
  const start = mock.clock.now();
  mock.stubs.add({ responses: [{ data: 1, delayMs: 60_000 }, { data: 2 }, { data: 3, delayMs: 5000 }] });
  mock.faults.add({ kind: 'latency', latencyMs: 20 });
  const times = [];
  for (let request = 0; request < 3; request += 1) {
    await send('/api/v1/latest');
    times.push(mock.clock.now() - start);
  }

  expect(times).toEqual([60_020, 60_040, 65_060]);
});

test.each<StubOptions>([
  { match: { query: { base: /^eur$/i }, headers: { 'x-tag': 'a' } }, data: { rate: 1 }, times: 3, priority: 2 },
  { status: 422, error: { code: 'unknown_currency' } },
  { body: 'down', headers: { 'set-cookie': ['a=1', 'b=2'], 'x-tag': ['one', 'two'] }, delayMs: { min: 1, max: 2 } },
  { responses: [{ status: 503 }, { status: 204 }, { body: '' }] },
])('a stub that was read can be added again: %j', async (options) => {
  await using mock = createMockServer({ seed: 1 });
  const remote = connectMockServer((await mock.serve()).adminUrl);
  const added = mock.stubs.add({ id: 'x', ...options });

  expect(createMockServer().stubs.add(added)).toEqual(added);
  expect(await remote.stubs.add(await remote.stubs.get('x'))).toEqual(added);
  expect(createMockServer({ setup: { stubs: [added] } }).stubs.list()).toEqual([added]);
});

test('a stub whose times are used up can be read and removed, as a fault', async () => {
  const { mock, send } = mockWithKey();
  const { id } = mock.stubs.add({ data: {}, times: 1 });
  await send();

  expect([mock.stubs.get(id).served, mock.stubs.list().length]).toEqual([1, 1]);
  mock.stubs.remove(id);
  expect(mock.stubs.list()).toEqual([]);
});

test('a stub that was read starts with no requests', async () => {
  const { mock, send } = mockWithKey();
  const { id } = mock.stubs.add({ match: EUR, data: {}, times: 2 });
  await send('/api/v1/latest?base=EUR');

  expect(mock.stubs.add(mock.stubs.get(id)).served).toBe(0);
});

test('the journal shows the error code of an envelope in the body of a stub', async () => {
  const { mock, send } = mockWithKey();
  mock.stubs.add({ match: EUR, status: 422, body: { success: false, error: { code: 'unknown_currency' } } });
  mock.stubs.add({ match: { query: { base: 'USD' } }, status: 422, body: { error: { code: 7 } } });
  await send('/api/v1/latest?base=EUR');
  await send('/api/v1/latest?base=USD');

  expect(mock.journal.list().map(({ code }) => code)).toEqual(['unknown_currency', undefined]);
});

test('the function or the recording of a stub that was read cannot be added as a stub', () => {
  const { mock } = mockWithKey();
  mock.latest.set(() => ({}));

  expect(() => mock.stubs.add(mock.stubs.get('latest'))).toThrow(
    `kind is "function"; expected 'responses', because the others are added with mock.latest.`,
  );
});

test.each(['POST', 'DELETE', 'OPTIONS'])(
  'a stub for %s of an operation counts toward the minute alone',
  async (method) => {
    const { mock, id: keyId, send } = mockWithKey();
    mock.stubs.add({ match: { path: '/api/v1/latest', method }, data: {} });

    expect((await send('/api/v1/latest', { method })).status).toBe(200);
    const { minute, month } = mock.keys.get(keyId);
    expect([minute.used, month.used]).toEqual([1, 0]);
  },
);

test('HEAD gets the headers of the stub without its body', async () => {
  const { mock, send } = mockWithKey();
  mock.stubs.add({ body: 'four' });

  const { text, headers } = await send('/api/v1/latest', { method: 'HEAD' });

  expect([text, headers.get('content-length')]).toEqual(['', '4']);
});
