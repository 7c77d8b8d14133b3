import { createServer, type ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  connectMockServer,
  createMockServer,
  type MockServer,
  type RemoteMockServer,
  recordedRules,
} from '../../../src/mock-server/index.ts';
import { adminRoutes } from '../../../src/mock-server/server/routes.ts';
import { close, listen } from '../../helpers/listen.ts';
import { servedMock } from '../../helpers/served-mock.ts';

test('reads accounts and keys of the mock, including times', async () => {
  await using it = await servedMock();
  const { mock, remote } = it;

  const account = await remote.accounts.create({ email: 'ada@example.test', plan: 'developer' });
  await expect(remote.keys.create({ accountId: account.id })).rejects.toMatchObject({
    name: 'MockServerError',
    code: 'email_not_confirmed',
    status: 403,
  });
  await remote.accounts.confirm(account.id);
  const { id } = await remote.keys.create({ accountId: account.id });
  await remote.keys.setUsage(id, { month: 99 });

  expect(await remote.accounts.list()).toEqual(mock.accounts.list());
  expect(await remote.accounts.get(account.id)).toEqual(mock.accounts.get(account.id));
  expect(await remote.keys.list({ accountId: account.id })).toEqual(mock.keys.list());
  expect(await remote.keys.list({ limit: 1 })).toEqual(mock.keys.list().slice(-1));
  expect((await remote.keys.get(id)).month.used).toBe(99);
  await remote.keys.setUsage(id, { minute: 300 });
  expect((await remote.keys.get(id)).minute).toMatchObject({ used: 300, waitMs: 60_000 });
  expect(await remote.keys.revoke(id)).toEqual(mock.keys.get(id));
  expect((await remote.accounts.setPlan(account.id, 'free')).plan).toBe('free');
});

test.each(['fetch is a stub', 'msw refuses requests without a handler'])('reaches the mock while %s', async (what) => {
  await using it = await servedMock();
  await using other = createMockServer({ baseUrl: 'https://other.test' });
  if (what === 'fetch is a stub') vi.stubGlobal('fetch', async () => new Response('{"status":"stub"}'));
  else other.listen({ onUnhandledRequest: 'error' });

  const { id } = await it.remote.createKey();

  expect(it.mock.keys.get(id).month.used).toBe(0);
});

test.each(['{"now":1}', '<html>'])('a server that responds to everything with %s is not a mock', async (body) => {
  const server = createServer((_, outgoing) => outgoing.end(body));
  const port = await listen(server);
  onTestFinished(() => close(server));

  const reading = connectMockServer(`http://127.0.0.1:${port}/__fxrates/#token=${'a'.repeat(32)}`).clock.now();

  await expect(reading).rejects.toMatchObject({ code: 'no_mock_server', status: 200 });
});

test('moves, freezes and resumes the clock', async () => {
  await using it = await servedMock();
  const { clock } = it.remote;
  const start = it.mock.clock.now();
  it.mock.createKey();

  expect(await clock.advance(60_000)).toBe(start + 60_000);
  expect(await clock.advanceTo('quota-reset')).toBe(Date.UTC(2026, 1, 1));
  expect(await clock.advanceTo(new Date('2026-03-01'))).toBe(Date.UTC(2026, 2, 1));
  expect(await clock.now()).toBe(it.mock.clock.now());
  await expect(clock.advanceTo(0)).rejects.toMatchObject({ code: 'invalid_option', status: undefined });
  await clock.freeze();
  expect(it.mock.clock.isFrozen).toBe(true);
  await clock.resume();
  expect(it.mock.clock.isFrozen).toBe(false);
});

test('changes and describes switches', async () => {
  await using it = await servedMock();
  const { mock, remote } = it;

  await remote.behaviour.set({ rateWindow: 'token-bucket' });

  expect(mock.behaviour.values.rateWindow).toBe('token-bucket');
  expect(await remote.behaviour.values()).toEqual(mock.behaviour.values);
  expect((await remote.behaviour.describe()).map(({ name }) => name)).toEqual(
    mock.behaviour.describe().map(({ name }) => name),
  );
  await expect(remote.behaviour.set({ rateWindow: 'sliding' as never })).rejects.toThrow(/behaviour\.rateWindow is/);
});

test('reads and filters the journal, and waits for later requests', async () => {
  await using it = await servedMock();
  const { mock, remote, call } = it;
  const { key, id } = await remote.createKey({ plan: 'free' });
  const waiting = remote.journal.waitFor({ keyId: id, path: '/api/v1/latest' }, { count: 2, timeoutMs: 20_000 });

  await call(key);
  await call(key, '/api/v1/quota');
  await call('none');
  await call(key);

  expect((await waiting).map(({ number }) => number)).toEqual([1, 4]);
  expect((await remote.journal.list()).map(({ status }) => status)).toEqual([200, 200, 401, 200]);
  expect((await remote.journal.list({ status: 401 })).map(({ number }) => number)).toEqual([3]);
  expect((await remote.journal.list({ after: 2, limit: 1 })).map(({ number }) => number)).toEqual([3]);
  expect((await remote.journal.list({ limit: 1 })).map(({ number }) => number)).toEqual([4]);
  await expect(remote.journal.waitFor({}, { count: 9, timeoutMs: 0 })).rejects.toMatchObject({ code: 'wait_timeout' });
  expect(await remote.audit()).toEqual(JSON.parse(JSON.stringify(mock.audit())));
  await remote.journal.clear();
  expect(await remote.journal.list()).toEqual([]);
});

test('lists up to 1,000 requests of the journal', async () => {
  await using it = await servedMock();
  const { mock, remote } = it;
  for (let request = 0; request < 1001; request += 1) await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  const listed = await remote.journal.list();

  expect([listed.length, listed[0]?.number, await remote.journal.dropped()]).toEqual([1000, 2, 1]);
});

test('takes snapshots, restores them in this and another process, and resets', async () => {
  await using it = await servedMock();
  await using other = await servedMock();
  const { key } = await it.remote.createKey();
  await it.call(key);
  const saved = await it.remote.snapshot();
  expect(saved).toEqual(it.mock.snapshot());

  await it.remote.reset();
  expect((await it.call(key)).status).toBe(401);
  expect((await it.remote.createKey()).key).toBe(key);
  await it.remote.restore(saved);
  await other.remote.restore(saved);

  expect((await it.call(key)).status).toBe(200);
  expect((await other.call(key)).status).toBe(200);
});

test('each call of the table is a method or a value of the mock, and a method of the remote mock', async () => {
  await using it = await servedMock();
  const calls = adminRoutes.flatMap(({ calls = {} }) => Object.keys(calls));
  const OTHERS = ['openSpace', 'closeSpace', 'closeSpaces', 'verifyRequests'];
  const found = (mock: object, path: string) =>
    path.split('.').reduce((value: unknown, name) => Object(value)[name], mock);

  expect(calls.length).toBeGreaterThan(30);
  expect(new Set(calls).size).toBe(calls.length);
  for (const path of calls.filter((name) => !OTHERS.includes(name))) {
    expect([path, found(it.mock, path) === undefined]).toEqual([path, false]);
    expect([path, typeof found(it.remote, path)]).toEqual([path, 'function']);
  }
});

test.each<[string, number | undefined, (mock: MockServer | RemoteMockServer) => unknown]>([
  ['an invalid option', undefined, (mock) => mock.createKey({ plan: 'gold' as never })],
  ['an invalid snapshot', undefined, (mock) => mock.restore({} as never)],
  ['an unknown id', 404, (mock) => mock.keys.get('key_9')],
  ['a failed expectation', 422, (mock) => mock.expectRequests().toHaveCount(1)],
])('%s is the same error in process and remotely, with status %s', async (_, status, act) => {
  await using it = await servedMock();
  const errorOf = async (mock: MockServer | RemoteMockServer) => {
    const { message, code, field, status } = await Promise.resolve(mock)
      .then(act)
      .then(() => expect.fail(), Object);
    return { message, code, field, status };
  };

  const local = await errorOf(it.mock);

  expect(await errorOf(it.remote)).toEqual(local);
  expect(local.status).toBe(status);
});

test.each<[string, string | undefined, RegExp]>([
  ['nowhere', undefined, /^url is "nowhere"; expected the adminUrl/],
  ['localhost:4010/__fxrates/#token=secret', undefined, /^url is "localhost:4010\/__fxrates\/"; expected the adminUrl/],
  ['ws://127.0.0.1:4010/__fxrates/#token=secret', undefined, /^url is "ws:[^#]*"; expected the adminUrl/],
  ['http://127.0.0.1:4010', undefined, /^token is missing; pass the adminUrl/],
  ['http://127.0.0.1:4010/__fxrates/#token=', undefined, /^token is missing; pass the adminUrl/],
  ['http://127.0.0.1:4010/__fxrates/#token=secret%0A', undefined, /^token has a character other than [^']*$/],
  ['http://127.0.0.1:4010', 'secret\n', /^token has a character other than (?!.*secret)/],
])('rejects the URL %j with the token %j', (url, token, message) => {
  expect(() => connectMockServer(url, token)).toThrow(message);
});

test('accepts the admin URL with a line feed at its end, and the admin token', async () => {
  await using it = await servedMock();
  const { url, adminUrl, adminToken } = it.server;

  await expect(connectMockServer(url, 'wrong').clock.now()).rejects.toMatchObject({
    code: 'admin_token_required',
    status: 401,
  });
  expect(await connectMockServer(url, adminToken).clock.now()).toBe(it.mock.clock.now());
  expect(await connectMockServer(`${adminUrl}\n`).clock.now()).toBe(it.mock.clock.now());
});

const UNDEFINED = { query: { base: undefined } } as never;
const WITHOUT_VALUE = 'query is {}; expected a value for base, not undefined.';
const WITHOUT_JSON = 'expected a value that JSON can represent';

const SYMBOL = Symbol('base') as never;
const CYCLE: Record<string, unknown> = {};
CYCLE['self'] = CYCLE;
const BROKEN = {
  get USD() {
    throw new Error('broken');
  },
};

test.each<readonly [string, (remote: RemoteMockServer) => unknown, string]>([
  ['bytes', ({ rules }) => rules.add({ respond: { body: new Uint8Array([1]) } }), WITHOUT_JSON],
  ['NaN', ({ latest }) => latest.set({ rates: { USD: Number.NaN } }), WITHOUT_JSON],
  ['a bigint', ({ rules }) => rules.add({ respond: { data: { a: 1n } } }), WITHOUT_JSON],
  ['a symbol', ({ rules }) => rules.add({ match: { query: { base: SYMBOL } }, delayMs: 1 }), 'base is Symbol(base)'],
  ['a Map', ({ latest }) => latest.set({ rates: new Map([['USD', 1]]) }), `rates is {}; ${WITHOUT_JSON}`],
  ['a cyclic object', ({ rules }) => rules.add({ respond: { data: { a: CYCLE } } }), 'self is a value of type object'],
  ['a getter that throws', ({ rules }) => rules.add({ respond: { data: { rates: BROKEN } } }), 'rates is a value of'],
  ['a function', ({ setUp }) => setUp({ rules: [{ respond: () => ({ data: 1 }) }] }), WITHOUT_JSON],
  ['undefined in a rule', ({ rules }) => rules.add({ match: UNDEFINED, respond: { data: 1 } }), WITHOUT_VALUE],
  ['undefined in setup', ({ setUp }) => setUp({ rules: [{ match: UNDEFINED, respond: { data: 1 } }] }), WITHOUT_VALUE],
  ['undefined in a filter', ({ journal }) => journal.list(UNDEFINED), WITHOUT_VALUE],
  ['undefined in an expectation', ({ expectRequests }) => expectRequests(UNDEFINED).toHaveCount(0), WITHOUT_VALUE],
])('%s, which JSON would lose, is refused before it is sent', async (_, use, message) => {
  await using it = await servedMock();

  await expect((async () => use(it.remote))()).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  });
  expect(it.mock.rules.list()).toEqual([]);
});

test('an id that a URL cannot have is not found', async () => {
  await using it = await servedMock();

  for (const id of ['..', '\ud800']) await expect(it.remote.keys.get(id)).rejects.toMatchObject({ code: 'not_found' });
  await expect(it.remote.rules.add({ id: '..', respond: { data: 1 } })).rejects.toMatchObject({
    code: 'invalid_option',
    field: 'id',
  });
});

test('a server that does not run is named, with the reason', async () => {
  const server = await createMockServer().serve();
  const remote = connectMockServer(server.adminUrl);
  await server.close();

  await expect(remote.createKey()).rejects.toMatchObject({
    code: 'no_mock_server',
    message: `There is no server at ${server.url} (ECONNREFUSED); start one with fxrates mock.`,
  });
});

test.each<[string, (outgoing: ServerResponse) => unknown]>([
  ['nothing', () => undefined],
  ['no end of its headers', ({ socket }) => socket?.write('HTTP/1.1 200 OK\r\n')],
  ['no body', (outgoing) => outgoing.flushHeaders()],
  ['no end of its body', (outgoing) => outgoing.write('{')],
])(
  'a server that sends %s is named after 30 s, after a wait for requests or for the clock later',
  async (sent, respond) => {
    const { postMessage } = Worker.prototype;
    vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, message, ...others) {
      postMessage.call(this, { ...message, mostMs: message.mostMs / 1000 }, ...others); // the test does not wait as long
    });
    const server = createServer((__, outgoing) => void respond(outgoing));
    onTestFinished(() => server.close().closeAllConnections());
    const url = `http://127.0.0.1:${await listen(server)}`;
    const remote = connectMockServer(url, 'a'.repeat(32));
    const problem = (seconds: number) => ({
      code: 'no_mock_server',
      message: `The server at ${url} did not respond within ${seconds} s; pass the adminUrl of a running fxrates mock.`,
    });

    await expect(remote.clock.now()).rejects.toMatchObject(problem(30));
    await expect(remote.journal.waitFor()).rejects.toMatchObject(problem(40));
    await expect(remote.journal.waitFor({}, { timeoutMs: 5_000 })).rejects.toMatchObject(problem(35));
    await expect(remote.journal.waitFor({}, { timeoutMs: -1 })).rejects.toMatchObject(problem(30));
    if (sent === 'nothing') await expect(remote.clock.advance(1)).rejects.toMatchObject(problem(270));
  },
);

async function connected() {
  const served = await servedMock();
  const { key } = served.mock.createKey();
  return { ...served, call: (path?: string) => served.call(key, path) };
}

test('data, recordings, rules and setups as text keep their digits', async () => {
  await using it = await connected();
  const { latest, rules, setUp } = it.remote;
  const rateOf = async (query = '') =>
    /"rate":([\d.e]+)/.exec(await (await it.call(`/api/v1/latest${query}`)).text())?.[1];

  await latest.set('[{"rate":1.10},{"rate":1.20}]');
  await latest.set('{"rate":2.00}', { base: 'EUR' });
  expect([await rateOf(), await rateOf('?base=EUR'), await rateOf()]).toEqual(['1.10', '2.00', '1.20']);
  await latest.reset({ base: 'EUR' });
  expect(await rateOf('?base=EUR')).toBe('1.20');
  await setUp({ rules: recordedRules('{"base=EUR":{"rate":0.5}}\n{"base=EUR":{"rate":3.00}}\n') });
  expect(await rateOf('?base=EUR')).toBe('3.00');
  await latest.reset();
  expect(await rateOf()).toBeUndefined();
  await rules.add('{"respond":[{"body":{"rate":1e2}},{"data":{"rate":4.0}}]}' as never);
  expect([await rateOf(), await rateOf()]).toEqual(['1e2', '4.0']);
  await setUp('{"rules":[{"respond":{"data":{"rate":5.00}}}]}');
  expect(await rateOf()).toBe('5.00');
});

test('a remote space can be closed again, as one in process', async () => {
  await using it = await connected();
  const space = await it.remote.space({ name: 'invoices.v2' });

  expect(await space.keys.list()).toHaveLength(1);
  expect(await it.remote.closeSpaces()).toEqual(['invoices.v2']);
  await space.close();

  await it.server.close();
  await expect(space.close()).rejects.toMatchObject({ code: 'no_mock_server' });
});

const ALL_ROUTES = 'GET /__fxrates/openapi.json lists all routes.';

test.each([
  ['GET', '/rules/x', 'Rule "x" does not exist; the rules are rule_1, rule_2.'],
  ['DELETE', '/rules/a%20b', 'Rule "a b" does not exist; the rules are rule_1, rule_2.'],
  ['GET', '/requests/x', `This route does not exist; did you mean /__fxrates/requests? ${ALL_ROUTES}`],
  ['GET', '/journal', `This route does not exist; did you mean /__fxrates/requests? ${ALL_ROUTES}`],
  ['GET', '/journal/list', `This route does not exist; did you mean /__fxrates/requests? ${ALL_ROUTES}`],
  ['POST', '/createKey', `This route does not exist; did you mean /__fxrates/keys? ${ALL_ROUTES}`],
  ['GET', '/spaces/a/rule', `This route does not exist; did you mean /__fxrates/spaces/a/rules? ${ALL_ROUTES}`],
  ['GET', '/spaces/a/journal', `This route does not exist; did you mean /__fxrates/spaces/a/requests? ${ALL_ROUTES}`],
  ['GET', '/nothing', `This route does not exist; ${ALL_ROUTES}`],
  ['GET', '/keys/key_9', 'Key "key_9" does not exist; the only key is key_1.'],
  ['GET', '/accounts/x', 'Account "x" does not exist; the only account is account_1.'],
  ['DELETE', '/spaces/x', 'Space "x" does not exist or is closed; the only space is space_1.'],
])('%s %s is a 404 that names what exists', async (method, path, message) => {
  await using it = await connected();
  const { mock, call, admin } = it;
  for (const data of [1, 2]) mock.rules.add({ respond: { data } });
  mock.space();
  await call();
  await call();

  expect(await admin(method, path)).toMatchObject({ status: 404, body: { error: { code: 'not_found', message } } });
});

test('signs up, confirms the address, and creates a key that is shown once', async () => {
  await using it = await servedMock();

  const account = await it.admin('POST', '/accounts', { email: 'ada@example.test', plan: 'developer' });
  expect(account.body).toMatchObject({ id: 'account_1', confirmed: false });
  expect((await it.admin('POST', '/accounts/account_1/confirm')).body.confirmed).toBe(true);

  const created = await it.admin('POST', '/accounts/account_1/keys');
  const { key, id } = created.body;
  expect(key).toMatch(/fx_live_[0-9a-f]{48}/);
  expect((await it.call(key, '/api/v1/quota')).status).toBe(200);
  for (const path of ['/keys', `/keys/${id}`, '/state']) {
    const { text } = await it.admin('GET', path);
    expect(text).toContain(key.slice(-4));
    expect(text).not.toMatch(/fx_live_[0-9a-f]{48}/);
  }
});
