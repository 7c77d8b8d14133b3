import { expect, test } from 'vitest';
import type { RunningServer } from '../../../src/mock-server/index.ts';
import { servedMock } from '../../helpers/served-mock.ts';

async function get({ server }: { readonly server: RunningServer }, path: string, headers = {}) {
  const response = await fetch(server.url + path, { redirect: 'manual', headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('serves the page without a token, with a policy that allows its own files alone', async () => {
  await using it = await servedMock();
  it.mock.createKey();

  const { status, headers, text } = await get(it, '/__fxrates/');

  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
  expect(policy).not.toContain('unsafe');
  expect(text).not.toContain(it.server.adminToken);
  expect(text).not.toMatch(/https?:|key_1|_live_| style=|<script>/);
});

test.each([
  ['/panel.js', 'text/javascript; charset=utf-8'],
  ['/panel.css', 'text/css; charset=utf-8'],
])('serves %s from the package, with nothing loaded from elsewhere', async (path, type) => {
  await using it = await servedMock();

  const { status, headers, text } = await get(it, `/__fxrates${path}`);

  expect([status, headers.get('content-type')]).toEqual([200, type]);
  expect(text.length).toBeGreaterThan(1000);
  expect(text).not.toMatch(/\bimport\b *["'(]|@import|url\(|new Function|\beval\(/);
});

test('redirects the address without a slash to the panel', async () => {
  await using it = await servedMock();
  const { status, headers } = await get(it, '/__fxrates');
  expect([status, headers.get('location')]).toEqual([307, '/__fxrates/']);
});

test('leads a browser from / to the panel, without the token', async () => {
  await using it = await servedMock();

  const { status, headers } = await get(it, '/', { accept: 'text/html,application/xhtml+xml' });

  expect([status, headers.get('location')]).toEqual([307, '/__fxrates/']);
  expect(JSON.stringify(Array.from(headers))).not.toContain(it.server.adminToken);
  expect((await get(it, '/', { accept: 'application/json' })).status).toBe(200);
});
