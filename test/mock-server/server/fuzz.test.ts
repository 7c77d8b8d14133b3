import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMockServer, type MockServer, type RunningServer } from '../../../src/mock-server/index.ts';
import { adminRoutes } from '../../../src/mock-server/server/routes.ts';
import { inLongRuns } from '../../helpers/long-tests.ts';
import { byNodeHttp } from '../../helpers/mock-adapters.ts';
import { mutated } from '../../helpers/mutated.ts';

let mock: MockServer;
let server: RunningServer;
let key: string;
/** An unused key, which is sent in every wrong place. */
const CANARY = `fx_live_${'ca11ab1e'.repeat(6)}`;

beforeEach(async () => {
  mock = createMockServer({ clock: 'virtual' });
  server = await mock.serve();
  key = mock.createKey().key;
});
afterEach(() => mock.close());

/** Without the routes that respond late or never by design. */
const ROUTES = adminRoutes.filter(({ id }) => id !== 'waitForRequests');
const MAKES_A_KEY = ['createKey', 'createAccountKey', 'openSpace', 'setUp'];
const words = (text: string) => text.split(/\s+/);
/** Names that the routes accept, for any position. */
const NAMES = [
  ...words(`advanceMs advanceTo frozen plan email month preset about kind status match times nth probability forMs
    latencyMs afterBytes strikes retryAfter headers body code id name clock behaviour version now accounts stubs usage
    keys faults random rateWindow retryAfterUnit unlimitedFairUse value provenance __proto__ constructor toString limit
    after accountId to operation keyId`),
  CANARY,
];
const PRIMITIVES = [null, true, -1, 0, 0.5, 1e15, 1e308, -1e308, 8.64e15, ''];
const TEXTS =
  words(`free unlimited quota-reset next-window 2026-01-01T00:00:00Z +275760-09-13T00:00:00.001Z key_1 account_1
  hang hostile lenient status reset virtual sliding-log fixed-epoch ../../etc`);
const scalar = fc.oneof(
  fc.constantFrom<unknown>(...PRIMITIVES),
  fc.constantFrom(CANARY, ...TEXTS),
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
);
const { body: bodies } = fc.letrec<{ value: unknown; body: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('value'), { maxLength: 3 }), tie('body')),
  body: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 5 }),
}));
const parameter = fc.oneof(
  fc.constantFrom(CANARY, ...words('key_1 account_1 rule_1 1 0 .. %2e%2e %2F % %00 __proto__ a//b')),
  fc.string({ maxLength: 200 }).map(encodeURIComponent),
);
const query = fc.oneof(
  fc.constant(''),
  fc.dictionary(fc.constantFrom(...NAMES), fc.string(), { maxKeys: 3 }).map((all) => `?${new URLSearchParams(all)}`),
  fc.webQueryParameters().map((text) => `?${encodeURI(text)}`),
);
const call = fc.record({
  route: fc.constantFrom(...ROUTES),
  parameter,
  query,
  body: fc.oneof(
    { weight: 5, arbitrary: bodies.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  ),
});

test('the admin API handles any input without a 500 and without showing a key', async () => {
  await fc.assert(
    fc.asyncProperty(call, async ({ route, parameter, query, body }) => {
      const path = `/__fxrates${route.path.replace(/\{\w+\}/g, () => parameter)}${query}`;

      // The response of a rule is text of the caller and is returned unchanged.
      const sent = route.tag === 'rules' ? body.replaceAll(CANARY, 'text') : body;
      const { status, text } = await send(route.method, path, ['GET', 'HEAD'].includes(route.method) ? '' : sent);

      expect(status, `${route.id} ${path} ${body}: ${text}`).toBeLessThan(500);
      // After a reset, the first created key is this one again, and is shown once.
      if (!MAKES_A_KEY.includes(route.id)) expect(text).not.toContain(key);
      expect(text).not.toContain(CANARY);
      if (status >= 400) expect(JSON.parse(text).error.code).toMatch(/^\w+$/);
    }),
    { numRuns: inLongRuns(500, 100) },
  );

  expect((await send('GET', '/__fxrates/health', '')).status).toBe(200);
});

/** Valid requests, which the test changes slightly. */
const RIGHT: readonly (readonly [method: string, path: string, bodies: readonly unknown[]])[] = [
  ['POST', '/clock', [{ advanceMs: 1000 }, { advanceTo: 'quota-reset' }, { advanceTo: '2027-01-01T00:00:00Z' }]],
  ['POST', '/accounts', [{ email: 'a@example.test', plan: 'free' }]],
  ['PUT', '/accounts/account_1/plan', [{ plan: 'developer' }]],
  ['PUT', '/keys/key_1/usage', [{ month: 999 }]],
  ['PATCH', '/behaviour', [{ rateWindow: 'token-bucket', preset: 'hostile' }, { unlimitedFairUse: 5 }]],
  ['PATCH', '/behaviour', [{ preset: 'lenient', retryAfterUnit: { value: 'milliseconds', provenance: 'observed' } }]],
  ['POST', '/spaces', [{ name: 'one', plan: 'free', clock: { mode: 'virtual', now: '2026-01-01T00:00:00Z' } }]],
  [
    'POST',
    '/rules',
    [
      { respond: { status: 503, error: { code: 'maintenance' }, headers: { 'retry-after': '3' } }, counted: false },
      { fail: { kind: 'reset', afterBytes: 10 }, nth: [1, 2], times: 3, probability: 0.5, forMs: 1000, id: 'mine' },
      { retryAfter: '5', delayMs: { min: 0, max: 3 }, match: { operation: 'latest', path: '/api/*', status: 429 } },
      { respond: [{ data: { a: 1 } }, { body: 'x' }], encoding: 'gzip', afterMs: 5, delayMs: 1 },
    ],
  ],
];
const SEEN_BY = ['/clock', '/state', '/accounts', '/keys', '/rules', '/requests', '/audit', '/behaviour'];

test('the mock still responds after slightly invalid admin requests', async () => {
  const state = richState();
  const bent = fc.oneof(
    ...RIGHT.map(([method, path, bodies]) => mutated(bodies).map((body) => ({ method, path, body }))),
    mutated([state]).map((body) => ({ method: 'PUT', path: '/state', body })),
  );
  await fc.assert(
    fc.asyncProperty(bent, async ({ method, path, body }) => {
      mock.restore(state);

      const { status, text } = await send(method, `/__fxrates${path}`, JSON.stringify(body));

      expect(status, text).toBeLessThan(500);
      expect(text).not.toMatch(/expected (?:Invalid|Too|Unrecognized) /); // the words of zod
      mock.rules.clear();
      for (const seen of SEEN_BY) {
        const shown = await send('GET', `/__fxrates${seen}`, '');
        expect(shown.status, `${seen}: ${shown.text}`).toBe(200);
      }
      for (const target of ['latest', 'quota']) {
        const response = await mock.fetch(`${mock.baseUrl}/api/v1/${target}`, { headers: { authorization: key } });
        expect([target, await response.json()]).not.toMatchObject([target, { error: { code: 'internal_error' } }]);
      }
    }),
    { numRuns: inLongRuns(300, 50) },
  );
});

/** A state that has entries of every kind. */
function richState() {
  mock.accounts.create({ email: 'b@example.test', plan: 'unlimited' });
  mock.keys.revoke(mock.createKey({ plan: 'developer' }).id);
  mock.keys.setUsage('key_1', { month: 900 });
  mock.rules.add({ times: 2, delayMs: 5 });
  return JSON.parse(JSON.stringify(mock.snapshot()));
}

async function send(method: string, target: string, text: string) {
  const authorization = `Bearer ${server.adminToken}`;
  const content = { headers: { authorization, 'content-type': 'application/json' }, body: text };
  const message = text === '' ? { headers: { authorization } } : content;
  const { status, body } = await byNodeHttp(server.url)({ method, target, ...message });
  return { status, text: body };
}
