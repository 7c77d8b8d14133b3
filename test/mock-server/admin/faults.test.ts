import { expect, test } from 'vitest';
import { servedMock } from '../../helpers/served-mock.ts';

async function connected() {
  const served = await servedMock();
  const { key } = served.mock.createKey();
  return { ...served, call: (path?: string) => served.call(key, path) };
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
  const { mock, remote, call } = it;
  mock.latest.set({ rates: {} }, { base: 'EUR' });
  mock.faults.add({ kind: 'hang', id: 'f.1', nth: 9 });
  await call();
  await call('/api/v1/quota');

  expect(await remote.stubs.get('latest.EUR')).toEqual(mock.stubs.get('latest.EUR'));
  expect(await remote.faults.get('f.1')).toEqual(mock.faults.get('f.1'));
  expect(mock.faults.get('f.1').matched).toBe(2);
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
  const { mock, call, admin } = it;
  for (const data of [1, 2]) mock.stubs.add({ data });
  mock.faults.add({ kind: 'status', status: 503, nth: 9 });
  mock.space();
  await call();
  await call();

  expect(await admin(method, path)).toMatchObject({ status: 404, body: { error: { code: 'not_found', message } } });
});
