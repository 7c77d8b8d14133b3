import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { operations } from '../../../src/generated/operations.ts';
import { querySchemas } from '../../../src/generated/schemas.ts';
import { createRouter } from '../../../src/mock-server/http/find-route.ts';
import { createMockServer, type MockServer } from '../../../src/mock-server/index.ts';
import type { Operation } from '../../../src/operation.ts';
import { MockCore } from '../../helpers/mock-core.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';

const historical: Operation = {
  ...operations.latest,
  id: 'historical',
  path: '/api/v1/historical/{date}',
  example: { success: true, data: { date: '2026-01-01', rates: { EUR: 0.9 } } },
};

function coreWith(operation: Operation, behaviour = {}) {
  return new MockCore({ operations: { ...operations, [operation.id]: operation }, behaviour });
}

test('an operation that needs no quota is not counted, and works when the month is used up', () => {
  const core = coreWith({ ...historical, consumesQuota: false, worksWhenQuotaExhausted: true });
  const { id, key } = core.createKey();
  core.keys.setUsage(id, { month: 1000 });

  expect(core.send('/api/v1/historical/2026-01-01', { key }).status).toBe(200);
  expect(core.keys.get(id).month.used).toBe(1000);
});

test.each([
  ['', 'served'],
  ['?plces=3', 'served; historical does not know the parameter "plces" (did you mean places?)'],
  ['?date=2026-01-02', 'served; historical does not know the parameter "date"'],
])('the reason for %s names parameters that an operation of the contract does not have', (search, why) => {
  const parameter = { description: '', required: false, type: 'date', types: ['string'], example: 'x' } as const;
  const parameters = [
    { ...parameter, name: 'date', in: 'path' } as const,
    { ...parameter, name: 'places', in: 'query' } as const,
  ];
  const operation: Operation = { ...historical, query: 'named', parameters };
  Object.assign(querySchemas, { historical: z.any() });
  onTestFinished(() => void Reflect.deleteProperty(querySchemas, 'historical'));
  const send = (behaviour = {}) => {
    const core = coreWith(operation, behaviour);
    const { status, body } = core.send(`/api/v1/historical/2026-01-01${search}`, { key: core.createKey().key });
    return { status, body, entry: core.journal.entries.at(-1) };
  };

  expect(send()).toMatchObject({ status: 200, entry: { why } });
  expect(send({ unknownParameters: '400' }).status).toBe(why === 'served' ? 200 : 400);
});

test('HEAD is refused as the switch says, also with responses for latest', async () => {
  const mock = createMockServer({ behaviour: { headRequests: 'refused' } });
  mock.latest.set({ base: 'EUR' });

  expect((await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { method: 'HEAD' })).status).toBe(405);
});

test('a fixed path comes before one with parameters', () => {
  const today: Operation = {
    ...historical,
    id: 'today',
    path: '/api/v1/historical/today',
  };
  const period: Operation = { ...today, id: 'period', path: '/api/v1/historical/{from}..{to}' };
  const core = new MockCore({ operations: { historical, period, today } });
  const { key } = core.createKey();

  for (const path of ['today', '2026-01-01..2026-02-01', '2026-01-01'])
    core.send(`/api/v1/historical/${path}`, { key });

  expect(core.journal.entries.map(({ operation }) => operation)).toEqual(['today', 'period', 'historical']);
});

test('an encoded dot belongs to a value, not to the text between two values', () => {
  const findRoute = createRouter({ pair: { ...historical, path: '/api/v1/{from}.{to}' } });

  expect(findRoute('GET', '/api/v1/1%2E5.2')).toMatchObject({ parameters: { from: '1.5', to: '2' } });
  expect(findRoute('GET', '/%61pi/v1/1.2')).toMatchObject({ parameters: { from: '1', to: '2' } });
});

test('a response escapes the parts of a request that it repeats for HTML', () => {
  const core = new MockCore({ behaviour: { unknownParameters: '400' } });

  const response = core.send('/api/v1/latest?%3Cscript%3E=1', { key: core.createKey().key });

  expect(response.headers['content-type']).toBe('application/json');
  expect(response.body.error.message).toContain('<script>');
  expect(response.text).not.toMatch(/[<>&]/);
});

const PAGE = { origin: 'https://page.test' };
const PREFLIGHT = {
  method: 'OPTIONS',
  headers: {
    ...PAGE,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization,prefer',
  },
};

const newMock = () => createMockServer({ clock: 'virtual', behaviour: { cors: 'any-origin' } });

const ask = (mock: MockServer, path: string, init?: RequestInit) => mock.fetch(mock.baseUrl + path, init);

test('a preflight allows the headers it asks for, on every path, and needs no key', async () => {
  const mock = newMock();

  for (const path of ['/api/v1/latest', '/api/v1/nothing']) {
    const response = await ask(mock, path, PREFLIGHT);

    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': 'authorization,prefer',
    });
  }
  expect(mock.journal.list()[0]).toMatchObject({ method: 'OPTIONS', status: 204, why: 'CORS preflight' });
});

test('a preflight with invalid header names allows only Authorization', async () => {
  const headers = { ...PREFLIGHT.headers, 'access-control-request-headers': 'authorization, <script>' };

  const response = await ask(newMock(), '/api/v1/latest', { method: 'OPTIONS', headers });

  expect(response.headers.get('access-control-allow-headers')).toBe('Authorization');
});

test('a preflight does not count as a request for a rule', async () => {
  const mock = newMock();
  mock.rules.add({ nth: 2, respond: { status: 503 }, counted: false });
  const statuses: number[] = [];

  for (const init of [PREFLIGHT, {}, PREFLIGHT, {}]) statuses.push((await ask(mock, '/api/v1/latest', init)).status);

  expect(statuses).toEqual([204, 401, 204, 503]);
});

test("a rule's own CORS headers are kept, and preflights allow its method", async () => {
  const mock = newMock();
  const headers = { ...PAGE, authorization: `Bearer ${mock.createKey().key}` };
  const own = { 'access-control-allow-origin': 'https://page.test', 'access-control-expose-headers': 'X-Own' };
  mock.rules.add({ match: { path: '/alerts', method: 'POST' }, respond: { body: {}, headers: own } });

  const preflight = await ask(mock, '/alerts', PREFLIGHT);
  const response = await ask(mock, '/alerts', { method: 'POST', headers });

  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS, POST');
  expect(Object.fromEntries(response.headers)).toMatchObject(own);
});

test('by default, sends no CORS headers, and lists the switch for requests with an origin', async () => {
  const mock = createMockServer({ clock: 'virtual' });

  const response = await ask(mock, '/api/v1/quota', { headers: PAGE });
  const preflight = await ask(mock, '/api/v1/quota', PREFLIGHT);
  await ask(mock, '/api/v1/quota');

  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect(preflight.status).toBe(405);
  expect(mock.journal.list().map(({ switches }) => switches.includes('cors'))).toEqual([true, true, false]);
});

test('responses to one target have the date of their second, and the form of their request', async () => {
  const { mock, key, send } = mockWithKey({
    behaviour: { cors: 'any-origin', headRequests: 'like-get' },
  });
  const authorization = `Bearer ${key}`;
  const seen = async (init: RequestInit) => {
    const { status, headers, text } = await send('/api/v1/latest', init);
    const entry = mock.journal.list().at(-1);
    expect(entry?.responseHeaders).toEqual(Object.fromEntries(headers));
    expect(entry?.responseBody ?? '').toBe(text);
    return [status, text !== '', headers.get('date')];
  };
  const requests: RequestInit[] = [
    { headers: { authorization } },
    { method: 'HEAD', headers: { authorization } },
    { headers: { authorization, origin: 'https://app.test' } },
    { headers: { authorization } },
  ];
  const rounds: unknown[] = [];
  for (const ms of [0, 999, 1]) {
    await mock.clock.advance(ms);
    for (const request of requests) rounds.push(await seen(request));
  }

  const expected = [0, 0, 1].flatMap((second) => {
    const date = new Date(Date.UTC(2026, 0, 15) + second * 1000).toUTCString();
    return [
      [200, true, date],
      [200, false, date],
      [200, true, date],
      [200, true, date],
    ];
  });
  expect(rounds).toEqual(expected);
});
