import { expect, test } from 'vitest';
import { createMockServer, type MockServerOptions, type Replay } from '../../../src/mock-server/index.ts';

interface Envelope {
  readonly success: boolean;
  readonly data: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: string; readonly message: string };
}

function mockWith(options: MockServerOptions) {
  const mock = createMockServer({ clock: 'virtual', ...options });
  const { id, key } = mock.createKey({ plan: 'developer' });
  const latest = async (query = '', { inUrl = false } = {}) => {
    const url = `${mock.baseUrl}/api/v1/latest?${inUrl ? `api_key=${key}&` : ''}${query}`;
    const response = await mock.fetch(url, inUrl ? {} : { headers: { authorization: key } });
    return { status: response.status, body: (await response.json()) as Envelope };
  };
  return { mock, id, latest };
}

test('a latest function receives the query without the key and returns the data', async () => {
  const { latest, id } = mockWith({
    latest: (query, { at, keyId, plan }) => ({ asked: query.toString(), at, keyId, plan }),
  });

  const { status, body } = await latest('base=EUR', { inUrl: true });

  expect(status).toBe(200);
  expect(body.data).toEqual({ asked: 'base=EUR', at: expect.any(Number), keyId: id, plan: 'developer' });
});

test("a latest function can change the mock's own data", async () => {
  const invented = await mockWith({}).latest('base=EUR&symbols=USD');
  const { latest } = mockWith({
    latest: (_query, context) => ({ ...context.invented(), delayed: true }),
  });

  expect((await latest('base=EUR&symbols=USD')).body.data).toEqual({ ...invented.body.data, delayed: true });
});

test.each([
  [() => undefined, 'returned undefined; expected an object'],
  [() => Promise.resolve({}), 'returned a promise; expected an object'],
  [() => 'rates', 'returned "rates"'],
  [() => ({ rates: { USD: Number.NaN } }), 'returned a value that JSON cannot represent'],
  [() => ({ n: 1n }), 'returned a value that JSON cannot represent'],
  [
    () => {
      throw new RangeError(`no fx_live_${'0'.repeat(48)}`);
    },
    'latest threw RangeError: no fx_live_….',
  ],
])('data that is not an object is a 500 that names the cause: %s', async (wrong, why) => {
  const { mock, latest } = mockWith({ latest: wrong as never });

  const { status, body } = await latest();

  expect(status).toBe(500);
  expect(body).toMatchObject({ error: { message: expect.stringContaining(why) } });
  expect(mock.journal.list().at(-1)?.why).toContain(why);
});

test('a latest function is subject to the limits', async () => {
  const { mock, latest } = mockWith({ latest: () => ({}) });

  const responses = await Promise.all(Array.from({ length: 301 }, () => latest()));

  expect(responses.filter(({ status }) => status === 200)).toHaveLength(300);
  expect(mock.keys.list()[0]?.month.used).toBe(300);
});

const recorded = { success: true, data: { rate: 1.25 }, meta: { more: 'kept' } };

test('one recorded envelope is the response to every query, unchanged', async () => {
  const { latest } = mockWith({ replay: recorded });

  expect((await latest('base=EUR')).body).toEqual(recorded);
  expect((await latest()).body).toEqual(recorded);
});

test('finds responses by query, in any order of parameters, also with the key in the URL', async () => {
  const { latest } = mockWith({
    replay: { 'symbols=USD&base=EUR': { one: 1 }, '': recorded, '?base=GBP': { two: 2 } },
  });

  expect((await latest('base=EUR&symbols=USD', { inUrl: true })).body).toEqual({ success: true, data: { one: 1 } });
  expect((await latest('base=GBP')).body.data).toEqual({ two: 2 });
  expect((await latest()).body).toEqual(recorded);
});

test('a recorded error is returned with its status', async () => {
  const error = { success: false, error: { code: 'no_such_base', message: 'No.', status: 422, base: 'X' } };
  const { latest } = mockWith({ replay: { 'base=X': error, '*': recorded } });

  expect(await latest('base=X')).toEqual({ status: 422, body: error });
  expect(await latest('base=Y')).toEqual({ status: 200, body: recorded });
});

test('recorded text keeps its digits', async () => {
  const text = async (replay: Replay) => {
    const mock = createMockServer({ replay });
    const { key } = mock.createKey();
    return (await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: key } })).text();
  };

  expect(await text(' {"success":true,"data":{"EUR":1.10}}\n')).toBe('{"success":true,"data":{"EUR":1.10}}');
  expect(await text({ '': '{"EUR":1.10,"note":"<b>"}' })).toBe(
    '{"success":true,"data":{"EUR":1.10,"note":"\\u003cb\\u003e"}}',
  );
});

test('names the recorded queries if a query was not recorded', async () => {
  const { status, body } = await mockWith({ replay: { 'base=EUR': {} } }).latest('base=USD');

  expect([status, body.error.code]).toEqual([501, 'not_recorded']);
  expect(body.error.message).toBe("No response is recorded for the query 'base=USD'; recorded queries: 'base=EUR'.");
});

test.each([
  [{ latest: 'text' }, 'latest is "text"; expected an object.'],
  [{ latest: async () => ({}) }, 'latest is a function; expected a function that is not async.'],
  [{ latest: () => ({}), replay: recorded }, 'expected either latest or replay, not both'],
  [{ replay: 'file.json' }, 'replay is "file.json"; expected a recorded envelope'],
  [{ replay: {} }, 'replay is {}'],
  [{ replay: [recorded] }, 'replay is ['],
  [{ replay: { 'base=EUR': 7 } }, 'replay["base=EUR"] is 7; expected an envelope, or the data of one.'],
  [{ replay: { 'a=1&b=2': {}, 'b=2&a=1': {} } }, 'replay is "b=2&a=1"; expected each query once'],
  [{ replay: { success: false, error: { code: 'x' } } }, 'replay.error is {"code":"x"}; expected a recorded error'],
])('%j is refused', (options, message) => {
  expect(() => createMockServer(options as never)).toThrow(message);
});

test('an array begins again for a space, for a copy of the mock and after a reset', async () => {
  const { mock, latest } = mockWith({ latest: [{ number: 1 }, { number: 2 }] });
  const first = async (scope: Pick<typeof mock, 'baseUrl' | 'fetch'>, key: string) => {
    const response = await scope.fetch(`${scope.baseUrl}/api/v1/latest`, { headers: { authorization: key } });
    return ((await response.json()) as Envelope).data;
  };

  expect((await latest()).body.data).toEqual({ number: 1 });
  const space = mock.space();
  expect(await first(space, space.key)).toEqual({ number: 1 });
  const fork = mock.fork();
  expect(await first(fork, fork.createKey().key)).toEqual({ number: 1 });
  await space.close();
  mock.reset();
  expect(await first(mock, mock.createKey().key)).toEqual({ number: 1 });
});

test('refuses a query that it accepted before if the switch for unknown currencies changes', async () => {
  const { mock, latest } = mockWith({ behaviour: { badParameter: 'ignored' } });
  expect((await latest('base=XXX')).status).toBe(200);

  mock.behaviour.set({ badParameter: '400 invalid_parameter' });

  expect((await latest('base=XXX')).status).toBe(400);
});
