import { setupServer } from 'msw/node';
import { expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../src/generated/operations.ts';
import { mswPath } from '../../../src/mock-server/adapters/interception.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { mockHandlers } from '../../../src/mock-server/msw/index.ts';

test('there is a handler for each operation and one for everything else', async () => {
  const mock = createMockServer({ baseUrl: 'https://handlers.test' });

  const headers = mockHandlers(mock).map(({ info }) => info.header);

  expect(headers).toEqual([
    ...Object.values(operations).map(({ path }) => `GET https://handlers.test${path.replaceAll(/\{(.+?)\}/g, ':$1')}`),
    expect.stringContaining('handlers'),
  ]);
});

test('reading the handlers has no effect; from their first request until close(), msw is in use', async () => {
  const mock = createMockServer({ baseUrl: 'https://handlers.test' });
  const server = setupServer(...mockHandlers(mock));
  server.listen({ onUnhandledRequest: 'error', onUnhandledFrame: 'error' } as object); // msw 2 and 3
  onTestFinished(() => server.close());

  mock.faults.remove(mock.faults.add({ kind: 'reset' }).id);
  expect((await fetch('https://handlers.test/api/v1/quota')).status).toBe(401);
  expect(() => mock.faults.add({ kind: 'reset' })).toThrow('is not possible through msw');
  await mock.close();
  mock.faults.add({ kind: 'reset' });
  expect(mock.faults.list()).toHaveLength(1);
});

test('a fault that msw cannot reproduce is an error in the response and in the journal', async () => {
  const mock = createMockServer({ baseUrl: 'https://impossible.test' });
  const { key } = mock.createKey();
  mock.faults.add({ kind: 'reset' });
  const server = setupServer(...mockHandlers(mock));
  server.listen();
  onTestFinished(() => server.close());

  const response = await fetch('https://impossible.test/api/v1/quota', { headers: { authorization: key } });

  expect(response.status).toBe(500);
  const message = expect.stringMatching(/^A reset fault is not possible through msw /);
  expect(await response.json()).toEqual({ success: false, error: { code: 'internal_error', message, status: 500 } });
  expect(mock.journal.list()).toMatchObject([{ status: 500, why: expect.stringContaining('A reset fault') }]);
});

test.each([{}, undefined, () => undefined])('use(%j) is refused, because it is no handler', (handler) => {
  expect(() => createMockServer().use(handler as never)).toThrow('a request handler of msw, such as http.get()');
});

test('handlers of a mock at an IPv6 address respond', async () => {
  const mock = createMockServer({ baseUrl: 'http://[::1]:4010' });
  const server = setupServer(...mockHandlers(mock));
  server.listen();
  onTestFinished(() => server.close());

  expect((await fetch('http://[::1]:4010/api/v1/quota')).status).toBe(401);
});

test.each([
  ['http://a.test/v1/{pair}:convert', 'http://a.test/v1/EUR:convert', 'http://a.test/v1/EUR'],
  ['http://[::1]:80/v1/rates', 'http://[::1]:80/v1/rates', 'http://[::1]:80/v1/ratess'],
  ['http://a.test/v1/a.b(c)/{x}', 'http://a.test/v1/a.b(c)/1', 'http://a.test/v1/axb(c)/1'],
])('characters that have a meaning for msw are plain in the path %s', (url, matching, other) => {
  const path = mswPath(url);

  expect(path).toBeInstanceOf(RegExp);
  expect([matching, other].map((one) => (path as RegExp).test(one))).toEqual([true, false]);
});
