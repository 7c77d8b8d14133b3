import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FxRates, FxRatesError, type FxRatesOptions } from '../../src/client/index.ts';
import { operations } from '../../src/generated/operations.ts';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { lintProblems } from '../helpers/lint-problems.ts';
import { mockWithKey } from '../helpers/mock-with-key.ts';
import { BASE_URL, errorOf } from '../helpers/test-client.ts';

/** Facts of the service's specification that no other test states as such; docs/facts.md lists them all. */
const newMock = (behaviour = {}) => createMockServer({ clock: { mode: 'virtual', autoAdvance: false }, behaviour });

const LATEST = '/api/v1/latest';
const QUOTA = '/api/v1/quota';

async function ask(mock: MockServer, target: string, { key, method = 'GET' }: { key?: string; method?: string } = {}) {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await mock.fetch(mock.baseUrl + target, { method, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** A client whose requests are recorded when they are sent. */
function watched(mock: MockServer, apiKey: string, auth?: FxRatesOptions['auth']) {
  const sent: Request[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    sent.push(new Request(input, init));
    return mock.fetch(input, init);
  };
  const options = { ...mock.clientOptions(), apiKey, fetch, logger: { warn: () => undefined } };
  return { sent, fx: new FxRates(auth === undefined ? options : { ...options, auth }) };
}

test('a strict linter finds no problem in the contract', async () => {
  const contract = await readFile(join(import.meta.dirname, '../../openapi.yaml'), 'utf8');

  expect(await lintProblems(contract)).toEqual([]);
});

test('the contract is two endpoints, latest and quota, both GET below /api/v1', () => {
  const endpoints = Object.values(operations).map(({ method, path }) => `${method} ${path}`.toUpperCase());

  expect(endpoints.sort()).toEqual(['GET /API/V1/LATEST', 'GET /API/V1/QUOTA']);
});

test('the paths of the API are relative to the base URL', async () => {
  const urls: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    urls.push(String(input instanceof Request ? input.url : input));
    return Response.json({ success: true, data: {} });
  };

  for (const base of [BASE_URL, `${BASE_URL}/gateway/`]) {
    await new FxRates({ baseUrl: base, apiKey: 'a'.repeat(48), fetch, logger: { warn: () => undefined } }).latest();
  }

  expect(urls).toEqual([`${BASE_URL}/api/v1/latest`, `${BASE_URL}/gateway/api/v1/latest`]);
});

test.each([LATEST, QUOTA])('%s without a key is refused, and the client never sends it so', async (target) => {
  const mock = newMock();

  const { status, body } = await ask(mock, target);
  const error = await errorOf(() => new FxRates({ ...mock.clientOptions(), apiKey: '' }).latest());

  expect([status, body.success, body.data]).toEqual([401, false, undefined]);
  expect(error).toMatchObject({ kind: 'config' });
  expect(mock.journal.list()).toHaveLength(1);
});

test.each<[FxRatesOptions['auth'], (key: string) => [string | null, string]]>([
  ['bearer', (key) => [`Bearer ${key}`, '']],
  ['header', (key) => [key, '']],
  ['query', (key) => [null, `?api_key=${key}`]],
])("the key is sent only in the form '%s', and accepted", async (auth, form) => {
  const { mock, key } = mockWithKey();
  const { fx, sent } = watched(mock, key, auth);

  await fx.quota();

  expect([sent[0]!.headers.get('authorization'), new URL(sent[0]!.url).search]).toEqual(form(key));
  expect(mock.journal.list()).toMatchObject([{ status: 200 }]);
});

test('a request for the quota is a GET without body and without parameters', async () => {
  const mock = newMock();
  const { fx, sent } = watched(mock, mock.createKey().key);

  await fx.quota();

  expect(sent[0]).toMatchObject({ method: 'GET', body: null, url: `${mock.baseUrl}${QUOTA}` });
});

test('every response is an envelope: data on success, else code, message and status', async () => {
  const { mock, id, key } = mockWithKey();
  const responses = [
    await ask(mock, LATEST, { key }),
    await ask(mock, QUOTA, { key }),
    await ask(mock, LATEST),
    await ask(mock, QUOTA, { key: 'nonsense' }),
    await ask(mock, '/api/v1/nothing', { key }),
    await ask(mock, LATEST, { key, method: 'POST' }),
  ];
  mock.keys.setUsage(id, { month: 1000 });
  responses.push(await ask(mock, LATEST, { key }));
  for (let request = 0; request < 30; request += 1) responses.push(await ask(mock, QUOTA, { key }));
  mock.keys.revoke(id);
  responses.push(await ask(mock, QUOTA, { key }));

  for (const { status, headers, body } of responses) {
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const failed = { code: expect.stringMatching(/^\w+$/), message: expect.stringMatching(/\w/), status };
    expect(body).toEqual(
      status === 200 ? { success: true, data: expect.any(Object) } : { success: false, error: failed },
    );
  }
  expect([...new Set(responses.map(({ status }) => status))]).toEqual([200, 401, 404, 405, 429]);
});

const PLANS = [
  { plan: 'free', perMinute: 30, perMonth: 1000 },
  { plan: 'developer', perMinute: 300, perMonth: 100_000 },
  { plan: 'unlimited', perMinute: 1000, perMonth: null },
] as const;

test.each(PLANS)('the plan $plan serves $perMinute requests a minute and $perMonth a month', async (limits) => {
  const { plan, perMinute, perMonth } = limits;
  const { mock, id, key } = mockWithKey({ plan });

  for (let request = 0; request < perMinute; request += 1) {
    expect((await ask(mock, LATEST, { key })).status).toBe(200);
  }
  const beyond = await ask(mock, LATEST, { key });
  await mock.clock.advance(60_000);
  mock.keys.setUsage(id, { month: (perMonth ?? 10_000_000) - 1 });
  const ending = [await ask(mock, LATEST, { key }), await ask(mock, LATEST, { key })];

  expect([beyond.status, beyond.body.error.code]).toEqual([429, 'rate_limited']);
  expect(ending.map(({ status }) => status)).toEqual([200, perMonth === null ? 200 : 429]);
});

test.each(PLANS)('the quota record of the plan $plan is returned unchanged', async ({ plan, perMinute, perMonth }) => {
  const { mock, key } = mockWithKey({ plan });
  await ask(mock, LATEST, { key });
  const { body } = await ask(mock, QUOTA, { key });

  const quota = await watched(mock, key).fx.quota();

  expect(quota).toEqual(body.data);
  expect(quota).toEqual({
    plan,
    monthly_used: 1,
    monthly_limit: perMonth,
    rate_limit_per_minute: perMinute,
    snapshot_granularity: expect.stringMatching(/^\d+[a-z]+$/),
    historical_days: expect.any(Number),
    resets_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(Number.isInteger(quota.historical_days)).toBe(true);
});

test('a 429 rate_limited has a numeric Retry-After and is not counted', async () => {
  const { mock, id, key } = mockWithKey();
  for (let request = 0; request < 30; request += 1) await ask(mock, LATEST, { key });

  const refused = await ask(mock, LATEST, { key });
  const error = await errorOf(watched(mock, key).fx.latest({}, { onLimit: 'throw' }));

  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(mock.keys.get(id).month.used).toBe(30);
  expect(error).toMatchObject({ kind: 'rate_limited', code: 'rate_limited', retryAfterMs: 60_000 });
});

test('no path of the API creates, lists or revokes keys', async () => {
  const { mock, id, key } = mockWithKey({ plan: 'developer' });

  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
    for (const path of ['/api/v1/keys', `/api/v1/keys/${id}`, '/api/v1/accounts']) {
      expect((await ask(mock, path, { key, method })).status).toBe(404);
    }
  }

  expect(mock.keys.list()).toMatchObject([{ id, state: 'active' }]);
});

test('a key is rotated without downtime: create a new one, deploy it, revoke the old one', async () => {
  const { mock, id, key, accountId } = mockWithKey({ plan: 'developer' });
  let deployed = key;
  const fx = new FxRates({ ...mock.clientOptions(), apiKey: () => deployed, logger: { warn: () => undefined } });
  const before = await fx.quota();

  const next = mock.keys.create({ accountId });
  deployed = next.key;
  const between = await fx.quota();
  mock.keys.revoke(id);
  const after = await fx.quota();

  expect([before.plan, between.plan, after.plan]).toEqual(['developer', 'developer', 'developer']);
  expect(mock.keys.list().map(({ state }) => state)).toEqual(['revoked', 'active']);
});

test('a revoked key fails on the next request of the client and on all later ones', async () => {
  const { mock, id, key } = mockWithKey();
  const { fx } = watched(mock, key);
  await fx.quota();

  mock.keys.revoke(id);
  const errors = [await errorOf(fx.quota()), await errorOf(fx.latest())];
  await mock.clock.advanceTo('quota-reset');
  errors.push(await errorOf(fx.latest()));

  expect(errors.map((error) => FxRatesError.is(error) && error.kind)).toEqual(Array(3).fill('authentication'));
});
