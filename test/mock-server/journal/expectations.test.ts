import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { operations } from '../../../src/generated/operations.ts';
import {
  connectMockServer,
  createMockServer,
  type RequestFilter,
  type StubOptions,
} from '../../../src/mock-server/index.ts';

/** A mock that received three requests. */
async function asked(options = {}) {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false }, ...options });
  const { id, key } = mock.createKey();
  const send = (target: string, headers = {}) => mock.fetch(mock.baseUrl + target, { headers });
  await send('/api/v1/latest', { authorization: key });
  await send(`/api/v1/quota?api_key=${key}`);
  await send('/api/v1/quota');
  return { mock, id, key, send };
}

test.each<[RequestFilter, number]>([
  [{}, 3],
  [{ keyId: 'key_1' }, 2],
  [{ operation: 'quota' }, 2],
  [{ path: '/api/v1/quota' }, 2],
  [{ path: '/api/*' }, 3],
  [{ path: '*/la*st' }, 1],
  [{ path: '/api/v1/quota*quota' }, 0],
  [{ status: 401, code: 'unauthorized' }, 1],
  [{ method: 'POST' }, 0],
  [{ after: 1 }, 2],
  [{ fault: 'flaky' }, 0],
])('of three requests, %j selects %i', async (filter, count) => {
  const { mock } = await asked();

  expect(mock.journal.list(filter)).toHaveLength(count);
  mock.expectRequests(filter).toHaveCount(count);
  expect(() => mock.expectRequests(filter).toHaveCount(count + 1)).toThrow(`Expected ${count + 1} request`);
});

test('a wrong count is reported with all received requests', async () => {
  const { mock } = await asked();

  expect(() => mock.expectRequests({ status: 429 }).toHaveCount(1)).toThrow(
    [
      'Expected 1 request that matches {"status":429}, got 0. Received requests:',
      '  #1 GET /api/v1/latest 200, key_1: served',
      '  #2 GET /api/v1/quota?api_key=fx_live_… 200, key_1: served',
      '  #3 GET /api/v1/quota 401, no key: the request has no API key',
    ].join('\n'),
  );
});

test.each<[object, string]>([
  [{ sttaus: 200 }, 'filter.sttaus is not a field of the filter; did you mean status? Valid names: operation, keyId, '],
  [{ operation: 'lates' }, `filter.operation is "lates"; expected one of ${Object.keys(operations).join(', ')}.`],
  [{ keyId: 'key_2' }, 'filter.keyId is "key_2"; expected the id of a key of this mock, such as key_1.'],
])('the filter %j is refused, in process and in another one', async (filter, message) => {
  const { mock } = await asked();
  const remote = connectMockServer((await mock.serve()).adminUrl);

  expect(() => mock.journal.list(filter)).toThrow(message);
  expect(() => mock.expectRequests(filter).toHaveCount(0)).toThrow(message);
  await expect(mock.journal.waitFor(filter)).rejects.toMatchObject({ code: 'invalid_option' });
  await expect(remote.journal.list(filter)).rejects.toMatchObject({ code: 'invalid_option' });
  await mock.close();
});

test('rejects a pattern with the id of a key that does not exist', async () => {
  const { mock } = await asked();

  expect(() => mock.expectRequests().inOrder({ keyId: 'key_2' })).toThrow('inOrder[0].keyId is "key_2"');
  expect(() => mock.expectRequests().toHaveBeenSentWith({ keyId: 'key_2' })).toThrow('sentWith.keyId is "key_2"');
});

test('accepts the id of a key that was revoked', async () => {
  const { mock, id } = await asked();
  mock.keys.revoke(id);

  mock.expectRequests({ keyId: id }).toHaveCount(2);
});

test('an expectation fails if the journal has dropped requests that it would count', async () => {
  const { mock } = await asked({ journalSize: 2 });

  expect(mock.journal.dropped).toBe(1);
  expect(mock.audit()).toMatchObject({ requests: 2, dropped: 1 });
  expect(() => mock.expectRequests().toHaveCount(3)).toThrow(/has dropped the first 1 requests.* larger journalSize/);
  mock.expectRequests({ after: 1 }).toHaveCount(2);
});

test('waits for requests, including those already received', async () => {
  const { mock, send } = await asked();

  const waiting = mock.journal.waitFor({ operation: 'quota' }, { count: 3 });
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

test.each(['mock', 'space'] as const)(
  'a wait ends when its %s is closed, so that the process can end',
  async (kind) => {
    const mock = createMockServer();
    const scope = kind === 'mock' ? mock : mock.space({ name: 'one' });
    const waiting = expect(scope.journal.waitFor({}, { timeoutMs: 600_000 })).rejects.toMatchObject({
      code: 'mock_closed',
      message: expect.stringMatching(/^0 of 1 requests arrived before the mock or the space was closed\./),
    });

    await scope.close();

    await waiting;
    await mock.close();
  },
);

test.each([
  ['count', 0, 'count is 0; expected a whole number from 1.'],
  ['count', -1, 'count is -1; expected a whole number from 1.'],
  ['count', 1.5, 'count is 1.5; expected'],
  ['count', Number.NaN, 'count is NaN; expected'],
  ['count', '2', 'count is "2"; expected'],
  ['timeoutMs', -1, 'timeoutMs is -1; expected whole milliseconds from 0.'],
  ['timeoutMs', 1.5, 'timeoutMs is 1.5; expected'],
  ['timeoutMs', Number.NaN, 'timeoutMs is NaN; expected'],
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
  ['/', undefined],
  ['/nothing/at/all', undefined],
  [`/${'x'.repeat(10_000)}`, undefined],
])('for %s the nearest path is %s', async (path, nearest) => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });

  await mock.fetch(mock.baseUrl + path);

  const suggestion = nearest === undefined ? '.' : `; did you mean ${nearest}?`;
  expect(mock.journal.list()[0]?.why).toBe(`There is no such endpoint${suggestion}`);
});

const UNKNOWN = { path: '/api/v1/conversions' };

test.each<[string, StubOptions['match'], string, string]>([
  ['query', { ...UNKNOWN, query: { base: 'EUR' } }, 'GET', "query.base: 'USD', expected 'EUR'"],
  ['header', { ...UNKNOWN, headers: { 'x-a': '1' } }, 'GET', "headers.x-a: absent, expected '1'"],
  ['method', UNKNOWN, 'POST', "method: 'POST', expected 'GET'"],
  ['method of the pattern', { ...UNKNOWN, method: 'PUT' }, 'GET', "method: 'GET', expected 'PUT'"],
])('the reason for an unknown path names a stub that differs in its %s', async (_, match, method, text) => {
  const { mock, key } = await asked();
  mock.stubs.add({ match, data: {} });
  const headers = { authorization: key };

  const response = await mock.fetch(`${mock.baseUrl}/api/v1/conversions?base=USD`, { method, headers });

  expect(response.status).toBe(404);
  expect(await response.text()).not.toContain('stub_1');
  expect(mock.journal.list().at(-1)?.why).toBe(`There is no such endpoint. stub_1 differs in ${text}.`);
});

test('the reason for a response names no stub that is not close, has expired, or belongs to an operation', async () => {
  const { mock, key, send } = await asked();
  mock.stubs.add({ match: { path: '/api/v1/other', method: 'PUT' }, data: {} });
  mock.stubs.add({ match: { operation: 'latest', query: { base: 'EUR' } }, data: {} });
  mock.stubs.add({ match: { ...UNKNOWN, query: { base: 'EUR' } }, data: {}, times: 1 });
  await send('/api/v1/conversions?base=EUR', { authorization: key });

  await send('/api/v1/conversions?base=USD', { authorization: key });
  await send('/api/v1/latest?base=USD', { authorization: key });

  expect(
    mock.journal
      .list()
      .map(({ why }) => why)
      .slice(-2),
  ).toEqual(['There is no such endpoint.', 'served']);
});

test('lists the newest of many requests, including those without a response', async () => {
  const { mock, send } = await asked();
  for (let request = 0; request < 20; request += 1) await send('/api/v1/quota');
  mock.faults.add({ kind: 'network-error' });
  await send('/api/v1/quota').catch(() => undefined);

  const error = (() => {
    try {
      mock.expectRequests().toHaveCount(1);
    } catch (thrown) {
      return String(thrown);
    }
    return '';
  })();

  expect(error).toContain('Expected 1 request, got 24. Received requests:\n  (4 older)\n  #5 GET');
  expect(error).toContain('  #24 GET /api/v1/quota no response, no key: ');
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

test('keeps the process alive until the timeout', () => {
  const script = `
    const { createMockServer } = await import('./src/mock-server/index.ts');
    await createMockServer().journal.waitFor({}, { timeoutMs: 20 }).catch(({ code }) => console.log(code));
  `;

  const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 300_000,
  });

  expect(output.trim()).toBe('wait_timeout');
});
