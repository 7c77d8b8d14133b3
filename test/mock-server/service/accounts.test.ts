import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { apiKeyPattern } from '../../../src/generated/service.ts';
import { createMockServer, type MockServer } from '../../../src/mock-server/index.ts';
import { MockCore } from '../../helpers/mock-core.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';

const virtual = (behaviour = {}) => createMockServer({ clock: 'virtual', behaviour });

function confirmed(mock: MockServer, plan: 'free' | 'developer' | 'unlimited') {
  const account = mock.accounts.create({ plan });
  return mock.accounts.confirm(account.id);
}

const statusOf = async (mock: MockServer, key: string) =>
  (await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: `Bearer ${key}` } })).status;

test('a new account is unconfirmed, on the Free plan, with the time of the clock', () => {
  const mock = virtual();

  const account = mock.accounts.create({ email: 'a@example.test' });

  expect(account).toEqual({
    id: 'account_1',
    email: 'a@example.test',
    plan: 'free',
    confirmed: false,
    createdAt: Date.parse('2026-01-15T00:00:00.000Z'),
  });
  expect(mock.accounts.confirm(account.id).confirmed).toBe(true);
  expect(mock.accounts.list()).toHaveLength(1);
});

test('no key is created before the e-mail address is confirmed', () => {
  const mock = virtual();
  const { id } = mock.accounts.create();

  expect(() => mock.keys.create({ accountId: id })).toThrow(
    expect.objectContaining({ name: 'MockServerError', code: 'email_not_confirmed', status: 403 }),
  );
  expect(mock.keys.list()).toEqual([]);
});

test.each([
  ['free', 1],
  ['developer', 3],
  ['unlimited', 10],
] as const)('the %s plan has room for %i active keys, and a revoked one makes room', (plan, cap) => {
  const mock = virtual();
  const { id } = confirmed(mock, plan);
  const keys = Array.from({ length: cap }, () => mock.keys.create({ accountId: id }));

  expect(() => mock.keys.create({ accountId: id })).toThrow(
    expect.objectContaining({
      code: 'key_limit_reached',
      status: 409,
      message: `${id} has ${cap} active key${cap === 1 ? '' : 's'} and the ${plan} plan allows ${cap}; revoke one first.`,
    }),
  );

  mock.keys.revoke(keys[0]!.id);
  expect(mock.keys.create({ accountId: id }).key).toMatch(new RegExp(apiKeyPattern));
  expect(() => mock.keys.create({ accountId: id })).toThrow('revoke one first');
});

test('a key has the documented form, and all keys differ', () => {
  const mock = virtual();

  const keys = Array.from({ length: 500 }, () => mock.createKey().key);

  expect(keys.every((key) => /^fx_live_[0-9a-f]{48}$/.test(key))).toBe(true);
  expect(new Set(keys).size).toBe(500);
});

test('a seed, also one beyond 32 bits, has its own keys, the same on every machine', () => {
  const keys = [7, 7 + 2 ** 32].map((seed) => createMockServer({ seed }).createKey().key);

  expect(keys.map((key) => key.slice(8, 24))).toEqual(['90b5ef7fade85831', '20e8126dc3ac7e7c']);
});

test('only the SHA-256, the prefix and the last four characters of a key are stored', () => {
  const { mock, id, key } = mockWithKey({ clock: 'virtual' });

  expect(mock.keys.get(id)).toMatchObject({ masked: `fx_live_…${key.slice(-4)}`, state: 'active', month: { used: 0 } });
  expect(mock.snapshot().keys[0]?.hash).toBe(createHash('sha256').update(key).digest('hex'));
});

test('the next request of a revoked key fails, and it stays revoked', async () => {
  const { mock, id, key } = mockWithKey({ clock: 'virtual' });
  const before = await statusOf(mock, key);
  expect(mock.keys.get(id)).toMatchObject({ state: 'active', revokedAt: undefined });

  const revoked = mock.keys.revoke(id);
  await mock.clock.advance(1000);

  expect([before, await statusOf(mock, key)]).toEqual([200, 401]);
  expect(revoked).toMatchObject({ state: 'revoked', revokedAt: mock.clock.now() - 1000 });
  expect(mock.keys.revoke(id).revokedAt).toEqual(revoked.revokedAt);
});

test.each(['latest', 'quota'])('until setPlan, a token bucket of %s refills at the old rate', async (of) => {
  const behaviour = { rateWindow: 'token-bucket', quotaEndpointBucket: 'separate' } as const;
  const { mock, accountId, send } = mockWithKey({ behaviour });
  for (let request = 0; request < 30; request += 1) await send(`/api/v1/${of}`);
  await mock.clock.advance(10_000); // 5 tokens of the plan Free; 50 of the plan Developer

  mock.accounts.setPlan(accountId, 'developer');
  await send(`/api/v1/${of}`);

  expect(mock.journal.list().at(-1)?.rate?.used).toBe(26);
});

test.each([
  ['keep', [200, 200, 200], 1],
  ['revoke-newest', [200, 401, 401], 1],
  ['block', [200, 401, 401], 1],
  ['revoke-newest', [200, 200, 401], 2],
  ['block', [200, 200, 401], 2],
  ['revoke-newest', [200, 200, 200], 3],
  ['block', [200, 200, 200], null],
] as const)('active keys above the cap of a smaller plan, %s: %j', async (overCapKeys, expected, freeMaxActiveKeys) => {
  const mock = virtual({ overCapKeys, freeMaxActiveKeys });
  const { id } = confirmed(mock, 'developer');
  mock.keys.revoke(mock.keys.create({ accountId: id }).id);
  const keys = [1, 2, 3].map(() => mock.keys.create({ accountId: id }));

  mock.accounts.setPlan(id, 'free');

  expect(await Promise.all(keys.map(({ key }) => statusOf(mock, key)))).toEqual(expected);
});

test.each<[(mock: MockServer) => unknown, string]>([
  [(mock) => mock.accounts.get('account_9'), 'Account "account_9" does not exist; there are no accounts.'],
  [(mock) => mock.keys.get('key_9'), 'Key "key_9" does not exist; there are no keys.'],
  [(mock) => mock.keys.create({ accountId: 'x' }), 'Account "x" does not exist'],
  [(mock) => mock.createKey({ plan: 'gold' as never }), 'plan is "gold"; expected one of free, developer, unlimited.'],
  [(mock) => mock.accounts.setPlan('account_1', 'gold' as never), 'plan is "gold"; expected one of'],
  [(mock) => mock.accounts.create({ plan: ['free'] as never }), 'plan is ["free"]; expected one of'],
  [(mock) => mock.accounts.create({ email: 'nobody' }), 'email is "nobody"; expected an e-mail address.'],
  [(mock) => mock.accounts.create({ email: 'an ada@example.test' }), 'expected an e-mail address.'],
  [(mock) => mock.accounts.create({ email: 'ada@example.test or so' }), 'expected an e-mail address.'],
  [(mock) => mock.accounts.create({ email: ['ada@example.test'] as never }), 'expected an e-mail address.'],
  [
    (mock) => mock.accounts.create({ email: `fx_live_${'a1b2c3d4'.repeat(6)}@example.test` }),
    'email is "fx_live_…@example.test"; expected an e-mail address without an API key.',
  ],
  [(mock) => mock.keys.setUsage(mock.createKey().id, { month: -1 }), 'month is -1; expected a whole number from 0.'],
])('rejects an invalid argument with its value and what was expected', (act, message) => {
  expect(() => act(virtual())).toThrow(message);
});

test('an error about an unknown key names the newest of many keys', () => {
  const mock = virtual();
  for (let key = 1; key <= 11; key += 1) mock.createKey();

  expect(() => mock.keys.get('key_99')).toThrow('Key "key_99" does not exist; there are 11 keys, such as key_11.');
});

test('lists the keys of one account, all, or the newest', () => {
  const { mock, id: first, accountId } = mockWithKey({ clock: 'virtual', plan: 'developer' });
  const own = [first, mock.keys.create({ accountId }).id];
  const other = mock.createKey();

  expect(mock.keys.list({ accountId })).toEqual(own.map((keyId) => mock.keys.get(keyId)));
  expect(mock.keys.list().map((key) => key.id)).toEqual([...own, other.id]);
  expect(mock.keys.list({ limit: 1 }).map((key) => key.id)).toEqual([other.id]);
  expect(() => mock.keys.list({ limits: 1 } as never)).toThrow('limits is not an option of keys.list(); did you mean');
});

/** Status of a request with this key, and the reason in the journal. */
function responseTo(core: MockCore, key: string | undefined) {
  const { status } = core.send('/api/v1/quota', key === undefined ? {} : { key });
  return [status, core.journal.entries.at(-1)?.why];
}

test('the journal has the reason for a request that is refused for its key', () => {
  const core = new MockCore();
  const { id, key } = core.createKey();
  const unknown = `fx_live_${'0'.repeat(48)}`;

  const refused = [undefined, 'no-key', `${unknown}0`, unknown].map((sent) => responseTo(core, sent));
  core.keys.revoke(id);

  expect([...refused, responseTo(core, key)]).toEqual([
    [401, expect.stringContaining('the request has no API key')],
    [401, expect.stringContaining('the credential does not look like an API key')],
    [401, expect.stringContaining('the credential does not look like an API key')],
    [401, expect.stringContaining('this mock never created this key')],
    [401, expect.stringContaining('key_1 is revoked')],
  ]);
});

test('the reason names a key above the cap of its plan', () => {
  const core = new MockCore({ behaviour: { overCapKeys: 'block' } });
  const { id: accountId } = core.accounts.create({ plan: 'developer' });
  core.accounts.confirm(accountId);
  const [, second] = [1, 2].map(() => core.keys.create({ accountId }));

  core.accounts.setPlan(accountId, 'free');

  expect(responseTo(core, second!.key)).toEqual([
    401,
    expect.stringContaining('key_2 is above the cap of the free plan'),
  ]);
});

test.each(['api_key', 'api%5Fkey', 'api%5fkey', '%61%70%69%5F%6B%65%79', '%61pi_key'])(
  'reads the key of the parameter %s',
  (name) => {
    const core = new MockCore();
    const { id, key } = core.createKey();

    const { status } = core.send(`/api/v1/quota?base=EUR%2CUSD&${name}=${key}`);

    expect(status).toBe(200);
    expect(core.journal.entries.at(-1)).toMatchObject({ keyId: id, keyTransport: 'query', hasKeyInUrl: true });
  },
);

test('a key of another form is also reported in a URL if the name of the parameter is encoded', () => {
  const core = new MockCore();

  core.send('/api/v1/quota?api%5Fkey=another-form');

  expect(core.journal.entries.at(-1)).toMatchObject({ hasKeyInUrl: true, query: { api_key: '…' } });
});

test('the name of the parameter api_key is case-sensitive', () => {
  const core = new MockCore();
  const { key } = core.createKey();

  expect(core.send(`/api/v1/quota?API%5FKEY=${key}`).status).toBe(401);
});

test.each([
  ['keep', 10],
  ['reset', 0],
] as const)(
  'setPlan to the same plan changes nothing; to another, planChange %s leaves %i requests',
  (planChange, used) => {
    const mock = virtual({ planChange, quotaPeriod: 'rolling-30d' });
    const { id: accountId } = confirmed(mock, 'free');
    const { id } = mock.keys.create({ accountId });
    mock.keys.setUsage(id, { month: 10 });
    const { startedAt } = mock.keys.get(id).month;

    mock.accounts.setPlan(accountId, 'free');
    const same = mock.keys.get(id).month;
    mock.accounts.setPlan(accountId, 'developer');

    expect(same).toMatchObject({ used: 10, startedAt });
    expect(mock.keys.get(id).month.used).toBe(used);
  },
);
