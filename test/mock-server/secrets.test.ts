import { inspect } from 'node:util';
import { HttpResponse, http } from 'msw';
import { expect, test } from 'vitest';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { mockAdapters } from '../helpers/mock-adapters.ts';

/** All output of the mock, as text. */
function everything(mock: MockServer): string {
  return [
    JSON.stringify(mock.snapshot()),
    JSON.stringify(mock.journal.list()),
    JSON.stringify(mock.accounts.list()),
    JSON.stringify(mock.keys.list()),
    JSON.stringify(mock),
    JSON.stringify(mock.clientOptions()),
    inspect(mock, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }),
    inspect(mock.behaviour.describe(), { depth: Number.POSITIVE_INFINITY }),
  ].join('\n');
}

/** The error of a failed action, with stack and cause. */
async function failure(act: () => unknown): Promise<string> {
  try {
    return inspect(await act(), { depth: Number.POSITIVE_INFINITY });
  } catch (error) {
    return inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  }
}

/** The secret half of a key, plain, URL-encoded and in base64. */
function formsOf(key: string): string[] {
  const digits = key.slice(key.lastIndexOf('_') + 1);
  return [
    digits,
    digits.slice(0, 12),
    Buffer.from(key).toString('base64').slice(0, 40),
    Buffer.from(digits).toString('hex'),
    escaped(digits),
  ];
}

/** Each character percent-encoded. */
function escaped(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '%$&');
}

test('the error of a handler is recorded without the key in it', async () => {
  const mock = createMockServer();
  const { key } = mock.createKey();
  mock.use(
    http.get('*/api/v1/latest', ({ request }) => {
      throw new Error(`for ${request.headers.get('authorization')}`);
    }),
  );

  await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: `Bearer ${key}` } });

  expect(mock.journal.list()[0]?.why).toBe('Error: for Bearer fx_live_…');
});

test.each(mockAdapters)('shows, logs and stores no key: $name', async ({ open }) => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const { id, key, accountId } = mock.createKey();
  const { send, close } = await open(mock);
  const said: unknown[] = [];
  for (const target of [
    '/api/v1/latest',
    '/api/v1/quota',
    '/nothing',
    `/api/v1/latest/${key}`,
    `/api/v1/latest/${key.replaceAll('_', '%5F')}`,
    `/api/v1/latest/${escaped(key)}`,
    `/api/v1/latest/${key.slice(0, 8)}${escaped(key.slice(8))}`,
    `/api/v1/latest?base=${key}`,
  ]) {
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: key },
      { authorization: `Basic ${key}` },
    ]) {
      said.push(await send({ target, headers }));
      said.push(await send({ target: `${target}${target.includes('?') ? '&' : '?'}api_key=${key}`, headers }));
    }
  }
  for (let request = 0; request < 31; request += 1) said.push(await send({ target: `/api/v1/latest?api_key=${key}` }));
  mock.keys.revoke(id);
  said.push(await send({ target: '/api/v1/latest', headers: { authorization: key } }));
  await close();

  const shown = everything(mock) + JSON.stringify(said);

  expect(formsOf(key).filter((form) => shown.includes(form))).toEqual([]);
  expect(shown).toContain(key.slice(-4));
  expect(shown).toContain(accountId);
});

test('an error message contains no key, wherever the key was sent', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  mock.use(http.get('/broken', () => HttpResponse.error()));

  const failures = await Promise.all(
    [
      () => mock.keys.get(key),
      () => mock.keys.revoke(key),
      () => mock.accounts.get(key),
      () => mock.keys.create({ accountId: key }),
      () => mock.createKey({ plan: key as never }),
      () => mock.behaviour.set({ rateWindow: key as never }),
      () => mock.behaviour.set({ [key]: 1 } as never),
      () => createMockServer({ baseUrl: `https://x.test/?api_key=${key}` }),
      () => createMockServer({ [key]: 1 } as never),
      () => mock.serve({ host: key }),
      () => mock.clock.advanceTo(key),
      () => mock.restore({ version: key } as never),
      () => mock.fetch(`https://elsewhere.test/${key}?api_key=${key}`, { headers: { authorization: key } }),
      () => mock.fetch(`${mock.baseUrl}/broken?api_key=${key}`),
    ].map(failure),
  );

  for (const text of failures) {
    expect(text).toMatch(/Error|Response/);
    for (const form of formsOf(key)) expect(text).not.toContain(form);
  }
});
