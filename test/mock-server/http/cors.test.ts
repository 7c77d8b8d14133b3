import { HttpResponse, http } from 'msw';
import { expect, test } from 'vitest';
import { createMockServer, type MockServer } from '../../../src/mock-server/index.ts';

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

test('successes, refusals, faults and handlers are readable, with their headers', async () => {
  const mock = newMock();
  const headers = { ...PAGE, authorization: `Bearer ${mock.createKey().key}` };
  mock.use(http.get('*/api/v1/handled', () => HttpResponse.json({})));
  mock.faults.add({ kind: 'status', status: 503, nth: 4 });

  const responses = [
    await ask(mock, '/api/v1/latest', { headers }),
    await ask(mock, '/api/v1/latest', { headers: PAGE }),
    await ask(mock, '/api/v1/handled', { headers }),
    await ask(mock, '/api/v1/latest', { headers }),
  ];

  expect(responses.map(({ status }) => status)).toEqual([200, 401, 200, 503]);
  for (const response of responses) {
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toMatch(/ETag, Retry-After, RateLimit,/);
  }
});

test('a preflight does not count as a request for a fault', async () => {
  const mock = newMock();
  mock.faults.add({ kind: 'status', status: 503, nth: 2 });
  const statuses: number[] = [];

  for (const init of [PREFLIGHT, {}, PREFLIGHT, {}]) statuses.push((await ask(mock, '/api/v1/latest', init)).status);

  expect(statuses).toEqual([204, 401, 204, 503]);
});

test('pages of other origins cannot read the control panel and the admin API', async () => {
  const mock = newMock();
  await using server = await mock.serve();

  for (const path of ['/__fxrates/', '/__fxrates/panel.js', '/__fxrates/health', '/__fxrates/snapshot', '/']) {
    for (const init of [PREFLIGHT, { headers: PAGE }]) {
      const response = await fetch(server.url + path, init);
      const isApi = path === '/' && response.status !== 200;
      if (!isApi) expect([path, response.headers.get('access-control-allow-origin')]).toEqual([path, null]);
    }
  }
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
