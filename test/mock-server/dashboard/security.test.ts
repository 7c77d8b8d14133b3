import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { html } from '../../../src/mock-server/web/html.ts';
import { Visitor } from '../../helpers/browser-visitor.ts';

function open() {
  const mock = createMockServer({ clock: 'virtual' });
  return { mock, visitor: new Visitor(mock.baseUrl, mock.fetch) };
}

const ACTIONS = [
  '/dashboard/sign-up',
  '/dashboard/sign-in',
  '/dashboard/sign-out',
  '/dashboard/send-again',
  '/dashboard/keys',
  '/dashboard/keys/key_1/revoke',
  '/dashboard/plan',
];

const FIELDS = { email: 'x@example.test', plan: 'developer' };

test.each(ACTIONS)('%s changes nothing without the token of the session', async (action) => {
  const { mock, visitor } = open();
  await visitor.signUp();
  await visitor.open(mock.outbox.list()[0]?.confirmPath ?? '');
  mock.keys.create({ accountId: 'account_1' });
  const before = mock.snapshot();
  const stranger = new Visitor(mock.baseUrl, mock.fetch);
  await stranger.open('/dashboard');

  for (const csrf of [undefined, '', '0'.repeat(64), stranger.csrf]) {
    await visitor.post(action, csrf === undefined ? FIELDS : { ...FIELDS, csrf });
    expect(visitor.page.status).toBe(403);
  }
  expect(mock.snapshot()).toEqual(before);
});

test.each(['https://evil.example', 'null', 'http://127.0.0.1:1'])(
  'refuses a form that comes from %s',
  async (origin) => {
    await using mock = createMockServer();
    const { url } = await mock.serve();
    const visitor = new Visitor(url);
    await visitor.open('/dashboard');

    await visitor.post('/dashboard/sign-up', { csrf: visitor.csrf, ...FIELDS }, { origin });

    expect(visitor.page.status).toBe(403);
    expect(mock.accounts.list()).toEqual([]);
  },
);

test('refuses a body that is not a form, and a form that is too long', async () => {
  const { visitor } = open();
  await visitor.open('/dashboard');
  const { csrf } = visitor;

  await visitor.send('/dashboard/sign-up', {
    method: 'POST',
    body: JSON.stringify({ csrf, ...FIELDS }),
    headers: { 'content-type': 'application/json' },
  });
  expect(visitor.page.status).toBe(415);
  await visitor.post('/dashboard/sign-up', { csrf, ...FIELDS, more: 'x'.repeat(9000) });
  expect(visitor.page.status).toBe(413);
});

test('accepts a session cookie only unchanged', async () => {
  const { mock, visitor } = open();
  await visitor.signUp();
  const good = visitor.cookie;
  const [, nonce, account, signature] = /=(\w+)\.(\w+)\.(\w+)$/.exec(good) ?? [];
  mock.accounts.create({ email: 'victim@example.test' });

  for (const value of [
    `${nonce}.account_2.${signature}`,
    `${nonce}.${account}.${'0'.repeat(64)}`,
    `${nonce}.${account}`,
    '..',
    `${nonce}.__proto__.${signature}`,
  ]) {
    visitor.cookie = `fxrates_session=${value}`;
    await visitor.open('/dashboard');
    expect(visitor.text).toContain('Sign up');
  }
  visitor.cookie = `theme=dark; ${good}; other=1`;
  await visitor.open('/dashboard');
  expect(visitor.text).toContain('ada@example.test');
});

test('one account neither sees nor revokes the keys of another', async () => {
  const { mock, visitor } = open();
  const { id } = mock.createKey();
  await visitor.signUp();

  await visitor.open(`/dashboard/keys/${id}`);
  expect(visitor.page.status).toBe(404);
  await visitor.open('/dashboard');
  await visitor.submit(`/dashboard/keys/${id}/revoke`);
  expect(visitor.page.status).toBe(404);
  expect(mock.keys.get(id).state).toBe('active');
});

const NASTY = `"'><img/src=x/onerror=alert(1)><script>alert(1)</script>&lt;@x`;

test('escapes every field', async () => {
  const { mock, visitor } = open();
  const pages: string[] = [];
  const keep = async (visited: Promise<{ readonly html: string }>) => void pages.push((await visited).html);

  await keep(visitor.open('/dashboard'));
  await keep(visitor.submit('/dashboard/sign-in', { email: NASTY }));
  await keep(visitor.submit('/dashboard/sign-up', { email: NASTY.replace('@', ''), plan: NASTY }));
  await keep(visitor.submit('/dashboard/sign-up', { email: NASTY, plan: NASTY }));
  await keep(visitor.submit('/dashboard/sign-up', { email: NASTY, plan: 'free' }));
  await keep(visitor.open('/dashboard'));
  await keep(visitor.open(`/dashboard?done=${encodeURIComponent(NASTY)}`));
  await keep(visitor.open(`/dashboard/confirm?token=${encodeURIComponent(NASTY)}`));
  await keep(visitor.open(`/dashboard/keys/${encodeURIComponent(NASTY)}`));
  await keep(visitor.submit('/dashboard/plan', { plan: NASTY }));

  expect(mock.accounts.list()[0]?.email).toBe(NASTY);
  for (const page of pages) {
    expect(page).not.toMatch(/<script|<img/);
    expect(page).not.toContain(NASTY);
  }
  expect(pages.join('')).toContain('&lt;script&gt;');
});

test.each(['__proto__', 'constructor', 'toString', 'done'])('does not recognise the word %s', async (word) => {
  const { visitor } = open();
  await visitor.signUp();

  const { status, html: page } = await visitor.open(`/dashboard?done=${word}`);

  expect(status).toBe(200);
  expect(page).not.toContain('role="status"');
});

test('escapes for text and for quoted attributes', () => {
  const value = `<a href="x" id='y'>&`;
  expect(html`<p title="${value}">${value}</p>`.text).toBe(`<p title="${ESCAPED}">${ESCAPED}</p>`);
  expect(html`${undefined}${false}${0}${[html`<b>`, html`${'<'}`]}`.text).toBe('0<b>&lt;');
});

const ESCAPED = '&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;';

test('forbids scripts, framing and caching', async () => {
  const { visitor } = open();
  const { headers, html: page } = await visitor.signUp();

  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  expect(policy).not.toContain('script-src');
  expect(policy).toContain("frame-ancestors 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(page).not.toMatch(/<script| style=| on\w+=/);
});

test('the session cookie is limited to the dashboard and hidden from scripts', async () => {
  const { visitor } = open();
  const { headers } = await visitor.open('/dashboard');
  expect(headers.get('set-cookie')).toMatch(/; Path=\/dashboard; HttpOnly; SameSite=Lax$/);
});

test('after a reset, a key that was not shown yet is not shown to the next account of the same name', async () => {
  const { mock, visitor } = open();
  await visitor.signUp();
  await visitor.open(mock.outbox.list()[0]?.confirmPath ?? '');
  const { cookie, csrf } = visitor;
  // The form is sent, but the page after it is never requested.
  const sent = await mock.fetch(`${mock.baseUrl}/dashboard/keys`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: `csrf=${csrf}`,
    redirect: 'manual',
  });
  expect(sent.headers.get('location')).toBe('/dashboard/keys/key_1');
  mock.reset();
  const { id } = mock.accounts.create({ email: 'ada@example.test' });
  mock.accounts.confirm(id);
  expect(mock.keys.create({ accountId: id }).id).toBe('key_1');

  await visitor.open('/dashboard');
  await visitor.submit('/dashboard/sign-in', { email: 'ada@example.test' });
  await visitor.open('/dashboard/keys/key_1');

  expect(visitor.text).toContain('This key was already shown');
  expect(visitor.page.html).not.toMatch(/fx_live_[0-9a-f]{48}/);
});
