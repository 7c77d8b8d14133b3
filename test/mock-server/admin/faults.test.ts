import { expect, test } from 'vitest';
import { connectMockServer, createMockServer } from '../../../src/mock-server/index.ts';

async function connected() {
  const mock = createMockServer({ clock: 'virtual' });
  const server = await mock.serve();
  const { key } = mock.createKey();
  const call = (path = '/api/v1/latest') => fetch(server.url + path, { headers: { authorization: key } });
  const post = (path: string, body: unknown) =>
    fetch(`${server.url}/__fxrates${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const get = async (path: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${server.adminToken}` };
    const response = await fetch(`${server.url}/__fxrates${path}`, { method, headers });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    mock,
    call,
    post,
    get,
    remote: connectMockServer(server.adminUrl),
    [Symbol.asyncDispose]: () => mock.close(),
  };
}

test('another process adds, lists and removes faults with the same methods', async () => {
  await using it = await connected();
  const { mock, remote, call } = it;

  const added = await remote.faults.add({ kind: 'truncate', afterBytes: 10, match: { operation: 'latest' } });
  await remote.faults.add({ kind: 'status', status: 503, id: 'down', nth: [2, 3], headers: { 'retry-after': '1' } });

  expect(added).toMatchObject({ id: 'fault_1', kind: 'truncate', strikes: 'after', matched: 0, struck: 0 });
  expect(await remote.faults.list()).toEqual(mock.faults.list());
  await expect(call().then((response) => response.text())).rejects.toThrow('terminated');
  expect((await call('/api/v1/quota')).status).toBe(503);
  await remote.faults.remove('down');
  await expect(remote.faults.remove('down')).rejects.toMatchObject({ code: 'not_found', status: 404 });
  await remote.faults.clear();
  expect(mock.faults.list()).toEqual([]);
});

test('another process receives the error messages of the mock', async () => {
  await using it = await connected();
  const { mock, remote } = it;
  mock.listen(); // an adapter without chunks

  for (const fault of [
    { kind: 'malformed-chunk' },
    { kind: 'latency', latencyMs: -1 },
    { kind: 'hang', match: { operation: 'lates' } },
  ] as const) {
    const local = (() => {
      try {
        return mock.faults.add(fault);
      } catch (error) {
        return error as Error;
      }
    })();
    await expect(remote.faults.add(fault)).rejects.toThrow((local as Error).message);
  }
});

test('reads one stub and one fault', async () => {
  await using it = await connected();
  const { mock, remote, call, get } = it;
  mock.latest.set({ rates: {} }, { base: 'EUR' });
  mock.faults.add({ kind: 'hang', id: 'f.1', nth: 9 });
  await call();
  await call('/api/v1/quota');

  expect((await get('/stubs/latest.EUR')).body).toMatchObject({ id: 'latest.EUR', served: 0 });
  expect((await get('/faults/f.1')).body).toMatchObject({ id: 'f.1', kind: 'hang', matched: 2 });
  expect(await remote.stubs.get('latest.EUR')).toEqual(mock.stubs.get('latest.EUR'));
  expect(await remote.faults.get('f.1')).toEqual(mock.faults.get('f.1'));
});

test.each([
  ['GET', '/stubs/x', 'Stub "x" does not exist or has expired; the stubs are stub_1, stub_2.'],
  ['DELETE', '/stubs/a%20b', 'Stub "a%20b" does not exist or has expired; the stubs are stub_1, stub_2.'],
  ['GET', '/faults/x', 'Fault "x" does not exist or has expired; the only fault is fault_1.'],
  ['DELETE', '/faults/x', 'Fault "x" does not exist or has expired; the only fault is fault_1.'],
  ['GET', '/requests/x', 'This route does not exist; GET /__fxrates/openapi.json lists all routes.'],
  ['GET', '/keys/key_9', 'Key "key_9" does not exist; the only key is key_1.'],
  ['GET', '/accounts/x', 'Account "x" does not exist; the only account is account_1.'],
  ['DELETE', '/spaces/x', 'Space "x" does not exist or is closed; the only space is space_1.'],
])('%s %s is a 404 that names what exists', async (method, path, message) => {
  await using it = await connected();
  const { mock, call, get } = it;
  for (const data of [1, 2]) mock.stubs.add({ data });
  mock.faults.add({ kind: 'status', status: 503, nth: 9 });
  mock.space();
  await call();
  await call();

  expect(await get(path, method)).toEqual({ status: 404, body: { error: { code: 'not_found', message } } });
});

test('a route with another method is still a 405, not an unknown request', async () => {
  await using it = await connected();

  expect(await it.get('/requests/find')).toMatchObject({ status: 405 });
});

test.each([
  [{ kind: 'hang', match: { constructor: 1 } }, 'invalid_option', 'match.constructor'],
  [{ kind: 'explode' }, 'invalid_option', 'kind'],
  [[], 'invalid_option', 'fault'],
  [null, 'invalid_option', 'fault'],
])('refuses %j with %s and names %s', async (body, code, field) => {
  await using it = await connected();

  const response = await it.post('/faults', body);

  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: object }).error).toMatchObject({ code, field });
});

test('another process can verify, audit, and read the number of dropped requests', async () => {
  await using it = await connected();
  const { remote, call } = it;
  await remote.faults.add({ kind: 'status', status: 500, id: 'flaky', times: 1 });
  await call();
  await call('/api/v1/lates');

  await remote.expectRequests({ fault: 'flaky' }).toHaveCount(1);
  await expect(remote.expectRequests({ status: 429 }).toHaveCount(2)).rejects.toThrow(
    /Expected 2 requests .* got 0\. Received requests:\n {2}#1 GET \/api\/v1\/latest 500, key_1: served; fault flaky: responds with 500/,
  );
  expect((await remote.audit()).unknownRoutes).toMatchObject([{ number: 2 }]);
  expect(await remote.journal.dropped()).toBe(0);
});
