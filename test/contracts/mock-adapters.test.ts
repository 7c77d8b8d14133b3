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
