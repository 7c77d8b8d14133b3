import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { adminRoutes } from '../../src/mock-server/server/routes.ts';
import { KEY_ENCODINGS, KNOWN_KEY_ENCODINGS } from '../helpers/key-encodings.ts';
import { mockAdapters } from '../helpers/mock-adapters.ts';
import { mockWithKey } from '../helpers/mock-with-key.ts';
import { sendRaw } from '../helpers/raw-server.ts';
import { servedMock } from '../helpers/served-mock.ts';

const EVERYWHERE = { host: '0.0.0.0', allowRemote: true };

const get = (target: string, host: string, headers = '') =>
  `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${headers}\r\n`;

test.each(['/__fxrates', '/__fxrates/', '/__fxrates/panel.js', '/__fxrates/clock'])(
  '%s is not served under a foreign host name, as DNS rebinding would use',
  async (target) => {
    await using it = await servedMock();

    expect(await sendRaw(it.server, get(target, 'evil.example'))).toMatch(/^HTTP\/1\.1 403 .*foreign_host/s);
    expect(await sendRaw(it.server, get(target, 'localhost'))).not.toMatch(/^HTTP\/1\.1 403 /);
  },
);

test('a mock that other machines may reach shows its pages under private names alone', async () => {
  await using it = await servedMock({}, EVERYWHERE);
  const received = (host: string) => sendRaw(it.server, get('/__fxrates/', host));

  expect(await received('mock:4010')).toMatch(/^HTTP\/1\.1 200 /);
  for (const host of ['evil.example', '']) expect(await received(host)).toMatch(/^HTTP\/1\.1 40[03] /);
});

test('health and requests with the admin token work under any host name', async () => {
  await using it = await servedMock({}, EVERYWHERE);
  const token = `authorization: Bearer ${it.server.adminToken}\r\n`;
  const withToken = get('/__fxrates/clock', 'mock.evil.example', token);

  expect(await sendRaw(it.server, get('/__fxrates/health', 'mock.evil.example'))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await sendRaw(it.server, withToken)).toMatch(/^HTTP\/1\.1 200 /);
});

test('the admin token can be chosen, and a short one is refused without being shown', async () => {
  await using it = await servedMock({}, { adminToken: 'chosen-in-advance' });

  expect(it.server.adminUrl).toMatch(/#token=chosen-in-advance$/);
  await expect(it.mock.serve({ adminToken: 'short' })).rejects.toThrow(
    'adminToken is "…"; expected 16 to 128 letters, digits, _ and -.',
  );
});

test.each([
  ...['/__fxrates/%2e%2e/%2e%2e/etc/passwd', '/__fxrates/..%5c..%5cpackage.json', '/__fxrates/panel.js%00.css'],
  ...['http://127.0.0.1/__fxrates/state', 'http://evil.example/__fxrates/state', '*', '/__fxrates/state/../health'],
])('the path %s reaches no file and does not bypass the token', async (target) => {
  await using it = await servedMock();

  const response = await sendRaw(it.server, get(target, '127.0.0.1'));

  expect(response).toMatch(/^HTTP\/1\.1 40[0134] /);
  expect(response).not.toMatch(/root:|"dependencies"|"accounts"/);
});

test.each(['/__fxrates/', '/__fxrates/panel.css', '/__fxrates/panel.js', '/__fxrates/state'])(
  '%s is not stored, not framed, not loaded by another site, and has a fixed type',
  async (target) => {
    await using it = await servedMock();

    const { headers } = await fetch(it.server.url + target);

    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'same-origin',
    });
    if (!headers.get('content-type')?.startsWith('text/html')) return;
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]));
  },
);

test('a slow request times out: its head after 10 s, the whole request after 30 s', async () => {
  await using it = await servedMock();
  let server: Server | undefined;
  const note = (message: unknown) => {
    server = (message as { readonly server: Server }).server;
  };
  subscribe('http.server.request.start', note);
  await sendRaw(it.server, get('/api/v1/quota', '127.0.0.1'));
  unsubscribe('http.server.request.start', note);

  // node:http measures these timeouts in real time.
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 });
});

test('no page or response of a mock shows a key, wherever a request contained it', async () => {
  await using it = await servedMock();
  const { mock, server } = it;
  const { id, key, accountId } = mock.createKey({ plan: 'developer' });
  const authorization = `Bearer ${server.adminToken}`;
  let seen = '';
  const places = [
    get(`/api/v1/latest?api_key=${key}&base=${key}`, key),
    get(`/${key}/${key}`, '127.0.0.1', `authorization: ${key}\r\ncookie: ${key}\r\n`),
    get(`/__fxrates/keys/${key}?${key}=${key}`, '127.0.0.1', `authorization: ${authorization}\r\n`),
    `${key} /api/v1/latest HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  ];
  for (const text of places) seen += await sendRaw(server, text);
  for (const { method, path } of adminRoutes) {
    if (method !== 'GET') continue;
    const target = path.replace('{accountId}', accountId).replace('{keyId}', id).replace('{number}', '1');
    seen += await (await fetch(`${server.url}/__fxrates${target}`, { headers: { authorization } })).text();
  }

  expect(seen).toContain(key.slice(-4));
  expect(seen).toContain('/api/v1/latest');
  expect(seen).not.toContain(key.slice(key.lastIndexOf('_') + 1, -4));
});

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

const escaped = KEY_ENCODINGS['with each character as %xx'] as (text: string) => string;

/** The beginning of its secret half, and the key in all encodings. */
function formsOf(key: string): string[] {
  return [key.slice(-48, -36), ...Object.values(KNOWN_KEY_ENCODINGS).map((encode) => encode(key))];
}

test('inspect and JSON show no key of a space, here or in another process', async () => {
  await using it = await servedMock();
  const spaces = [it.mock.space(), await it.remote.space()];

  for (const space of spaces) {
    expect(space.key).toMatch(/^fx_live_[0-9a-f]{48}$/);
    expect(inspect(space) + JSON.stringify(space)).not.toContain(space.key);
  }
});

test.each(mockAdapters)('shows, logs and stores no key: $name', async ({ open }) => {
  const { mock, id, key, accountId } = mockWithKey({ behaviour: { unknownParameters: '400' } });
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
    `/api/v1/latest?${key}=1`,
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
  const { mock, key } = mockWithKey({ clock: 'virtual' });
  mock.rules.add({ match: { path: '/broken' }, fail: { kind: 'network-error' } });

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

/**
 * Requests thirty times as long as a socket admits (16 KiB): a loop in a loop over one of them, or an expression that
 * tries each start again, would take minutes, and the test's timeout would fail it.
 */
const LENGTH = 480_000;
const TIMEOUT_MS = 60_000;
const distinct = (text: (n: number) => string) => Array.from({ length: LENGTH / 16 }, (_, n) => text(n));

const REQUESTS: Readonly<Record<string, { readonly path: string; readonly headers?: Record<string, string> }>> = {
  'one name, repeated': { path: `/api/v1/latest?${'a&'.repeat(LENGTH / 2)}` },
  'one name with values': { path: `/api/v1/latest?${distinct((n) => `a=${n}`).join('&')}` },
  'distinct unknown names': { path: `/api/v1/latest?${distinct((n) => `name${n}=1`).join('&')}` },
  'names in brackets': { path: `/api/v1/latest?${'[a]'.repeat(LENGTH / 3)}` },
  'a long name': { path: `/api/v1/latest?${'a'.repeat(LENGTH)}=1` },
  'a long value': { path: `/api/v1/latest?base=${'a'.repeat(LENGTH)}` },
  'percent signs': { path: `/api/v1/latest?base=${'%'.repeat(LENGTH)}` },
  'percent codes': { path: `/api/v1/latest?base=${'%41'.repeat(LENGTH / 3)}` },
  'a long path': { path: `/api/v1/${'a'.repeat(LENGTH)}` },
  'a path of slashes': { path: `/api/v1${'/'.repeat(LENGTH)}` },
  'a path of dots': { path: `/api/v1${'/..'.repeat(LENGTH / 3)}/latest` },
  'a key of blanks': { path: '/api/v1/latest', headers: { authorization: `Bearer ${' '.repeat(LENGTH)}x` } },
  'a long key': { path: '/api/v1/latest', headers: { authorization: `Bearer fx_live_${'0'.repeat(LENGTH)}` } },
  'many keys in a header': {
    path: '/api/v1/latest',
    headers: { 'x-note': `fx_live_${'0'.repeat(48)} `.repeat(LENGTH / 57) },
  },
  'a list of encodings': { path: '/api/v1/latest', headers: { 'accept-encoding': 'gzip, '.repeat(LENGTH / 6) } },
};

test.each(Object.keys(REQUESTS))('answers a request with %s', { timeout: TIMEOUT_MS }, async (name) => {
  await using mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  const { path, headers } = REQUESTS[name] ?? { path: '' };

  const response = await mock.fetch(`${mock.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });

  expect(response.status).toBeLessThan(500);
  expect(mock.journal.list()).toHaveLength(1);
  expect(JSON.stringify(mock.journal.list())).not.toContain(key);
});
