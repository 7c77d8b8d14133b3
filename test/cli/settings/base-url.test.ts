import { expect, test } from 'vitest';
import { runCli } from '../../helpers/cli-io.ts';

test('without a base URL, shows how to set one and exits with 3', async () => {
  const { code, stderr, stdout } = await runCli('quota', { env: { FXRATES_BASE_URL: undefined } });

  expect(code).toBe(3);
  expect(stdout).toBe('');
  expect(stderr).toBe(`fxrates: no base URL — the host of the service is not documented, so there is no default

  Set it:      export FXRATES_BASE_URL=https://…   or   --base-url https://…
  Store it:    fxrates auth login   (asks for it)
  No account?  fxrates mock   (a local server with invented rates)
`);
});

test.each([
  ['not a url', '--base-url expects an http or https URL'],
  ['localhost:4010', 'e.g. http://localhost:4010\n'],
  ['api.example.test', 'e.g. https://api.example.test\n'],
  ['ftp://example.test', '--base-url expects an http or https URL'],
  ['https://user:pw@example.test', 'contains a user name or a password'],
  ['https://example.test?x=1', 'contains a query or a fragment'],
  ['https://example.test/api/v1', 'ends with /api/v1'],
  ['https://example.test/api/v2/', '--base-url https://example.test\n'],
  ['https://example.test/x/api/v1/latest', '--base-url https://example.test/x\n'],
  ['http://example.test', 'refusing to send the key to http://example.test'],
  ['http://10.0.0.5', 'refusing to send the key to http://10.0.0.5'],
  ['http://127.0.0.1.example.test', 'refusing to send the key to http://127.0.0.1.example.test'],
])('%s is refused', async (url, message) => {
  const { code, stderr, requests } = await runCli(['quota', '--base-url', url]);

  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(requests).toEqual([]);
});

test.each(['http://127.0.0.1:4010', 'http://localhost:4010/', 'http://[::1]:4010', 'https://example.test/base/'])(
  '%s is accepted',
  async (url) => {
    const { code, requests } = await runCli(['latest', '--base-url', url]);

    expect(code).toBe(0);
    expect(requests[0]?.url).toBe(`${url.replace(/\/$/, '')}/api/v1/latest`);
  },
);

test('--insecure-http allows plain http', async () => {
  expect((await runCli('latest --base-url http://10.0.0.5 --insecure-http')).code).toBe(0);
});
