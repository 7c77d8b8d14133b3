import { expect, test } from 'vitest';
import type { Failure, MockServer } from '../../src/mock-server/index.ts';
import { type MockAdapter, mockAdapters, type Send } from '../helpers/mock-adapters.ts';
import { mockWithKey } from '../helpers/mock-with-key.ts';

const target = '/api/v1/latest?symbols=EUR,JPY';

/** A mock with one key, opened in some adapter, and a function that sends a request with that key. */
async function opened({ open, adapter }: MockAdapter) {
  const { mock, id, key } = mockWithKey({ clock: 'virtual' });
  const { send, close } = await open(mock);
  const sendWithKey = () => send({ target, headers: { authorization: key } });
  return { mock, id, key, adapter, send, sendWithKey, [Symbol.asyncDispose]: close };
}

const used = (mock: MockServer, id: string) => mock.keys.get(id).month.used;

test.each(mockAdapters)('a rule responds instead of the service or of the network, through $name', async (adapter) => {
  await using it = await opened(adapter);
  it.mock.rules.add({ respond: { status: 503, headers: { 'Retry-After': '7' } }, nth: 1 });
  it.mock.rules.add({ respond: { status: 502, body: '<html>' }, counted: false, nth: 2 });

  const [replaced, plain, served] = [await it.sendWithKey(), await it.sendWithKey(), await it.sendWithKey()];

  expect([replaced.status, replaced.headers['retry-after'], JSON.parse(replaced.body)]).toEqual([
    503,
    '7',
    { success: false, error: { code: 'service_unavailable', message: 'Service Unavailable', status: 503 } },
  ]);
  expect([plain.status, plain.headers['content-type'], plain.body]).toEqual([
    502,
    'text/plain; charset=utf-8',
    '<html>',
  ]);
  expect(served.status).toBe(200);
  expect(it.mock.journal.list().map(({ status, code, rules, keyId }) => [status, code, rules, keyId])).toEqual([
    [503, 'service_unavailable', ['rule_1'], it.id],
    [502, undefined, ['rule_2'], it.id],
    [200, undefined, [], it.id],
  ]);
});

test.each(mockAdapters)('a changed response reaches the client unchanged, through $name', async (adapter) => {
  await using it = await opened(adapter);
  const { body } = await it.sendWithKey();
  const half = body.slice(0, Math.floor(body.length / 2));

  it.mock.rules.add({ fail: { kind: 'bad-json' }, id: 'half' });
  const broken = await it.sendWithKey();
  it.mock.rules.remove('half');
  it.mock.rules.add({ match: { status: 429 }, retryAfter: '-5', nth: 1 });
  it.mock.rules.add({ match: { status: 429 }, retryAfter: { absent: true }, nth: 2 });
  const headers = [];
  for (let call = 0; call < 31; call += 1) headers.push((await it.sendWithKey()).headers['retry-after']);

  expect([broken.status, broken.body, broken.headers['content-length']]).toEqual([200, half, String(half.length)]);
  // 28 requests are served, then three refused: with a wrong Retry-After, without one, and with the correct one.
  expect(headers.slice(27)).toEqual([undefined, '-5', undefined, '60']);
});

test.each(mockAdapters.filter(({ name }) => /fetch|msw/.test(name)))(
  'fetch decodes a body in a content coding, through $name',
  async (adapter) => {
    await using it = await opened(adapter);
    it.mock.rules.add({ respond: { body: 'plain' } });
    for (const encoding of ['gzip', 'deflate', 'br'] as const) {
      it.mock.rules.add({ id: 'coding', encoding });
      expect((await it.sendWithKey()).body).toBe('plain');
    }
  },
);

test.each(mockAdapters)('HEAD has the headers of a coded GET, and no body, through $name', async (adapter) => {
  await using it = await opened(adapter);
  it.mock.rules.add({ encoding: 'gzip' });
  it.mock.rules.add({ respond: { status: 503, body: 'plain' }, nth: [3, 4] });
  const ask = (method: string) => it.send({ method, target, headers: { authorization: it.key } });

  for (const status of [200, 503]) {
    const [get, head] = [await ask('GET'), await ask('HEAD')];

    expect(get).toMatchObject({ status, headers: { 'content-encoding': 'gzip' } });
    expect(head).toEqual({ ...get, body: '' });
  }
  expect(it.mock.journal.list().map(({ responseBody }) => responseBody === undefined)).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

test.each(mockAdapters)('delays and dribble take only virtual time, through $name', async (adapter) => {
  await using it = await opened(adapter);
  const start = it.mock.clock.now();
  it.mock.rules.add({ delayMs: 5_400_000 });
  it.mock.rules.add({ fail: { kind: 'dribble', chunkBytes: 16, intervalMs: 60_000 } });

  const response = await it.sendWithKey();

  expect(JSON.parse(response.body).data.timestamp).toBe('2026-01-15T00:00:00.000Z');
  const pauses = Math.ceil(Buffer.byteLength(response.body) / 16) - 1;
  expect(it.mock.clock.now() - start).toBe(5_400_000 + pauses * 60_000);
  expect(it.mock.journal.list().at(-1)).toMatchObject({ at: start, status: 200 });
});

test.each(mockAdapters)('a network error prevents the response, through $name', async (adapter) => {
  await using it = await opened(adapter);
  it.mock.rules.add({ fail: { kind: 'network-error' }, times: 1 });

  await expect(it.sendWithKey()).rejects.toThrow();

  expect((await it.sendWithKey()).status).toBe(200);
  expect(it.mock.journal.list()).toMatchObject([
    { status: 0, why: 'served; rule_1: the connection broke off', rules: ['rule_1'] },
    { status: 200, why: 'served', rules: [] },
  ]);
});

const CUTS: readonly Failure[] = [
  { kind: 'reset' },
  { kind: 'reset', afterBytes: 0 },
  { kind: 'reset', afterBytes: 20 },
  { kind: 'reset', afterBytes: 1_000_000 },
  { kind: 'truncate', afterBytes: 20 },
  { kind: 'truncate', afterBytes: 1_000_000 },
];

/** The code of the system, from any place where the library has it. */
async function outcome(send: () => ReturnType<Send>): Promise<unknown> {
  try {
    return (await send()).status;
  } catch (error) {
    const { code, cause } = error as { code?: string; cause?: { code?: string } };
    return cause?.code ?? code;
  }
}

/** node:http has one message for every incomplete response. */
const expectedCode = ({ kind }: Failure, { name }: MockAdapter) =>
  kind === 'reset' || name.includes('node:http') ? 'ECONNRESET' : 'UND_ERR_SOCKET';

test.each(mockAdapters.filter(({ adapter }) => adapter !== 'msw'))(
  'a broken connection has the code of a real one, through $name',
  async (adapter) => {
    await using it = await opened(adapter);
    const seen = [];
    for (const fail of CUTS) {
      it.mock.rules.add({ fail });
      seen.push(await outcome(it.sendWithKey));
      it.mock.rules.clear();
      // The connection after it works.
      expect((await it.sendWithKey()).status).toBe(200);
    }

    expect(seen).toEqual(CUTS.map((fail) => expectedCode(fail, adapter)));
    expect(used(it.mock, it.id)).toBe(2 * CUTS.length);
  },
);

test.each(mockAdapters.filter(({ adapter }) => adapter === 'msw'))(
  'adding a rule that breaks the connection is an error with the alternative, through $name',
  async (adapter) => {
    await using it = await opened(adapter);
    await it.sendWithKey(); // handlers count as in use from their first request

    for (const fail of CUTS) {
      expect(() => it.mock.rules.add({ fail })).toThrow(/is not possible through msw .*Use '(network-error|bad-json)'/);
    }
  },
);

test.each(mockAdapters.filter(({ adapter }) => adapter !== 'socket'))(
  'adding a rule that needs a real connection is an error, through $name',
  async (adapter) => {
    await using it = await opened(adapter);

    const rule = { fail: { kind: 'malformed-chunk' } } as const;
    expect(() => it.mock.rules.add(rule)).toThrow(/serve the mock with mock\.serve\(\)/);
    expect(it.mock.rules.list()).toEqual([]);
  },
);

const HANG_ENDINGS: [string, object, (mock: MockServer) => Promise<unknown>, RegExp][] = [
  ['the end of its rule', { forMs: 30_000 }, ({ clock }) => clock.advance(30_000), /rule_1: no response, .* 30000 ms$/],
  ['closing the mock', {}, (mock) => mock.close(), /^served; rule_1: never responds$/],
];

test.each(
  mockAdapters.flatMap((through) => HANG_ENDINGS.map(([by, rule, end, why]) => ({ through, by, rule, end, why }))),
)('$by ends a request that hangs, through $through.name', async ({ through, rule, end, why }) => {
  await using it = await opened(through);
  it.mock.rules.add({ fail: { kind: 'hang' }, times: 1, ...rule });
  const hanging = it.sendWithKey().then(
    () => 'succeeded',
    () => 'broken off',
  );
  await it.mock.journal.waitFor();

  await end(it.mock);

  expect(await hanging).toBe('broken off');
  expect(it.mock.journal.list()).toMatchObject([
    { status: 0, responseHeaders: undefined, why: expect.stringMatching(why) },
  ]);
});
