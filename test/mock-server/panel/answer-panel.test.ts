import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';

async function serving() {
  const mock = createMockServer();
  const { url, adminToken } = await mock.serve();
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}/__fxrates${path}`, { redirect: 'manual', ...init });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { mock, adminToken, get, [Symbol.asyncDispose]: () => mock.close() };
}

test('serves the page without a token, with a policy that allows its own files alone', async () => {
  await using it = await serving();
  it.mock.createKey();

  const { status, headers, text } = await it.get('/');

  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
  expect(policy).not.toContain('unsafe');
  expect(text).not.toContain(it.adminToken);
  expect(text).not.toMatch(/https?:|key_1|_live_| style=|<script>/);
});

test.each([
  ['/panel.js', 'text/javascript; charset=utf-8'],
  ['/panel.css', 'text/css; charset=utf-8'],
])('serves %s from the package, with nothing loaded from elsewhere', async (path, type) => {
  await using it = await serving();

  const { status, headers, text } = await it.get(path);

  expect([status, headers.get('content-type')]).toEqual([200, type]);
  expect(text.length).toBeGreaterThan(1000);
  expect(text).not.toMatch(/\bimport\b *["'(]|@import|url\(|new Function|\beval\(/);
});

test('redirects the address without a slash to the panel', async () => {
  await using it = await serving();
  const { status, headers } = await it.get('');
  expect([status, headers.get('location')]).toEqual([307, '/__fxrates/']);
});

test('leads a browser from / to the panel, without the token', async () => {
  await using mock = createMockServer();
  const { url, adminToken } = await mock.serve();
  const open = (headers: Record<string, string>) => fetch(`${url}/`, { redirect: 'manual', headers });

  const { status, headers } = await open({ accept: 'text/html,application/xhtml+xml' });

  expect([status, headers.get('location')]).toEqual([307, '/__fxrates/']);
  expect(JSON.stringify(Array.from(headers))).not.toContain(adminToken);
  expect((await open({ accept: 'application/json' })).status).toBe(200);
});
