import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { mockAdapters } from '../helpers/mock-adapters.ts';
import { story } from '../helpers/mock-story.ts';

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

test.each(mockAdapters.filter(({ losesDoubleSlash }) => !losesDoubleSlash))(
  '$name reads a leading double slash as another path',
  async ({ open }) => {
    const mock = newMock();
    const { send, close } = await open(mock);

    const response = await send({ target: '//api/v1/latest' }).finally(close);

    expect(response.status).toBe(404);
    expect(mock.journal.list().at(-1)).toMatchObject({ path: '//api/v1/latest' });
  },
);

test.each(mockAdapters)(
  '$name: a request is early from the arrival of a refusal to the end of its Retry-After',
  async ({ open }) => {
    const mock = newMock();
    const { key, id } = mock.createKey();
    const { send, close } = await open(mock);
    const ask = () => send({ target: '/api/v1/quota', headers: { authorization: `Bearer ${key}` } });

    for (let request = 0; request < 32; request += 1) await ask();
    await mock.clock.advance(60_000);
    await ask();
    await close();

    expect(mock.audit().earlyRetries).toMatchObject([{ number: 32, keyId: id, earlyByMs: 60_000 }]);
  },
);
