import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import type { RunningServer } from '../../../src/mock-server/index.ts';
import { createGate, refuseForeignHost } from '../../../src/mock-server/server/gate.ts';
import { adminRoutes } from '../../../src/mock-server/server/routes.ts';
import { close, listen } from '../../helpers/listen.ts';
import { byNodeHttp, type PlainRequest } from '../../helpers/mock-adapters.ts';
import { servedMock } from '../../helpers/served-mock.ts';

/** Sends with node:http, which does not change path and Host. */
async function send(url: string, target: string, request: Omit<PlainRequest, 'target'> = {}) {
  const { status, headers, body: text } = await byNodeHttp(url)({ target, ...request });
  return { status, code: /"code":"(\w+)"/.exec(text)?.[1], headers, text };
}

function bearer({ adminToken }: RunningServer, more: Readonly<Record<string, string>> = {}) {
  return { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json', ...more };
}

/** Is shared by the tests of requests that change nothing. */
const it = await servedMock({ behaviour: { cors: 'any-origin' } });
afterAll(() => it.mock.close());

test('a bundle without the files of the admin API says so in each response of it', async () => {
  const load = () => Promise.reject(new Error('Cannot find module ./admin-server.js'));
  const gate = createGate({ token: 'x', load, host: '127.0.0.1', allowRemote: false, scheme: 'http' });
  const server = createServer(gate);
  const url = `http://127.0.0.1:${await listen(server)}`;

  const responses = [await send(url, '/__fxrates/health'), await send(url, '/__fxrates/rules')];
  await close(server);

  const text = expect.stringContaining('Cannot find module ./admin-server.js');
  expect(responses).toMatchObject([
    { status: 500, code: 'internal_error', text },
    { status: 500, code: 'internal_error', text },
  ]);
});

test('every route except health requires the admin token', async () => {
  await using it = await servedMock();
  const other = await it.mock.serve();
  const { key } = it.mock.createKey();
  const before = it.mock.snapshot();
  const unknown = { method: 'GET', path: '/nothing', isOpen: false };

  for (const { method, path, isOpen = false } of [...adminRoutes, unknown]) {
    const target = `/__fxrates${path.replace(/\{\w+\}/g, 'x')}`;
    for (const authorization of [
      '',
      'Bearer',
      'Bearer x',
      `Bearer ${key}`,
      `Bearer ${other.adminToken}`,
      it.server.adminToken,
    ]) {
      const { status, code } = await send(it.server.url, target, { method, headers: { authorization } });
      expect([target, status, code]).toEqual(isOpen ? [target, 200, undefined] : [target, 401, 'admin_token_required']);
    }
  }
  expect(it.mock.snapshot()).toEqual(before);
  expect(it.server.adminToken).toMatch(/^[\w-]{43}$/);
  expect((await it.mock.fetch(`${it.mock.baseUrl}/__fxrates/health`)).status).toBe(404);
});

test.each([
  ['DELETE', '/requests'],
  ['DELETE', '/rules'],
  ['POST', '/reset'],
])('%s %s responds with 204 without a length, and the connection stays usable', async (method, path) => {
  const { hostname, port } = new URL(it.server.url);
  const socket = connect(Number(port), hostname);
  const head = `HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${it.server.adminToken}\r\n`;

  socket.write(`${method} /__fxrates${path} ${head}\r\nGET /__fxrates/health ${head}connection: close\r\n\r\n`);
  const [first = '', second] = (await text(socket)).split(/(?<=\r\n\r\n)(?=HTTP)/);

  expect(first).toMatch(/^HTTP\/1.1 204 /);
  expect(first).not.toMatch(/^(?:content-length|content-type|transfer-encoding):/im);
  expect(second).toContain('{"status":"ok"}');
});

test('HEAD responds as GET does, without a body', async () => {
  for (const path of ['/health', '/clock', '/requests', '/']) {
    const { status, headers, text } = await send(it.server.url, `/__fxrates${path}`, {
      method: 'HEAD',
      headers: bearer(it.server),
    });
    expect([path, status, text]).toEqual([path, 200, '']);
    expect(headers['content-type']).toMatch(/json|html/);
  }
  expect((await send(it.server.url, '/__fxrates/health', { method: 'HEAD' })).status).toBe(200);
  expect((await send(it.server.url, '/__fxrates/clock', { method: 'HEAD' })).status).toBe(401);
  const wrong = await send(it.server.url, '/__fxrates/clock', { method: 'DELETE', headers: bearer(it.server) });
  expect([wrong.status, wrong.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
});

const LOOPBACK = { host: undefined, allowRemote: false };
const REMOTE = { host: 'Mock.Example', allowRemote: true };

test.each([
  ...['localhost', 'LOCALHOST:8080', '127.0.0.1:80', '[::1]', '[::1]:4010'].map((host) => [host, LOOPBACK] as const),
  ...['Mock.Example:4010', 'mock.example', 'my_mock', 'mock.test'].map((host) => [host, REMOTE] as const),
  ...['host.docker.internal:4010', 'mock.default.svc.cluster.local'].map((host) => [host, REMOTE] as const),
])('the Host %s is one of the server with %j', (host, names) => {
  expect(refuseForeignHost({ host }, { ...names, scheme: 'http' })).toBeUndefined();
});

test.each([
  ...['mock:4010', 'evil.example', 'evil.example:80', 'localhost.evil.example'].map(
    (host) => [host, LOOPBACK] as const,
  ),
  ...['127.0.0.1.evil.example', 'x@127.0.0.1', 'localhost@evil.example', 'evil-localhost', ''].map(
    (host) => [host, LOOPBACK] as const,
  ),
  ...['other.example', 'mock.evil.example:4010', 'internal.example', 'mock.local', ''].map(
    (host) => [host, REMOTE] as const,
  ),
])('the Host %s is foreign to the server with %j', (host, names) => {
  expect(refuseForeignHost({ host }, { ...names, scheme: 'http' })).toMatchObject({
    status: 403,
    code: 'foreign_host',
  });
});

test.each([
  ['127.0.0.1', 'https://evil.example'],
  ['127.0.0.1', 'null'],
  ['127.0.0.1', 'http://127.0.0.1:1'],
  ['127.0.0.1', 'https://127.0.0.1'],
  // As behind a proxy that ends TLS.
  ['mock.internal', 'https://mock.internal'],
])(
  'under the Host %s, a page of the origin %s needs the admin token, and its preflight fails',
  async (host, origin) => {
    await using it = await servedMock({ behaviour: { cors: 'any-origin' } }, { host: '0.0.0.0', allowRemote: true });
    const reset = async (headers: Readonly<Record<string, string>>, method = 'POST') => {
      const sent = await send(it.server.url, '/__fxrates/reset', { method, headers: { host, origin, ...headers } });
      expect(sent.headers['access-control-allow-origin']).toBeUndefined();
      return [sent.status, sent.code];
    };
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };

    for (const headers of [{}, { authorization: 'Bearer x' }, { cookie: `token=${it.server.adminToken}` }]) {
      expect(await reset(headers)).toEqual([403, 'foreign_origin']);
    }
    expect(await reset(preflight, 'OPTIONS')).toEqual([403, 'foreign_origin']);
    expect(await reset(bearer(it.server))).toEqual([204, undefined]);
  },
);

test('a page of the own origin needs the admin token', async () => {
  const statusOf = async (headers: Readonly<Record<string, string>>) =>
    (await send(it.server.url, '/__fxrates/clock', { headers: { origin: it.server.url, ...headers } })).status;

  expect([await statusOf({}), await statusOf(bearer(it.server))]).toEqual([401, 200]);
});

const TEXT = { 'content-type': 'text/plain' };
const noJson = (message: string) => ({ code: 'invalid_json', message });

test.each([
  ['POST', '/clock', '{\n 1}', {}, 400, noJson('The body is not JSON; it is wrong at line 2, column 2.')],
  ['PUT', '/latest', Buffer.from('{"a":"\xff"}', 'latin1'), {}, 400, noJson('The body is not valid UTF-8.')],
  ['PUT', '/latest', Buffer.from('{}', 'utf16le'), {}, 400, noJson('The body is UTF-16; send it as UTF-8.')],
  [
    'POST',
    '/clock',
    '[]',
    {},
    400,
    { code: 'invalid_option', message: 'body is []; expected an object.', field: 'body' },
  ],
  ['POST', '/clock', 'advanceMs=1', TEXT, 415, expect.objectContaining({ code: 'json_required' })],
])('%s %s refuses the body %j and changes nothing', async (method, path, body, more, status, error) => {
  const before = it.mock.snapshot();

  const headers = bearer(it.server, more);
  const refused = await fetch(`${it.server.url}/__fxrates${path}`, { method, headers, body });

  expect([refused.status, await refused.json()]).toEqual([status, { error }]);
  expect(it.mock.snapshot()).toEqual(before);
});

/** Sends a request whose body never ends, and returns the response. */
async function endless(url: string, target: string, headers: Readonly<Record<string, string>>) {
  const outgoing = request(url + target, { method: target.endsWith('health') ? 'GET' : 'PUT', headers, agent: false });
  outgoing.write('{');
  const [incoming] = await once(outgoing, 'response');
  const body = await text(incoming);
  outgoing.destroy();
  return { status: incoming.statusCode, code: /"code":"(\w+)"/.exec(body)?.[1] };
}

test.each([
  ['/health', false, 400, 'invalid_option'],
  ['/state', false, 401, 'admin_token_required'],
  ['/latest', false, 401, 'admin_token_required'],
  ['/nothing', false, 401, 'admin_token_required'],
  ['/nothing', true, 404, 'not_found'],
  ['/clock', true, 405, 'method_not_allowed'],
])('%s, with the token: %s, responds %i before the body ends', async (path, isTrusted, status, code) => {
  const headers = isTrusted ? bearer(it.server) : {};

  for (const sent of [{ 'content-length': '1000000000' }, { 'transfer-encoding': 'chunked' }]) {
    const received = await endless(it.server.url, `/__fxrates${path}`, { ...headers, ...sent });
    expect(received).toEqual({ status, code });
  }
});

test.each([
  ['POST', '/requests/verify'],
  ['DELETE', '/requests'],
  ['POST', '/rules'],
  ['PUT', '/state'],
])('%s %s refuses a body of more than 256 KiB unread', async (method, path) => {
  const sent = await send(it.server.url, `/__fxrates${path}`, {
    method,
    headers: bearer(it.server, { 'content-length': String(256 * 1024 + 1) }),
  });

  expect(sent).toMatchObject({ status: 413, code: 'content_too_large' });
  expect(sent.text).toContain('larger than 262144 bytes');
  expect(sent.text).toContain('start the server with it: fxrates mock with --setup, --replay or --state');
});

test.each([
  ['POST', '/rules', '{', 'rule is "{"; expected a rule as JSON.'],
  ['PUT', '/latest', '{', 'latest is "{"; expected an object'],
  ['POST', '/rules', JSON.stringify('x_'.repeat(100_000)), 'rule is "x_x_'],
  ['POST', '/rules', `{"${'x_'.repeat(100_000)}":1}`, 'is not a field of a rule'],
  ['POST', '/setup', JSON.stringify({ keys: Array(90_000).fill(1) }), 'keys has 90000 entries'],
  ['POST', '/setup', JSON.stringify({ keys: [Array(90_000).fill(1)] }), 'keys[0] is [1,1,1'],
])('%s %s names what is wrong with a body, and no more than a line of it', async (method, path, body, message) => {
  const sent = await it.admin(method, path, body);

  expect(sent).toMatchObject({ status: 400, body: { error: { code: 'invalid_option' } } });
  expect(sent.body.error.message).toContain(message);
  expect(sent.text.length).toBeLessThan(1_000);
});

const SPACES = ' '.repeat(9 * 1024 * 1024);
const sized = (text: string) => `content-length: ${text.length}\r\n\r\n${text}`;
const chunked = (text: string) => `transfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`;

test.each([
  ['/setup', 'of too many bytes', sized(SPACES)],
  ['/setup', 'of too many bytes in chunks', `${chunked(SPACES)}0\r\n\r\n`],
  ['/setup', 'of too many bytes before its end', chunked(SPACES)],
  ['/clock', 'in chunks of one byte before its end', chunked('1') + '1\r\n1\r\n'.repeat(256 * 1024)],
])('%s refuses a body %s, also for a client that reads nothing while it sends', async (path, _, content) => {
  const socket = connect(it.server.port, '127.0.0.1');
  const head = Object.entries(bearer(it.server, { host: '127.0.0.1', connection: 'close' }));

  socket.write(`POST /__fxrates${path} HTTP/1.1\r\n${head.map((pair) => `${pair.join(': ')}\r\n`).join('')}`);
  await new Promise<void>((resolve, reject) => socket.write(content, (error) => (error ? reject(error) : resolve())));
  const [received] = await once(socket, 'data');

  expect(String(received)).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});

test.each([
  ['PUT', '/behaviour', 'PATCH'],
  ['POST', '/state', 'PUT'],
  ['PUT', '/keys', 'POST'],
  ['PATCH', '/clock', 'POST'],
])('%s %s is refused with the name of the method %s', async (method, path, meant) => {
  const { status, body } = await it.admin(method, path, {});

  expect(status).toBe(405);
  expect(body.error.message).toMatch(new RegExp(`^This route accepts only .*${meant}`));
});

test('a body may have a byte order mark', async () => {
  await using it = await servedMock();
  const { key } = it.mock.createKey();

  expect((await it.admin('PUT', '/latest', '\uFEFF{"USD":1.10}')).status).toBe(204);

  expect(await (await it.call(key)).text()).toBe('{"success":true,"data":{"USD":1.10}}');
});

test.each([
  ['POST', '/clock', { advanceMs: 1, advanceSeconds: 1 }, 'advanceSeconds'],
  ['POST', '/clock', { advanceTo: 'tomorrow' }, 'advanceTo'],
  ['POST', '/reset', { hard: true }, 'hard'],
  ['PATCH', '/behaviour', { freeMaxActiveKeys: 0 }, 'behaviour.freeMaxActiveKeys'],
  ['POST', '/accounts', { mail: 'a@b' }, 'mail'],
  ['POST', '/requests/wait', { count: 0 }, 'count'],
  ['GET', '/requests?keyid=key_1', undefined, 'keyid'],
  ['GET', '/clock?at=1', undefined, 'at'],
  ['PUT', '/latest?base=EUR&base=USD', { rates: {} }, 'base'],
  ['DELETE', '/requests', { all: true }, 'all'],
  ['POST', '/spaces', { name: '../etc' }, 'name'],
  ['POST', '/spaces', { name: '..' }, 'name'],
  ['POST', '/spaces', { name: 'a'.repeat(65) }, 'name'],
  ['POST', '/rules', { match: { path: '/__fxrates/*' }, delayMs: 1 }, 'match.path'],
  ['POST', '/rules', { match: { path: '/a#b' }, delayMs: 1 }, 'match.path'],
])('%s %s with %j is refused with the field, and changes nothing', async (method, path, body, field) => {
  const before = it.mock.snapshot();

  const sent = await it.admin(method, path, body);

  expect([sent.status, sent.body.error.field]).toEqual([400, field]);
  expect(it.mock.snapshot()).toEqual(before);
});

const CLAIM = 'count, atLeast, atMost, inOrder, filter';
test.each<[string, unknown, string]>([
  [
    '/requests/verify',
    { operation: 'latest' },
    `operation is not a field of the body; did you mean filter.operation? Valid names: ${CLAIM}.`,
  ],
  ['/requests/find', { query: {} }, 'query is not a field of the body; did you mean filter.query? Valid names: filter'],
  ['/requests/wait', { code: 'x', count: 1 }, 'code is not a field of the body; did you mean filter.code? Valid names'],
  ['/requests/find', { filter: { codes: 1 } }, 'filter.codes is not a field of filter; did you mean code? Valid'],
  ['/requests/verify', { filter: {} }, 'body is {"filter":{}}; expected count, atLeast, atMost or inOrder.'],
  ['/requests/verify', { count: 3, atLeast: 2 }, 'expected either count, or atLeast and atMost.'],
  ['/requests/find', { limit: 0 }, 'limit is 0; expected a whole number from 1 to 1000.'],
  ['/requests/wait', { timeoutMs: 300_000 }, 'timeoutMs is 300000; expected whole milliseconds from 0 to 240000.'],
  ['/clock', { advanceMs: -1 }, 'advanceMs is -1; expected whole milliseconds from 0.'],
  ['/clock', { advanceMs: 1.5 }, 'advanceMs is 1.5; expected whole milliseconds from 0.'],
  ['/clock', { advanceTo: 1.5e12 + 0.5 }, 'or whole milliseconds since 1970.'],
  ['/clock', { advanceTo: null }, "advanceTo is null; expected 'quota-reset', 'next-window', a Date, an ISO 8601 date"],
  ['/clock', {}, 'body is {}; expected exactly one of advanceMs, advanceTo and frozen.'],
])('POST %s with %j names the field and the alternatives', async (path, body, message) => {
  const sent = await it.admin('POST', path, body);

  expect(sent).toMatchObject({ status: 400, body: { error: { code: 'invalid_option' } } });
  expect(sent.body.error.message).toContain(message);
});

test.each([
  '/api/v1/../../__fxrates/state',
  '/api/v1/..%2f..%2f__fxrates/state',
  '//__fxrates/state',
  '/./__fxrates/state',
  '/%5f%5ffxrates/state',
  '/__FXRATES/state',
  '/__fxratesx/state',
  '/panel/../__fxrates/state',
  '/api//../__fxrates/state',
  '/api%2f..%2f__fxrates/state',
  '/api/v1/quota?/__fxrates/state',
  '/api/v1/quota#/__fxrates/state',
])('%s is always a request to the emulated service', async (path) => {
  const sent = await send(it.server.url, path, { headers: bearer(it.server) });

  expect([401, 404]).toContain(sent.status);
  expect(sent.text).not.toContain('"version":1');
});

test.each(['/__fxrates/../api/v1/latest', '/__fxrates//api/v1/latest', '/__fxrates/%2e%2e/api/v1/latest'])(
  '%s never reaches the emulated service',
  async (path) => {
    await using it = await servedMock();
    const { key } = it.mock.createKey();

    const sent = await send(it.server.url, `${path}?api_key=${key}`, { headers: bearer(it.server) });

    expect(sent.status).toBe(404);
    expect(it.mock.journal.list()).toEqual([]);
  },
);

test('without the token, known and unknown names of spaces get the same response', async () => {
  await using it = await servedMock();
  it.mock.space({ name: 'known' });

  const sent = await Promise.all(
    ['known/health', 'unknown/health', 'known/keys', 'unknown/keys', 'unknown/nothing'].map((path) =>
      send(it.server.url, `/__fxrates/spaces/${path}`, {}),
    ),
  );

  expect(new Set(sent.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(sent[0]?.status).toBe(401);
});
