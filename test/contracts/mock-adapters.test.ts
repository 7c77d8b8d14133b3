import { expect, test } from 'vitest';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { mockAdapters, type PlainRequest, type PlainResponse, type Send } from '../helpers/mock-adapters.ts';

/** One day in the life of a mock; every adapter must tell it with the same bytes. */
async function story(mock: MockServer, send: Send): Promise<PlainResponse[]> {
  const { id, key } = mock.createKey({ plan: 'free' });
  const account = mock.accounts.create({ plan: 'developer' });
  mock.accounts.confirm(account.id);
  const other = mock.keys.create({ accountId: account.id });
  const bearer = { authorization: `Bearer ${key}` };
  const answers: PlainResponse[] = [];
  const play = async (requests: readonly PlainRequest[]) => {
    for (const request of requests) answers.push(await send(request));
  };

  await play([
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/latest?base=EUR&symbols=USD,JPY', headers: { authorization: key } },
    { target: `/api/v1/quota?api_key=${key}` },
    { target: `/api/v1/latest?base=GBP&api_key=${key}`, headers: { authorization: `Bearer ${other.key}` } },
    { target: '/api/v1/latest?base=%3Cscript%3E', headers: bearer },
    { target: '/api/v1/latest?base=%E2%82%AC&symbols=%zz', headers: bearer },
    { target: '/api/v1/latest' },
    { target: '/api/v1/latest', headers: { authorization: 'Bearer' } },
    { target: '/api/v1/latest', headers: { authorization: `bearer   ${key}` } },
    { target: '/api/v1/latest', headers: { authorization: 'Basic dTpw' } },
    { target: '/api/v1/latest', headers: { authorization: `Bearer fx_live_${'0'.repeat(48)}` } },
    { target: '/api/v1/latest', headers: { authorization: `Bearer ${'x'.repeat(10_000)}` } },
    { method: 'HEAD', target: '/api/v1/latest', headers: bearer },
    { method: 'HEAD', target: '/api/v1/nothing', headers: bearer },
    { method: 'OPTIONS', target: '/api/v1/latest', headers: bearer },
    { method: 'POST', target: '/api/v1/latest', headers: bearer, body: '{"base":"EUR"}' },
    { method: 'DELETE', target: '/api/v1/quota', headers: bearer },
    { method: 'PUT', target: '/api/v1/quota', headers: bearer, body: 'x'.repeat(1024 * 1024 + 1) },
    { target: '/', headers: bearer },
    { target: '/api/v1/latest/', headers: bearer },
    { target: '/api/v1//latest', headers: bearer },
    { target: '/API/V1/latest', headers: bearer },
    { target: '/api/v1/latest%2F', headers: bearer },
    { target: '/api/v1/%E0%A4%A', headers: bearer },
    { target: '/api/v1/historical?date=2026-01-01', headers: bearer },
  ]);
  await play(Array.from({ length: 26 }, () => ({ target: '/api/v1/latest', headers: bearer })));
  await mock.clock.advance(59_999);
  await play([{ target: '/api/v1/quota', headers: bearer }]);
  await mock.clock.advance(1);
  mock.keys.setUsage(id, { month: 999 });
  await play([
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/quota', headers: bearer },
  ]);
  await mock.clock.advanceTo('quota-reset');
  mock.keys.revoke(other.id);
  await play([
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/quota', headers: bearer },
    { target: '/api/v1/quota', headers: { authorization: other.key } },
  ]);
  return answers;
}

const newMock = (behaviour = {}) =>
  createMockServer({ seed: 7, clock: { mode: 'virtual', autoAdvance: false }, behaviour });

const BEHAVIOURS = {
  'as by default': {},
  'with every header': {
    rateHeaders: 'ietf-draft',
    retryAfterFormat: 'decimal',
    quotaRetryAfter: 'until-reset',
    optionsRequests: 'allow-header',
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

  test.each(mockAdapters)(`$name answers with the same bytes, ${described}`, async ({ open }) => {
    const mock = newMock(behaviour);
    const { send, close } = await open(mock);

    const answers = await story(mock, send).finally(close);

    expect(answers).toEqual(await told);
  });
}

test.each(mockAdapters.filter(({ losesDoubleSlash }) => !losesDoubleSlash))(
  '$name takes a leading double slash for another path',
  async ({ open }) => {
    const mock = newMock();
    const { send, close } = await open(mock);

    const answer = await send({ target: '//api/v1/latest' }).finally(close);

    expect(answer.status).toBe(404);
    expect(mock.journal.list().at(-1)).toMatchObject({ path: '//api/v1/latest' });
  },
);
