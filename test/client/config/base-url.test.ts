import { expect, test } from 'vitest';
import { checkBaseUrl } from '../../../src/client/config/settings.ts';
import { ConfigError } from '../../../src/client/errors/errors.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

const secure = { allowInsecureHttp: false };

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['https://API.example.com:443//', 'https://api.example.com'],
  ['https://example.com/fx/', 'https://example.com/fx'],
  ['https://example.com/fx?', 'https://example.com/fx'],
  ['https://example.com/a/../b', 'https://example.com/b'],
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://fx.localhost', 'http://fx.localhost'],
  ['http://127.0.0.1:1', 'http://127.0.0.1:1'],
  ['http://127.8.9.10', 'http://127.8.9.10'],
  ['http://2130706433', 'http://127.0.0.1'],
  ['http://[::1]:3000/', 'http://[::1]:3000'],
])('%s becomes %s', (given, base) => {
  expect(checkBaseUrl(given, secure)).toBe(base);
  expect(checkBaseUrl(new URL(given), secure)).toBe(base);
});

test.each([
  [undefined, 'missing; pass baseUrl or set FXRATES_BASE_URL'],
  ['', 'missing'],
  [null, 'got null'],
  [42, 'got 42 (number)'],
  ['api.example.com', "got 'api.example.com'"],
  ['//api.example.com', "got '//api.example.com'"],
  ['ftp://api.example.com', "got 'ftp://api.example.com'"],
  ['javascript:alert(1)', 'an http or https URL'],
  ['https://user@api.example.com', 'user name or password'],
  ['https://:word@api.example.com', 'user name or password'],
  ['https://api.example.com?base=EUR', 'contains a query or fragment'],
  ['https://api.example.com/#x', 'contains a query or fragment'],
  ['https://api.example.com/api/v1', "expected a URL without '/api/v1'"],
  ['https://api.example.com/x/api/v1/quota/', "expected a URL without '/api/v1/quota'"],
  ['https://api.example.com/fx/api/v2/', "expected a URL without '/api/v2'"],
])('rejects %s: %s', (given, reason) => {
  expect(() => checkBaseUrl(given, secure)).toThrow(ConfigError);
  expect(() => checkBaseUrl(given, secure)).toThrow(/^baseUrl: /);
  expect(() => checkBaseUrl(given, secure)).toThrow(reason);
});

test.each([
  'http://api.example.com',
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://notlocalhost',
  'http://10.0.0.1',
  'http://[::2]',
  'http://0.0.0.0',
])('plain http to %s requires allowInsecureHttp', (given) => {
  expect(() => checkBaseUrl(given, secure)).toThrow('plain http');
  expect(checkBaseUrl(given, { allowInsecureHttp: true })).toBe(given);
});

test.each([
  API_KEY,
  `ftp://api.example.com/?api_key=${API_KEY}`,
  `https://${API_KEY}@api.example.com`,
  `https://api.example.com/?api_key=${API_KEY}`,
  `https://api.example.com/${API_KEY}/api/v1`,
  `https://api.example.com/${API_KEY}?x`,
  `http://api.example.com/${API_KEY}`,
])('rejects %s without showing the key in it', async (given) => {
  const error = await errorOf(() => checkBaseUrl(given, secure));

  expect(error).toMatchObject({ kind: 'config' });
  expect(String(error)).not.toContain('89abcdef');
});
