import { expect, test } from 'vitest';
import {
  connectMockServer,
  createMockServer,
  type MockServerOptions,
  type RequestExpectation,
  type RuleOptions,
} from '../../../src/mock-server/index.ts';
import { mockWithKey, STILL } from '../../helpers/mock-with-key.ts';
import { errorOf } from '../../helpers/test-client.ts';

/** A mock that received three requests. */
async function asked() {
  const { mock, id, key } = mockWithKey();
  const send = (target: string, headers = {}) => mock.fetch(mock.baseUrl + target, { headers });
  await send('/api/v1/latest', { authorization: key });
  await send(`/api/v1/quota?api_key=${key}`);
  await send('/api/v1/quota');
  return { mock, id, key, send };
}

test('accepts the id of a key that was revoked', async () => {
  const { mock, id } = await asked();
  mock.keys.revoke(id);

  mock.expectRequests({ keyId: id }).toHaveCount(2);
});

test('waits for requests, including those already received', async () => {
  const { mock, send } = await asked();

  const waiting = mock.journal.waitFor({ operation: 'quota' }, { count: 3, timeoutMs: 600_000 });
  await send('/api/v1/latest');
  await send('/api/v1/quota');

  const found = await waiting;
  expect(found.map(({ number }) => number)).toEqual([2, 3, 5]);
  expect(await mock.journal.waitFor()).toHaveLength(4 + 1);
  await send('/api/v1/quota');
  expect(found).toHaveLength(3); // later requests are not added
});

test('rejects after timeoutMs with a list of all received requests', async () => {
  const { mock } = await asked();

  await expect(mock.journal.waitFor({ status: 429 }, { timeoutMs: 0 })).rejects.toMatchObject({
    code: 'wait_timeout',
    message: expect.stringMatching(/^0 of 1 requests arrived within 0 ms\. Received requests:\n {2}#1 GET/),
  });
});

test.each(['mock', 'space'] as const)('a wait ends when its %s is closed, so the process can end', async (kind) => {
  const mock = createMockServer();
  const scope = kind === 'mock' ? mock : mock.space({ name: 'one' });
  const waiting = expect(scope.journal.waitFor({}, { timeoutMs: 600_000 })).rejects.toMatchObject({
    code: 'mock_closed',
    message: expect.stringMatching(/^0 of 1 requests arrived before the mock or the space was closed\./),
  });

  await scope.close();

  await waiting;
  if (kind === 'space') await expect(scope.journal.waitFor()).rejects.toMatchObject({ code: 'mock_closed' });
  await mock.close();
});

test('waits on a closed mock end at once, until it is opened again', async () => {
  const { mock, send } = mockWithKey();
  const space = mock.space();
  await mock.close();

  const closed = { code: 'mock_closed' };
  await expect(mock.journal.waitFor({}, { timeoutMs: 600_000 })).rejects.toMatchObject(closed);
  await expect(space.journal.waitFor({}, { timeoutMs: 600_000 })).rejects.toMatchObject(closed);
  for (const rule of [{ delayMs: 1000 }, { fail: { kind: 'hang' } }] as const) {
    mock.rules.clear();
    mock.rules.add(rule);
    await expect(send()).rejects.toThrow('fetch failed');
    expect(mock.journal.list().at(-1)).toMatchObject({ status: 0 });
  }

  await using _ = await mock.serve();
  mock.journal.clear();
  mock.rules.clear();
  const arrived = mock.journal.waitFor();
  await send();
  expect(await arrived).toHaveLength(1);
});

test.each([
  ['count', 0, 'count is 0; expected a whole number from 1.'],
  ['count', 1.5, 'count is 1.5; expected'],
  ['timeoutMs', -1, 'timeoutMs is -1; expected whole milliseconds from 0.'],
  ['timeoutMs', Number.POSITIVE_INFINITY, 'timeoutMs is Infinity; expected'],
])('waitFor() rejects the %s %j', async (field, value, message) => {
  const { mock } = await asked();

  const waiting = mock.journal.waitFor({}, { [field]: value });

  await expect(waiting).rejects.toMatchObject({
    code: 'invalid_option',
    field,
    message: expect.stringContaining(message),
  });
});

test.each<[MockServerOptions['clock'], 'fetch' | 'clientOptions', string | undefined]>([
  [STILL, 'fetch', "advance the clock of the mock, or use clock 'real'"],
  [{ mode: 'real', frozen: true }, 'fetch', 'advance the clock of the mock, or resume it'],
  ['real', 'fetch', undefined],
  [STILL, 'clientOptions', undefined],
  [{ mode: 'real', frozen: true }, 'clientOptions', undefined],
])('a refusal that is early by the clock %j has the hint for %s: %s', async (clock, by, hint) => {
  const { mock, key, id } = mockWithKey({ clock });
  const { fetch } = by === 'fetch' ? mock : mock.clientOptions();
  mock.keys.setUsage(id, { minute: 30 });
  const send = async () => void (await fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: key } }));
  await send();

  await send();

  const { why, earlyByMs } = mock.journal.list().at(-1) ?? {};
  expect(earlyByMs).toBeGreaterThan(0);
  expect(why?.split('if the client waited in real time, ')[1]).toBe(hint);
});

test('the audit lists keys in URLs, early requests and unknown paths', async () => {
  const { mock, key, send } = await asked();
  await send('/api/v1/latests', { authorization: key });
  await send(`/api/v1/quota?x=${key}`, { authorization: key });
  for (let request = 0; request < 30; request += 1) await send('/api/v1/latest', { authorization: key });
  await mock.clock.advance(59_000);
  await send('/api/v1/latest', { authorization: key });

  const { keysInUrls, earlyRetries, unknownRoutes, ...rest } = mock.audit();

  expect(rest).toEqual({ requests: 36, dropped: 0 });
  expect(keysInUrls.map(({ number }) => number)).toEqual([2, 5]);
  expect(earlyRetries.at(-1)).toMatchObject({ number: 36, earlyByMs: 1000 });
  expect(unknownRoutes.map(({ number, why }) => [number, why])).toEqual([
    [4, 'There is no such endpoint; did you mean /api/v1/latest?'],
  ]);
  expect(JSON.stringify(mock.audit())).not.toContain(key.slice(-12));
});

test.each([
  ['/api/v1/lates', '/api/v1/latest'],
  ['/api/v1/latest/', '/api/v1/latest'],
  ['/API/V1/Quota', '/api/v1/quota'],
  ['//api//v1/quota', '/api/v1/quota'],
  ['/latest', '/api/v1/latest'],
  ['/v1/quota', '/api/v1/quota'],
  ['/api/v2/latest', '/api/v1/latest'],
  ['/api/v1/qouta', '/api/v1/quota'],
  ['/api/v1/api/v1/quota', '/api/v1/quota', '/api/v1'],
  ['/gateway/api/v1/latest', '/api/v1/latest', '/gateway'],
  ['/gateway//api/v1/latest/', '/api/v1/latest', '/gateway'],
  ['/', undefined],
  ['/api', undefined],
  ['/api/v1/nothing/at/all', undefined],
  [`/api/${'x'.repeat(10_000)}`, undefined],
])('for %s the nearest path is %s', async (path, nearest?: string, before?: string) => {
  const mock = createMockServer();

  await mock.fetch(mock.baseUrl + path);

  const advice = before === undefined ? '' : ` The base URL of the client must not end with "${before}".`;
  const suggestion = nearest === undefined ? '.' : `; did you mean ${nearest}?${advice}`;
  expect(mock.journal.list()[0]?.why).toBe(`There is no such endpoint${suggestion}`);
});

test.each(['/journal', '/requests', '/RULES/', '/spaces/a/keys', '/__fxrates/clock', `/${'x'.repeat(10_000)}`])(
  'the reason for an unknown path outside the API names the place of the admin API: %s',
  async (path) => {
    const mock = createMockServer();

    await mock.fetch(mock.baseUrl + path);

    expect(mock.journal.list()[0]?.why).toBe(
      'There is no such endpoint; a served mock has its admin API below /__fxrates.',
    );
  },
);

const UNKNOWN = { path: '/api/v1/conversions' };

test.each<[string, RuleOptions['match'], string, string]>([
  ['query', { ...UNKNOWN, query: { base: 'EUR' } }, 'GET', "query.base: 'USD', expected 'EUR'"],
  ['header', { ...UNKNOWN, headers: { 'x-a': '1' } }, 'GET', "headers.x-a: absent, expected '1'"],
  ['method', UNKNOWN, 'POST', "method: 'POST', expected 'GET'"],
  ['method of the pattern', { ...UNKNOWN, method: 'PUT' }, 'GET', "method: 'GET', expected 'PUT'"],
])('the reason for an unknown path names a rule that differs in its %s', async (_, match, method, text) => {
  const { mock, key } = await asked();
  mock.rules.add({ match, respond: { data: {} } });
  const headers = { authorization: key };

  const response = await mock.fetch(`${mock.baseUrl}/api/v1/conversions?base=USD`, { method, headers });

  expect(response.status).toBe(404);
  expect(await response.text()).not.toContain('rule_1');
  expect(mock.journal.list().at(-1)?.why).toBe(`There is no such endpoint. rule_1 differs in ${text}.`);
});

test('the reason for a response names no rule that is not close, or belongs to an operation', async () => {
  const { mock, key, send } = await asked();
  mock.rules.add({ match: { path: '/api/v1/other', method: 'PUT' }, respond: { data: {} } });
  mock.rules.add({ match: { operation: 'latest', query: { base: 'EUR' } }, respond: { data: {} } });

  await send('/api/v1/conversions?base=USD', { authorization: key });
  await send('/api/v1/latest?base=USD', { authorization: key });

  expect(
    mock.journal
      .list()
      .map(({ why }) => why)
      .slice(-2),
  ).toEqual(['There is no such endpoint.', 'served']);
});

test('a message with all twenty requests mentions no older ones', async () => {
  const { mock, send } = await asked();
  for (let call = 3; call < 20; call += 1) await send('/api/v1/quota');

  expect(() => mock.expectRequests().toHaveCount(1)).toThrow('got 20. Received requests:\n  #1 GET');
});

test('lists the matching requests if there are too many', async () => {
  const { mock, send } = await asked();
  for (let request = 0; request < 25; request += 1) await send('/api/v1/quota');

  expect(() => mock.expectRequests({ status: 200 }).toHaveCount(1)).toThrow(
    [
      'Expected 1 request that matches {"status":200}, got 2. Matching requests:',
      '  #1 GET /api/v1/latest 200, key_1: served',
      '  #2 GET /api/v1/quota?api_key=fx_live_… 200, key_1: served',
    ].join('\n'),
  );
  expect(() => mock.expectRequests({ operation: 'quota' }).atMost(25)).toThrow(
    /^Expected at most 25 requests .*, got 27\. Matching requests:\n {2}\(7 older\)\n {2}#9 GET (?:.*\n){19}.*$/,
  );
});

/** A mock that received a request for the quota, then for USD, then for EUR without a key. */
async function askedForRates(options = {}) {
  const { mock, send } = mockWithKey(options);
  await send('/api/v1/quota');
  await send('/api/v1/latest?base=USD');
  await mock.fetch(`${mock.baseUrl}/api/v1/latest?base=EUR`);
  return mock;
}

const latest = { operation: 'latest' } as const;
const base = (code: string) => ({ query: { base: code } });

test('a filter selects requests for unknown paths, except those of rules', async () => {
  const mock = await askedForRates();
  await using server = await mock.serve();
  mock.rules.add({ match: { path: '/stubbed' }, respond: { data: 1 } });
  const headers = { authorization: mock.createKey({ plan: 'developer' }).key };
  for (const path of ['/stubbed', '/api/v1/lates']) await mock.fetch(mock.baseUrl + path, { headers });
  await mock.fetch(`${mock.baseUrl}/stubbed`); // refused without a key, but its path is known
  const listed = async (isUnknownRoute: boolean) => {
    const url = `${server.url}/__fxrates/requests?isUnknownRoute=${isUnknownRoute}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${server.adminToken}` } });
    const { entries } = (await response.json()) as { entries: readonly { readonly number: number }[] };
    return entries.map(({ number }) => number);
  };

  expect(mock.journal.list({ isUnknownRoute: true })).toMatchObject([{ path: '/api/v1/lates' }]);
  expect([await listed(true), await listed(false)]).toEqual([[5], [1, 2, 3, 4, 6]]);
  expect(() => mock.journal.list({ isUnknownRoute: 'yes' as never })).toThrow(
    'filter.isUnknownRoute is "yes"; expected true or false.',
  );
});

const WHOLE = 'expected a whole number of requests from 0.';
const invalid: [string, (expectation: RequestExpectation) => unknown, string][] = [
  ['toHaveCount(undefined)', (it) => it.toHaveCount(undefined as never), `count is missing; ${WHOLE}`],
  ["toHaveCount('2')", (it) => it.toHaveCount('2' as never), `count is "2"; ${WHOLE}`],
  ['atLeast(undefined)', (it) => it.atLeast(undefined as never), `atLeast is missing; ${WHOLE}`],
  ['atMost(-1)', (it) => it.atMost(-1), `atMost is -1; ${WHOLE}`],
  ['inOrder()', (it) => it.inOrder(), 'inOrder is []; expected at least one pattern.'],
  ['inOrder(undefined)', (it) => it.inOrder(undefined as never), 'inOrder[0] is missing; expected an object.'],
  [
    'inOrder() with 1001 patterns',
    (it) => it.inOrder(...Array(1001).fill({})),
    'inOrder has 1001 entries; expected at most 1000.',
  ],
];

test.each(invalid)('%s is an invalid option, in process and in another one', async (_, expectation, message) => {
  await using mock = createMockServer();
  const remote = connectMockServer((await mock.serve()).adminUrl);

  expect(() => expectation(mock.expectRequests())).toThrow(
    expect.objectContaining({ code: 'invalid_option', message }),
  );
  await expect(expectation(remote.expectRequests() as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message,
  });
});

const WHAT_CAME = [
  'Received requests:',
  '  #1 GET /api/v1/quota 200, key_1: served',
  '  #2 GET /api/v1/latest?base=USD 200, key_1: served',
  '  #3 GET /api/v1/latest?base=EUR 401, no key: the request has no API key',
];

const failing: [string, (expectation: (filter?: object) => RequestExpectation) => unknown, string[]][] = [
  [
    'toHaveCount',
    (expected) => expected({ ...latest, status: 200, ...base('EUR') }).toHaveCount(1),
    [
      'Expected 1 request that matches {"operation":"latest","query":{"base":"EUR"},"status":200}, got 0. Closest:',
      "  #2 GET /api/v1/latest?base=USD differs in query.base: 'USD', expected 'EUR'",
      '  #3 GET /api/v1/latest?base=EUR differs in status: 401, expected 200',
      "  #1 GET /api/v1/quota differs in operation: 'quota', expected 'latest'; query.base: absent, expected 'EUR'",
    ],
  ],
  ['atLeast', (expected) => expected().atLeast(4), ['Expected at least 4 requests, got 3. Received requests:']],
  ['atMost', (expected) => expected().atMost(2), ['Expected at most 2 requests, got 3. Received requests:']],
  [
    'atLeast of a header',
    (expected) => expected({ ...latest, headers: { authorization: /^Basic/ } }).atLeast(1),
    [
      'Expected at least 1 request that matches {"operation":"latest","headers":{"authorization":{"matches":"^Basic"}}}, got 0. Closest:',
      "  #2 GET /api/v1/latest?base=USD differs in headers.authorization: 'Bearer fx_live_…', expected /^Basic/",
      '  #3 GET /api/v1/latest?base=EUR differs in headers.authorization: absent, expected /^Basic/',
    ],
  ],
  [
    'inOrder',
    (expected) => expected().inOrder(base('EUR'), base('USD')),
    [
      'Expected request 2 of 2, {"query":{"base":"USD"}}, after #3 in this order. #2 matches, but came before. Received requests:',
    ],
  ],
  [
    'inOrder of a request that came once',
    (expected) => expected().inOrder(base('EUR'), base('EUR')),
    ['Expected request 2 of 2, {"query":{"base":"EUR"}}, after #3 in this order. Received requests:'],
  ],
  [
    'inOrder of a request that came twice, and was expected three times',
    (expected) => expected().inOrder(latest, latest, latest),
    ['Expected request 3 of 3, {"operation":"latest"}, after #3 in this order. Received requests:'],
  ],
  [
    'inOrder of a request that came before those in between',
    (expected) => expected().inOrder({ operation: 'quota' }, base('EUR'), latest),
    [
      'Expected request 3 of 3, {"operation":"latest"}, after #3 in this order. #2 matches, but came before. Received requests:',
    ],
  ],
];

test.each(failing)('%s fails with the closest requests and all received requests', async (_, act, lines) => {
  const mock = await askedForRates();

  const failure = () => act((filter) => mock.expectRequests(filter));

  const [last = ''] = lines.slice(-1);
  const text = [...lines, ...(last.endsWith('Received requests:') ? WHAT_CAME.slice(1) : WHAT_CAME)].join('\n');
  expect(failure).toThrow(expect.objectContaining({ code: 'unexpected_requests', message: text }));
});

test('expectations give the same results and messages in another process', async () => {
  await using mock = await askedForRates();
  const remote = connectMockServer((await mock.serve()).adminUrl);

  await remote.expectRequests({ ...latest, query: { base: /^EU/ } }).atLeast(1);
  await remote.expectRequests().inOrder({ operation: 'quota' }, base('EUR'));
  await remote.expectRequests(latest).atMost(2);
  const failure = await errorOf(remote.expectRequests(base('GBP')).atLeast(1));

  expect(String(failure)).toBe(String(await errorOf(() => mock.expectRequests(base('GBP')).atLeast(1))));
  expect(failure).toMatchObject({ code: 'unexpected_requests', status: 422 });
  expect(await remote.journal.list(base('EUR'))).toHaveLength(1);
});

test('a journal that has dropped requests cannot prove that none arrived', async () => {
  const mock = await askedForRates({ journalSize: 2 });
  const forgotten = /has dropped the first 1 requests.* larger journalSize/;

  expect(mock.audit()).toMatchObject({ requests: 2, dropped: 1 });
  mock.expectRequests({ after: 1 }).toHaveCount(2);
  mock.expectRequests({ keyId: 'key_1' }).inOrder(latest);
  mock.expectRequests(latest).atLeast(2);
  mock.expectRequests().inOrder(base('USD'), base('EUR'));
  await expect(mock.journal.waitFor({}, { count: 3, timeoutMs: 1 })).rejects.toThrow(forgotten);
  expect(() => mock.expectRequests(latest).atMost(2)).toThrow(forgotten);
  expect(() => mock.expectRequests().atLeast(3)).toThrow(forgotten);
  expect(() => mock.expectRequests().inOrder({ operation: 'quota' })).toThrow(forgotten);
});

test('distinguishes a missing key from an unknown one, and from one that was not read', async () => {
  const { mock, send } = mockWithKey();
  await send('/api/v1/lates'); // refused before its key is read
  await mock.fetch(`${mock.baseUrl}/api/v1/lates`);
  await mock.fetch(`${mock.baseUrl}/api/v1/quota?api_key=fx_live_${'0'.repeat(48)}`);
  mock.rules.add({ fail: { kind: 'network-error' } });
  await mock.fetch(`${mock.baseUrl}/api/v1/quota`).catch(() => undefined);

  expect(() => mock.expectRequests().toHaveCount(0)).toThrow(
    /404, key not read: .*404, no key: .*401, unknown key: .*#4 GET \/api\/v1\/quota no response, no key: /s,
  );
});

test('rejects a pattern with an unknown field, operation or key', async () => {
  const mock = await askedForRates();

  expect(() => mock.expectRequests().inOrder({ operation: 'lates' })).toThrow(/^inOrder\[0\]\.operation is "lates"/);
  expect(() => mock.expectRequests().inOrder({ keyId: 'key_2' })).toThrow('inOrder[0].keyId is "key_2"');
});

/** The lines of the closest requests in the message of a failed expectation. */
async function closestOf(act: () => unknown): Promise<readonly string[]> {
  const [, closest = ''] = /Closest:\n(.*)\nReceived requests:/s.exec(String(await errorOf(act))) ?? [];
  return closest.split('\n');
}

test('of many requests, the closest three are listed, and of equally close ones the newest', async () => {
  const { mock, send } = mockWithKey();
  for (const base of ['USD', 'EUX', 'USD', 'EURO', 'USD']) await send(`/api/v1/latest?base=${base}`);
  await send('/api/v1/latest');

  const closest = await closestOf(() => mock.expectRequests(base('EUR')).atLeast(1));

  expect(closest.map((line) => line.split(' differs')[0])).toEqual([
    '  #4 GET /api/v1/latest?base=EURO',
    '  #2 GET /api/v1/latest?base=EUX',
    '  #5 GET /api/v1/latest?base=USD',
  ]);
});

test('an expectation about a rule shows which field of its pattern differs', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'euros', match: { ...latest, ...base('EUR') }, respond: { data: {} } });
  mock.rules.add({ id: 'pounds', match: { path: '/api/v1/latest', ...base('GBP') }, delayMs: 1 });
  await send('/api/v1/latest?base=EUX');

  expect(await closestOf(() => mock.expectRequests({ rule: 'euros' }).toHaveCount(1))).toEqual([
    "  #1 GET /api/v1/latest?base=EUX differs in query.base: 'EUX', expected 'EUR'",
  ]);
  expect(await closestOf(() => mock.expectRequests({ rule: 'pounds' }).toHaveCount(1))).toEqual([
    "  #1 GET /api/v1/latest?base=EUX differs in query.base: 'EUX', expected 'GBP'",
  ]);
});

test('an expectation about a rule shows the requests that match it, but were refused', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'euros', match: base('EUR'), respond: { data: {} } });
  mock.keys.revoke('key_1');
  await send('/api/v1/latest?base=EUR');

  expect(await closestOf(() => mock.expectRequests({ rule: 'euros' }).toHaveCount(1))).toEqual([
    '  #1 GET /api/v1/latest?base=EUR differs in rule: none, expected euros',
  ]);
  expect(() => mock.expectRequests({ rule: 'euros' }).toHaveCount(1)).toThrow(/#1 GET .*base=EUR 401, key_1: /);
});
