import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { openConnection } from '../../../src/cli/request/send-request.ts';
import { realClock } from '../../../src/client/time/clock.ts';
import { environmentProxy } from '../../../src/environment-proxy.ts';
import { FakeIo, runCli } from '../../helpers/cli-io.ts';
import { startConnectProxy } from '../../helpers/connect-proxy.ts';
import { close, listen } from '../../helpers/listen.ts';
import { startRawServer } from '../../helpers/raw-server.ts';
import { API_KEY, failedFetch } from '../../helpers/service-replies.ts';

const PROXY = 'http://127.0.0.1:1';

test.each([
  [{}, 'https://api.example.test'],
  [{ HTTPS_PROXY: '' }, 'https://api.example.test'],
  [{ HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY }, 'http://127.0.0.1:4010'],
  [{ HTTP_PROXY: PROXY }, 'http://localhost:4010'],
  [{ HTTPS_PROXY: PROXY }, 'http://example.test'],
])('with %j the built-in fetch sends to %s', async (env, url) => {
  const io = new FakeIo({ env });

  expect((await openConnection(io, url)).fetch).toBe(io.fetch);
});

test('a 407 of the service, behind a proxy, is a response like any other', async () => {
  const body = '{"success":false,"error":{"code":"odd","message":"No.","status":407}}';
  const service = createServer((_, response) => response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end(body));
  const proxy = await startConnectProxy({ port: await listen(service) });

  const env = { HTTP_PROXY: proxy.url };
  const { code, stderr } = await runCli('latest --base-url http://a.test --insecure-http', { env, clock: realClock });
  await Promise.all([proxy.close(), close(service)]);

  expect(code).toBe(9);
  expect(stderr).toContain('No.');
});

test.each([
  ['user:pass@[::1]:3128', '[::1]:3128'],
  ['http://proxy.test:3128/', 'proxy.test:3128'],
  ['proxy.test:3128/', 'proxy.test:3128'],
])('the proxy %s is at %s', (HTTPS_PROXY, host) => {
  expect(environmentProxy({ HTTPS_PROXY }, 'https://a.test')).toMatchObject({ host, problem: undefined });
});

test.each([
  ['https://[fd00::1]', 'fd00::1', true],
  ['https://[fd00::1]', 'a.test,FD00:0:0::1', true],
  ['https://[fd00::1]', '[fd00::1]', true],
  ['https://[fd00::1]:8443', '[fd00::1]:8443', true],
  ['https://[fd00::1]:8443', '[fd00::1]:443', false],
  ['https://[fd00::1]', 'fd00::2', false],
  ['https://[fd00::1]', 'fe80::1%eth0,[fd00::1%25en0]', true],
  ['https://api.example.test', 'example.test.', true],
  ['https://api.example.test.', 'example.test', true],
  ['https://api.example.test.', '.example.test.:443', true],
  ['https://api.example.test', 'ample.test', false],
  ['https://api.example.test', '*', true],
  ['https://api.example.test', '.example.test', true],
  ['https://10.2.3.4:4010', 'a.test,10.0.0.0/8', true],
  ['https://10.2.3.4', '10.2.3.0/25', true],
  ['https://10.2.3.4', '10.2.3.128/25', false],
  ['https://10.2.3.4', '0.0.0.0/0', true],
  ['https://10.2.3.4', '10.2.3.4', true],
  ['https://10.2.3.4', '3.4', false],
  ['https://10.2.3.4', '.4', false],
  ['https://10.2.3.4', '2.3.4:443', false],
  ['https://10.2.3.4', '10.0.0.0/', false],
  ['https://10.2.3.4', '10.0.0.0/33', false],
  ['https://10.2.3.4', 'fd00::/8', false],
  ['https://[fd00::1]', 'fd00::/8', true],
  ['https://[fd00::1]', 'fe80::/10', false],
  ['https://10.example.test', '10.0.0.0/8', false],
])('%s with NO_PROXY=%s is reached without the proxy: %s', (url, noProxy, isExempt) => {
  const proxy = environmentProxy({ HTTPS_PROXY: PROXY, NO_PROXY: noProxy }, url);

  expect(proxy === undefined).toBe(isExempt);
});

test.each([
  ['http://u:p%w@proxy.test:3128', "'http://***@proxy.test:3128' has a % in its user or password; write it %25"],
  ['socks5://u:1@proxy.test:1080', "'socks5://***@proxy.test:1080' names a socks5 proxy; http and https are supported"],
  ['http://u:1#b@proxy.test', "'http://***@proxy.test' has a path, query or fragment; in a user or password"],
  [
    'http://u:p#w@proxy.test',
    "'http://***@proxy.test' is not the URL of a proxy; in a user or password, write / as %2F",
  ],
  ['http://do\\u:1@proxy.test', "'http://***@proxy.test' has a path, query or fragment; in a user or password"],
  ['http://proxy.test:1/path', "'http://proxy.test:1/path' has a path, query or fragment\n"],
  ['http://proxy.test:1?q=1', "'http://proxy.test:1?q=1' has a path, query or fragment\n"],
  ['http://proxy.test:x', "'http://proxy.test:x' is not the URL of a proxy\n"],
  ['user:password@proxy', "'***@proxy' is not the URL of a proxy"],
])('a proxy that cannot be used is rejected with the reason: %s', async (url, why) => {
  const env = { HTTPS_PROXY: url };

  const [latest, doctor] = [await runCli('latest', { env }), await runCli('doctor', { env })];

  expect(latest).toMatchObject({ code: 3, stderr: expect.stringContaining(`HTTPS_PROXY ${why}`) });
  expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining(why.slice(0, 30)) });
  expect(latest.stderr + doctor.stdout).not.toMatch(/p[%#]w|password@|u:1/);
});

/** Responds to CONNECT with `status`. */
const refusing = (status: number) =>
  startRawServer({ onRequest: ({ socket }) => socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`) });

test.each([
  [407, '', 'requires a user and a password (HTTP 407); set HTTPS_PROXY=http://user:password@HOST', 1],
  [407, 'user:secret@', 'refused the user and the password (HTTP 407); check HTTPS_PROXY', 1],
  [403, '', 'did not connect to the service (HTTP 403)', 1],
  [502, '', 'did not connect to the service (HTTP 502)', 2],
])('a proxy that responds %d (credentials: %j) is named with the next step', async (status, user, says, attempts) => {
  const proxy = await refusing(status);
  const { host } = new URL(proxy.url);
  const env = { HTTPS_PROXY: `http://${user}${host}` };

  const { code, stderr } = await runCli('latest --retries 1 -q', { env, clock: realClock });
  const requests = proxy.requests.length;
  const { stdout } = await runCli('doctor -o table', {
    env: { ...env, FXRATES_API_KEY: API_KEY.replace(/.$/, '0') }, // the limiter of the other key knows the failures
    clock: realClock,
  });
  await proxy.close();

  const why = `the proxy ${host} (HTTPS_PROXY) ${says.replace('HOST', host)}`;
  expect(code).toBe(6);
  const sent = attempts === 1 ? '' : `, after ${attempts} attempts`;
  expect(stderr).toContain(`fxrates: cannot reach api.example.test — ${why}${sent}\n`);
  expect(stderr).toContain('To bypass it:  export NO_PROXY=api.example.test');
  expect(requests).toBe(attempts);
  expect(stdout.replace(/\s+/g, ' ')).toContain(`fail service cannot reach api.example.test — ${why}`);
  expect(stdout + stderr).not.toContain('secret');
});

const UNREACHABLE = `fxrates: cannot reach api.example.test — the proxy 127.0.0.1:1 (HTTPS_PROXY) cannot be reached (ECONNREFUSED); check HTTPS_PROXY

  HTTPS_PROXY names the proxy 127.0.0.1:1. To bypass it:  export NO_PROXY=api.example.test
`;
const NOT_FOUND = `fxrates: cannot reach api.example.test — ENOTFOUND; the host does not exist

  Is https://api.example.test the right base URL? It comes from FXRATES_BASE_URL.
`;

test.each([
  [{ https_proxy: PROXY, HTTPS_PROXY: 'http://b.test:1' }, 'https_proxy', 'NO_PROXY=api.example.test'],
  [{ all_proxy: PROXY, NO_PROXY: 'a.test' }, 'all_proxy', 'NO_PROXY="$NO_PROXY,api.example.test"'],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '*', no_proxy: 'a' }, 'HTTPS_PROXY', 'no_proxy="$no_proxy,api.example.test"'],
])('with %j the hint names the variables that are read', async (env, variable, bypass) => {
  const { stderr } = await runCli('latest --retries 0', { env, clock: realClock });

  expect(stderr).toContain(`${variable} names the proxy 127.0.0.1:1. To bypass it:  export ${bypass}\n`);
});

test.each([
  ['', { clock: realClock }, UNREACHABLE],
  ['.example.test', { replies: failedFetch('ENOTFOUND') }, NOT_FOUND],
])('with NO_PROXY=%s a failure names the proxy only if it was used', async (noProxy, options, expected) => {
  const env = { HTTPS_PROXY: PROXY, NO_PROXY: noProxy };

  const { code, stderr } = await runCli('latest --retries 0', { ...options, env });

  expect({ code, stderr }).toEqual({ code: 6, stderr: expected });
});
