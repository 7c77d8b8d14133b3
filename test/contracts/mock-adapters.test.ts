import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { mockAdapters } from '../helpers/mock-adapters.ts';
import { story } from '../helpers/mock-story.ts';
import { mockWithKey } from '../helpers/mock-with-key.ts';

const newMock = (behaviour = {}) =>
  createMockServer({ seed: 7, clock: { mode: 'virtual', autoAdvance: false }, behaviour });

const BEHAVIOURS = {
  'as by default': {},
  'with every header': {
    rateHeaders: 'ietf-draft',
    retryAfterFormat: 'decimal',
    quotaRetryAfter: 'until-reset',
    optionsRequests: 'allow-header',
    cors: 'any-origin',
    etag: 'weak',
    unknownRoute: '404 after authentication',
  },
} as const;

for (const [described, behaviour] of Object.entries(BEHAVIOURS)) {
  const expected = newMock(behaviour);
  const told = story(expected, async ({ method = 'GET', target, headers = {}, body }) => {
    const init: RequestInit = { method, headers, ...(body === undefined ? {} : { body }) };
    const response = await expected.fetch(expected.baseUrl + target, init);
    const text = await response.text();
    return { status: response.status, headers: Object.fromEntries([...response.headers].sort()), body: text };
  });

  test.each(mockAdapters)(`$name responds with the same bytes, ${described}`, async ({ open }) => {
    const mock = newMock(behaviour);
    const { send, close } = await open(mock);

    const responses = await story(mock, send).finally(close);

    expect(responses).toEqual(await told);
  });
}

test.each(mockAdapters)('$name reads a leading double slash as another path', async ({ open }) => {
  const mock = newMock();
  const { send, close } = await open(mock);

  const response = await send({ target: '//api/v1/latest' }).finally(close);

  expect(response.status).toBe(404);
  expect(mock.journal.list().at(-1)).toMatchObject({ path: '//api/v1/latest' });
});

test.each(mockAdapters)('$name: a request is early from a refusal to the end of its Retry-After', async ({ open }) => {
  const { mock, key, id } = mockWithKey({ seed: 7 });
  const { send, close } = await open(mock);
  const ask = () => send({ target: '/api/v1/quota', headers: { authorization: `Bearer ${key}` } });

  mock.keys.setUsage(id, { minute: 30 });
  for (let request = 0; request < 2; request += 1) await ask();
  await mock.clock.advance(60_000);
  await ask();
  await close();

  expect(mock.audit().earlyRetries).toMatchObject([{ number: 2, keyId: id, earlyByMs: 60_000 }]);
});

test.each(mockAdapters)('of 40 requests at once, as many as both limits allow are served: $name', async ({ open }) => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const [monthly, minutely] = [mock.createKey(), mock.createKey()];
  mock.keys.setUsage(monthly.id, { month: 1000 - 15 });
  const { send, close } = await open(mock);
  const askAll = async (key: string) => {
    const request = { target: '/api/v1/latest?symbols=EUR', headers: { authorization: key } };
    const responses = await Promise.all(Array.from({ length: 40 }, () => send(request)));
    const codes = responses.map(({ body }) => /"code":"(\w+)"/.exec(body)?.[1] ?? 'served');
    return ['served', 'quota_exceeded', 'rate_limited'].map((one) => codes.filter((code) => code === one).length);
  };

  const counts = await Promise.all([monthly.key, minutely.key].map(askAll)).finally(close);

  expect(counts).toEqual([
    [15, 25, 0],
    [30, 0, 10],
  ]);
  expect([monthly, minutely].map(({ id }) => mock.keys.get(id).month.used)).toEqual([1000, 30]);
});

test.each(mockAdapters)('a rule for its own route receives the body of a request, through $name', async ({ open }) => {
  const { mock } = mockWithKey({ seed: 7 });
  const match = { path: '/api/v1/echo', method: 'POST' };
  mock.rules.add({ match, counted: false, respond: ({ body }) => ({ body: `heard ${body}` }) });
  const { send, close } = await open(mock);

  const { status, body } = await send({ ...match, target: match.path, body: 'words' }).finally(close);

  expect([status, body]).toEqual([200, 'heard words']);
});
