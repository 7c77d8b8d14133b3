import { expect, test } from 'vitest';
import type { MockServer } from '../../../src/mock-server/index.ts';
import { servedMock } from '../../helpers/served-mock.ts';

/** The status of a request with this key. */
const statusOf = async ({ call }: Awaited<ReturnType<typeof servedMock>>, key: string) =>
  (await call(key, '/api/v1/quota')).status;

const KEY = /fx_live_[0-9a-f]{48}/;

test('signs up, confirms by e-mail, and creates a key that is shown once', async () => {
  await using it = await servedMock();

  const account = await it.admin('POST', '/accounts', { email: 'ada@example.test', plan: 'developer' });
  expect(account.body).toMatchObject({ id: 'account_1', confirmed: false });
  const [mail] = (await it.admin('GET', '/outbox?to=ada@example.test')).body;
  expect(mail).toMatchObject({ accountId: 'account_1', subject: 'Confirm your e-mail address' });
  expect((await it.admin('POST', `/accounts/${mail.accountId}/confirm`)).body.confirmed).toBe(true);

  const created = await it.admin('POST', '/accounts/account_1/keys');
  const { key, id } = created.body;
  expect(key).toMatch(KEY);
  expect(await statusOf(it, key)).toBe(200);
  for (const path of ['/keys', `/keys/${id}`, '/state']) {
    const { text } = await it.admin('GET', path);
    expect(text).toContain(key.slice(-4));
    expect(text).not.toMatch(KEY);
  }
});

test('a revoked key fails and makes room for another', async () => {
  await using it = await servedMock();
  const { id, key, accountId } = it.mock.createKey();
  const full = await it.admin('POST', `/accounts/${accountId}/keys`);
  expect([full.status, full.body.error.message]).toEqual([
    409,
    'account_1 has 1 active keys and the free plan allows 1; revoke one first.',
  ]);

  await it.admin('DELETE', `/keys/${id}`);

  expect(await statusOf(it, key)).toBe(401);
  expect((await it.admin('POST', `/accounts/${accountId}/keys`)).body.key).toMatch(KEY);
});

test.each(
  ['403', '409', '422'].flatMap((status): [string, string, (mock: MockServer) => unknown][] => [
    ['unconfirmedEmail', `${status} email_not_confirmed`, ({ accounts }) => accounts.create()],
    ['keyLimitReached', `${status} key_limit_reached`, (mock) => mock.createKey()],
  ]),
)('refuses a key with the status of the switch %s: %s', async (name, value, prepare) => {
  await using it = await servedMock({ behaviour: { [name]: value } });
  prepare(it.mock);
  const before = it.mock.keys.list();

  const refused = await it.admin('POST', '/accounts/account_1/keys');

  expect(`${refused.status} ${refused.body.error.code}`).toBe(value);
  expect(it.mock.keys.list()).toEqual(before);
});
