import { expect, test } from 'vitest';
import { createMockServer, type MockServerOptions } from '../../../src/mock-server/index.ts';

/** What a user of the service does in its dashboard, by the admin API. */
async function serving(options: MockServerOptions = {}) {
  const mock = createMockServer({ clock: 'virtual', ...options });
  const { url, adminToken } = await mock.serve();
  const admin = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/__fxrates${path}`, { method, headers, ...sent });
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) };
  };
  const statusOf = async (authorization: string) =>
    (await fetch(`${url}/api/v1/quota`, { headers: { authorization } })).status;
  return { mock, admin, statusOf, [Symbol.asyncDispose]: () => mock.close() };
}

const KEY = /fx_live_[0-9a-f]{48}/;

test('signs up, confirms by e-mail, and creates a key that is shown once', async () => {
  await using it = await serving();

  const account = await it.admin('POST', '/accounts', { email: 'ada@example.test', plan: 'developer' });
  expect(account.body).toMatchObject({ id: 'account_1', confirmed: false });
  const [mail] = (await it.admin('GET', '/outbox?to=ada@example.test')).body;
  expect(mail).toMatchObject({ accountId: 'account_1', subject: 'Confirm your e-mail address' });
  expect((await it.admin('POST', `/accounts/${mail.accountId}/confirm`)).body.confirmed).toBe(true);

  const created = await it.admin('POST', '/accounts/account_1/keys');
  const { key, id } = created.body;
  expect(key).toMatch(KEY);
  expect(await it.statusOf(key)).toBe(200);
  for (const path of ['/keys', `/keys/${id}`, '/state']) {
    const { text } = await it.admin('GET', path);
    expect(text).toContain(key.slice(-4));
    expect(text).not.toMatch(KEY);
  }
});

test('a revoked key fails and makes room for another', async () => {
  await using it = await serving();
  const { id, key, accountId } = it.mock.createKey();
  const full = await it.admin('POST', `/accounts/${accountId}/keys`);
  expect([full.status, full.body.error.message]).toEqual([
    409,
    'account_1 has 1 active keys and the free plan allows 1; revoke one first.',
  ]);

  await it.admin('DELETE', `/keys/${id}`);

  expect(await it.statusOf(key)).toBe(401);
  expect((await it.admin('POST', `/accounts/${accountId}/keys`)).body.key).toMatch(KEY);
});

test.each(['403', '409', '422'])(
  'refuses a key before the confirmation with the status of the switch, %s',
  async (status) => {
    await using it = await serving({ behaviour: { unconfirmedEmail: `${status} email_not_confirmed` as never } });
    await it.admin('POST', '/accounts');

    const refused = await it.admin('POST', '/accounts/account_1/keys');

    expect([refused.status, refused.body.error.code]).toEqual([Number(status), 'email_not_confirmed']);
    expect(it.mock.keys.list()).toEqual([]);
  },
);

test.each(['409', '403', '422'])('refuses a key above the cap with the status of the switch, %s', async (status) => {
  await using it = await serving({ behaviour: { keyLimitReached: `${status} key_limit_reached` as never } });
  const { accountId } = it.mock.createKey();

  const refused = await it.admin('POST', `/accounts/${accountId}/keys`);

  expect([refused.status, refused.body.error.code]).toEqual([Number(status), 'key_limit_reached']);
});
