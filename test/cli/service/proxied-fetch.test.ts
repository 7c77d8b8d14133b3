import { expect, test } from 'vitest';
import { proxiedFetch } from '../../../src/cli/service/proxied-fetch.ts';
import { FakeIo } from '../../helpers/cli-io.ts';

const PROXY = 'http://127.0.0.1:1';

test.each([
  ['no proxy is set', {}, 'https://api.example.test'],
  ['the variable is empty', { HTTPS_PROXY: '' }, 'https://api.example.test'],
  ['the address is this machine', { HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY }, 'http://127.0.0.1:4010'],
  ['the address is localhost', { HTTP_PROXY: PROXY }, 'http://localhost:4010'],
  ['only https has a proxy', { HTTPS_PROXY: PROXY }, 'http://example.test'],
])('the built-in fetch is used when %s', async (_, env, url) => {
  const io = new FakeIo({ env });

  expect(await proxiedFetch(io, url)).toBe(io.fetch);
});

test.each([
  ['HTTPS_PROXY', 'https://api.example.test'],
  ['https_proxy', 'https://api.example.test'],
  ['HTTP_PROXY', 'http://example.test'],
])('%s sends through the proxy', async (name, url) => {
  const io = new FakeIo({ env: { [name]: PROXY } });

  const fetch = await proxiedFetch(io, url);

  expect(fetch).not.toBe(io.fetch);
  const sent = fetch(url, { method: 'GET', headers: {}, signal: AbortSignal.timeout(5_000), redirect: 'manual' });
  await expect(sent).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED', port: 1 } });
});
