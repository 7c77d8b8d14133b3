import { expect, test } from 'vitest';
import { createMockServer, type MockServer, type MockServerOptions } from '../../../src/mock-server/index.ts';
import { Visitor } from '../../helpers/browser-visitor.ts';

const DAY_MS = 24 * 60 * 60_000;

function open(options: MockServerOptions = {}) {
  const mock = createMockServer({ clock: 'virtual', ...options });
  return { mock, visitor: new Visitor(mock.baseUrl, mock.fetch) };
}

/** A visitor whose address is confirmed, on the account page. */
async function confirmed(options: MockServerOptions = {}, plan = 'free') {
  const { mock, visitor } = open(options);
  await visitor.signUp('ada@example.test', plan);
  await visitor.open(lastLink(mock));
  return { mock, visitor };
}

function lastLink(mock: MockServer): string {
  return mock.outbox.list().at(-1)?.confirmPath ?? 'no mail';
}

const KEY = /fx_live_[0-9a-f]{48}/;

test('signs up, confirms by e-mail, and creates a key that is shown once', async () => {
  const { mock, visitor } = open();

  await visitor.signUp('ada@example.test');
  expect(visitor.page.url).toBe('/dashboard/check-email');
  expect(visitor.text).toContain('We sent a link to ada@example.test');
  expect(mock.outbox.list()).toMatchObject([{ to: 'ada@example.test', accountId: 'account_1' }]);

  await visitor.open(lastLink(mock));
  expect(visitor.text).toContain('Your e-mail address is confirmed');

  await visitor.submit('/dashboard/keys');
  const key = KEY.exec(visitor.page.html)?.[0] ?? '';
  const { url } = visitor.page;
  expect(url).toBe('/dashboard/keys/key_1');
  const response = await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);

  await visitor.open(url);
  expect(visitor.page.html).not.toMatch(KEY);
  expect(visitor.text).toContain(`fx_live_…${key.slice(-4)}`);
  await visitor.open('/dashboard');
  expect(visitor.page.html).not.toMatch(KEY);
});

test('shows the usage of both limits without changing it', async () => {
  const { mock, visitor } = await confirmed();
  await visitor.submit('/dashboard/keys');
  const key = KEY.exec(visitor.page.html)?.[0] ?? '';
  const headers = { authorization: `Bearer ${key}` };
  for (let call = 0; call < 3; call += 1) await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers });
  await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers });

  for (let look = 0; look < 2; look += 1) {
    await visitor.open('/dashboard');
    expect(visitor.text).toContain('This minute 4 of 30');
    expect(visitor.text).toContain('This month 3 of 1,000');
  }
  expect(visitor.text).toContain('The month ends 1 Feb 2026, 00:00 UTC');
  expect(mock.journal.list()).toHaveLength(4);
});

test('shows at most the limit of the minute, also if refused requests count', async () => {
  const { mock, visitor } = await confirmed({ behaviour: { rejectedCountsTowardRate: true } });
  await visitor.submit('/dashboard/keys');
  const headers = { authorization: `Bearer ${KEY.exec(visitor.page.html)?.[0]}` };
  for (let call = 0; call < 32; call += 1) await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers });

  await visitor.open('/dashboard');

  expect(visitor.text).toContain('This minute 30 of 30');
});

test('a revoked key fails and makes room for another', async () => {
  const { mock, visitor } = await confirmed();
  await visitor.submit('/dashboard/keys');
  const key = KEY.exec(visitor.page.html)?.[0] ?? '';
  await visitor.open('/dashboard');

  await visitor.submit('/dashboard/keys');
  expect(visitor.page.status).toBe(409);
  expect(visitor.text).toContain('Your plan allows 1 active key. Revoke one first');

  await visitor.submit('/dashboard/keys/key_1/revoke');
  expect(visitor.text).toContain('The key is revoked.');
  const response = await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: key } });
  expect(response.status).toBe(401);

  await visitor.submit('/dashboard/keys');
  expect(visitor.page.html).toMatch(KEY);
});

test.each([
  [254, '/dashboard/check-email', 200],
  [255, '/dashboard/sign-up', 422],
])('signs up with an address of %i characters: %s', async (length, url, status) => {
  const { visitor } = open();

  await visitor.signUp(`${'a'.repeat(length - '@example.test'.length)}@example.test`);

  expect(visitor.page).toMatchObject({ url, status });
});

test('changes the plan of the account', async () => {
  const { mock, visitor } = await confirmed();

  await visitor.submit('/dashboard/plan', { plan: 'developer' });

  expect(visitor.text).toContain('ada@example.test · Developer plan');
  expect(mock.accounts.get('account_1').plan).toBe('developer');
  await visitor.submit('/dashboard/plan', { plan: 'gold' });
  expect(visitor.page.status).toBe(422);
});

test.each(['403', '409', '422'])(
  'refuses a key before the confirmation with the status of the switch, %s',
  async (status) => {
    const { mock, visitor } = open({ behaviour: { unconfirmedEmail: `${status} email_not_confirmed` as never } });
    await visitor.signUp();
    await visitor.open('/dashboard');

    await visitor.submit('/dashboard/keys');

    expect(visitor.page.status).toBe(Number(status));
    expect(visitor.text).toContain('Confirm your e-mail address first');
    expect(mock.keys.list()).toEqual([]);
  },
);

test.each(['409', '403', '422'])('refuses a key above the cap with the status of the switch, %s', async (status) => {
  const { visitor } = await confirmed({ behaviour: { keyLimitReached: `${status} key_limit_reached` as never } });
  await visitor.submit('/dashboard/keys');
  await visitor.open('/dashboard');

  await visitor.submit('/dashboard/keys');

  expect(visitor.page.status).toBe(Number(status));
});

test('accepts a confirmation link once, and only until it expires on the clock of the mock', async () => {
  const { mock, visitor } = open();
  await visitor.signUp();
  const first = lastLink(mock);
  await mock.clock.advance(DAY_MS);
  await visitor.open(first);
  expect(visitor.page.status).toBe(410);
  expect(visitor.text).toContain('This link has expired');
  expect(mock.accounts.get('account_1').confirmed).toBe(false);

  await visitor.open('/dashboard');
  await visitor.submit('/dashboard/send-again');
  await mock.clock.advance(DAY_MS - 1);
  await visitor.open(lastLink(mock));
  expect(mock.accounts.get('account_1').confirmed).toBe(true);

  await visitor.open(lastLink(mock));
  expect(visitor.page.status).toBe(410);
  expect(visitor.text).toContain('already used');
});

test.each(['', '?token=', '?token=0', `?token=${'0'.repeat(32)}`])('rejects the link %j', async (query) => {
  const { visitor } = open();
  await visitor.open(`/dashboard/confirm${query}`);
  expect(visitor.page.status).toBe(404);
});

test('follows no link and shows no key for HEAD', async () => {
  const { mock, visitor } = open();
  await visitor.signUp();
  const link = lastLink(mock);
  expect((await visitor.send(link, { method: 'HEAD' })).status).toBe(200);
  expect(mock.accounts.get('account_1').confirmed).toBe(false);
});

test('a confirmation link signs in, in another browser too', async () => {
  const { mock, visitor } = open();
  await visitor.signUp();
  const other = new Visitor(mock.baseUrl, mock.fetch);

  await other.open(lastLink(mock));

  expect(other.text).toContain('Your account');
  expect(other.text).toContain('confirmed');
});

test('signs in accounts that a test has created, and signs out', async () => {
  const { mock, visitor } = open();
  mock.accounts.create({ email: 'made@example.test' });
  await visitor.open('/dashboard');

  await visitor.submit('/dashboard/sign-in', { email: 'nobody@example.test' });
  expect(visitor.page.status).toBe(404);
  await visitor.submit('/dashboard/sign-in', { email: 'made@example.test' });
  expect(visitor.text).toContain('made@example.test');
  await visitor.submit('/dashboard/sign-out');
  expect(visitor.text).toContain('Sign up');
});

test.each([
  ['no-address', 422],
  ['', 422],
  [`${'a'.repeat(260)}@example.test`, 422],
  ['taken@example.test', 409],
])('refuses to sign up %j', async (email, status) => {
  const { mock, visitor } = open();
  mock.accounts.create({ email: 'taken@example.test' });

  await visitor.signUp(email);

  expect(visitor.page.status).toBe(status);
  expect(mock.accounts.list()).toHaveLength(1);
});

test('a session ends when its account is removed', async () => {
  const { mock, visitor } = await confirmed();
  mock.reset();
  const other = mock.accounts.create({ email: 'other@example.test' });

  await visitor.open('/dashboard');

  expect(other.id).toBe('account_1');
  expect(visitor.text).not.toContain('other@example.test');
});

test('a snapshot contains the outbox, a reset empties it', async () => {
  const { mock, visitor } = open();
  await visitor.signUp();
  const saved = mock.snapshot();
  const link = lastLink(mock);
  mock.reset();
  expect(mock.outbox.list()).toEqual([]);

  createMockServer().restore(saved);
  mock.restore(saved);
  await visitor.open(link);

  expect(mock.accounts.get('account_1').confirmed).toBe(true);
});

test('other paths belong to the API', async () => {
  const { mock } = open();
  for (const path of ['/dashboardx', '/api/dashboard', '/Dashboard', '//dashboard']) {
    const response = await mock.fetch(mock.baseUrl + path);
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  }
});

test.each(['/dashboard/nothing', '/dashboard/../api/v1/quota%00', '/dashboard/keys/key_1/../key_1', '/dashboard//'])(
  'has no page %s',
  async (path) => {
    await using mock = createMockServer();
    const { url } = await mock.serve();
    const { status, html } = await rawGet(url, path);
    expect(status).toBe(404);
    expect(html).toContain('Nothing here');
  },
);

test('returns 405 with the allowed methods of a page', async () => {
  const { visitor } = open();
  await visitor.send('/dashboard', { method: 'DELETE' });
  expect(visitor.page.status).toBe(405);
  expect(visitor.page.headers.get('allow')).toBe('GET, HEAD');
});

/** Without the normalization of the path in `fetch`. */
async function rawGet(url: string, path: string) {
  const { request } = await import('node:http');
  return await new Promise<{ status: number; html: string }>((resolve, reject) => {
    request(url, { path, agent: false }, async (response) => {
      resolve({ status: response.statusCode ?? 0, html: Buffer.concat(await response.toArray()).toString() });
    })
      .on('error', reject)
      .end();
  });
}
