import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realClock } from '../../../src/cli/io/node-io.ts';
import { main } from '../../../src/cli/program/main.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { FakeIo, type FakeIoOptions, jsonLines, runCli } from '../../helpers/cli-io.ts';
import { startConnectProxy } from '../../helpers/connect-proxy.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { listen } from '../../helpers/listen.ts';
import { failedFetch, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const BASE_URL = 'https://fxrates.test';

function mockWith(behaviour: Parameters<typeof createMockServer>[0] = {}) {
  const mock = createMockServer({ clock: 'virtual', ...behaviour });
  const { key } = mock.createKey();
  const env = { FXRATES_API_KEY: key, FXRATES_BASE_URL: BASE_URL, NO_COLOR: '1' };
  const options = { env, fetch: mock.fetch as never, clock: mock.clock };
  const probe = (args: readonly string[], more: FakeIoOptions = {}) =>
    runCli(['probe', ...args], { ...options, ...more });
  return { mock, key, probe };
}

test('probe first prints its request budget, then its observations', async () => {
  const { mock, key, probe } = mockWith({ behaviour: 'hostile' });

  const { code, stdout, stderr } = await probe([BASE_URL]);

  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^fxrates: at most 15 requests to https:\/\/fxrates\.test, the first of which checks the key\n/,
  );
  expect(stderr).toMatch(/fxrates: \d+ switches observed with \d+ requests, \d+ not observable\n$/);
  expect(JSON.parse(stdout)).toMatchObject({
    about: { origin: BASE_URL, requests: mock.journal.list().length - 1 },
    missingKey: { value: '403 forbidden', provenance: 'observed' },
  });
  expect(stdout + stderr).not.toContain(key);
});

test.each([
  ['-v', /^> GET https:\/\/fxrates\.test\/api\/v1\/quota\n< 200 OK in/m],
  ['-vv', /^< content-type: application\/json[\s\S]*\{"success":true/m],
])('%s shows the requests, without the key', async (option, shown) => {
  const { key, probe } = mockWith();

  const { code, stdout, stderr } = await probe([BASE_URL, option]);

  expect(code).toBe(0);
  expect(stderr).toMatch(shown);
  expect(stderr.match(/^> GET /gm)).toHaveLength(JSON.parse(stdout).about.requests + 1);
  expect(stderr).not.toContain(key);
});

test('without an argument, probes the base URL of the environment', async () => {
  const stderr = expect.stringContaining(`requests to ${BASE_URL}, `);

  expect(await mockWith().probe([])).toMatchObject({ code: 0, stderr });
});

test('--insecure-http allows plain http', async () => {
  const { probe } = mockWith({ baseUrl: 'http://fxrates.test' });

  expect(await probe(['http://fxrates.test'])).toMatchObject({ code: 2 });
  expect(await probe(['http://fxrates.test', '--insecure-http'])).toMatchObject({ code: 0 });
});

test('without a base URL, names the ways to set one', async () => {
  const { code, stderr } = await runCli('probe', { env: { FXRATES_BASE_URL: undefined } });

  expect(code).toBe(3);
  expect(stderr).toContain('no base URL');
  expect(stderr).toContain('export FXRATES_BASE_URL=https://…   or   fxrates probe https://…');
  expect(stderr).not.toContain('or   --base-url');
});

test('on a terminal, prints a table of observations and how to write them to a file', async () => {
  const { probe } = mockWith({ behaviour: 'hostile' });

  const { stdout, stderr } = await probe([BASE_URL], { tty: ['stdout', 'stderr'], columns: 80 });

  expect(stdout).toMatch(/^missingKey +403 forbidden$/m);
  expect(stdout).not.toContain('{');
  expect(stdout.split('\n').length).toBeLessThan(24);
  expect(stderr).toContain('--out behaviour.json\n');
});

test('the file that it writes is accepted by --behaviour', async () => {
  const { probe } = mockWith({ behaviour: { headRequests: 'refused' } });
  const path = join(temporaryFolder(), 'behaviour.json');

  const { code, stdout } = await probe([`${BASE_URL}/`, '--out', path]);

  expect([code, stdout]).toEqual([0, '']);
  const behaviour = JSON.parse(readFileSync(path, 'utf8'));
  expect(createMockServer({ behaviour }).behaviour.values.headRequests).toBe('refused');
});

test.each([
  [[BASE_URL, '--max-requests', '1'], 2, "--max-requests expects a whole number from 2 to 99999, got '1'"],
  [[BASE_URL, '--out', '/none/behaviour.json'], 2, 'cannot write /none/behaviour.json'],
  [[BASE_URL, '--base-url', 'https://other.test'], 2, 'has no --base-url'],
  [['ftp://fxrates.test'], 2, "probe expects an http or https URL, got 'ftp://fxrates.test'"],
  [['http://fxrates.test'], 2, 'http://fxrates.test'],
  [['https://other.test'], 6, 'cannot reach other.test — '],
])('probe %j sends nothing and exits with %d', async (args, expected, message) => {
  const { mock, probe } = mockWith();

  const { code, stderr } = await probe(args);

  expect(code).toBe(expected);
  expect(stderr).toContain(message);
  expect(mock.journal.list()).toEqual([]);
});

const expired = failure(401, { message: 'Key expired.' });
const maintenance = { status: 503, body: { message: 'Maintenance.' }, headers: { 'retry-after': '120' } };
const BASE_URL_HINT = '  Is https://fxrates.test the right base URL?';

test.each([
  [expired, 4, 'authentication', ': Key expired. (HTTP 401, some_code) — the key is from FXRATES_API_KEY\n'],
  [expired, 4, 'authentication', '  Check the setup:  fxrates doctor --base-url https://fxrates.test\n'],
  [{ status: 403, body: '{}' }, 4, 'authentication', '(HTTP 403)'],
  [{ status: 403, body: 'Blocked by the gateway' }, 9, 'request', ': Blocked by the gateway (HTTP 403)\n'],
  [rateLimited('20'), 7, 'rate_limited', 'retry in 20 s\n\n  Try again later.\n'],
  [maintenance, 5, 'server', ': Maintenance. (HTTP 503) — retry in 2 min'],
  [{ status: 404, body: '<html>' }, 9, 'request', BASE_URL_HINT],
  [{ status: 302, body: '<html>' }, 10, 'response', BASE_URL_HINT],
  [{ status: 200, body: '<html>' }, 10, 'response', BASE_URL_HINT],
  [failedFetch('DEPTH_ZERO_SELF_SIGNED_CERT'), 6, 'network', 'export NODE_EXTRA_CA_CERTS=/path/to/ca.pem\n'],
])('after the response %j, exits as other commands do, with %d, %s and the reason', async (...given) => {
  const [replies, code, kind, says] = given;
  const line = `probe ${BASE_URL}`;

  const text = await runCli(line, { replies });
  const json = await runCli(`${line} --json`, { replies });

  const [info, { error }] = jsonLines(json.stderr);
  expect([text.code, json.code]).toEqual([code, code]);
  expect(text.requests).toHaveLength(Object(replies).status === 200 ? 2 : 1);
  expect(text.stderr).toContain(says);
  expect(info).toMatchObject({ event: 'info', message: expect.stringContaining('at most 15 requests') });
  expect([error.code, error.status]).toEqual([kind, Object(replies).status]);
});

test.each([2, 49, 50])('with --max-requests %i, sends no more to a service with a limit of 30', async (budget) => {
  const { mock, probe } = mockWith({ behaviour: { severalCredentials: 'refused' } });

  const { stdout } = await probe([BASE_URL, '--max-requests', `${budget}`]);

  expect(mock.journal.list().length).toBeLessThanOrEqual(budget);
  expect('quotaEndpointBucket' in JSON.parse(stdout)).toBe(budget === 50);
});

test('a quota record that other commands refuse can be probed', async () => {
  const { snapshot_granularity: _, ...record } = quotaRecord();

  expect(await runCli('quota', { replies: success(record) })).toMatchObject({ code: 10 });
  expect(await runCli(`probe ${BASE_URL}`, { replies: success(record) })).toMatchObject({ code: 0 });
});

test('a service that fails after the key was checked is reported in one line', async () => {
  const replies = [success(quotaRecord()), maintenance];

  const { code, stderr, requests } = await runCli(`probe ${BASE_URL}`, { replies });

  expect([code, requests.length]).toEqual([10, 2]);
  expect(stderr).toContain('the probe failed — The response to quota was 503, expected 200 with a quota record.\n');
});

test('no connection to a proxy is left open, so that the command ends', async () => {
  const service = createServer((_, response) => response.end(JSON.stringify({ success: true, data: quotaRecord() })));
  service.keepAliveTimeout = 600_000; // an open client would keep the connection for ten minutes
  const proxy = await startConnectProxy({ port: await listen(service) });

  const { code } = await runCli('probe http://rates.fxrates.test --insecure-http --max-requests 2', {
    env: { HTTP_PROXY: proxy.url },
    clock: realClock,
  });
  await proxy.deserted();

  expect([code, proxy.requests.length]).toEqual([0, 2]);
  await proxy.close();
  service.close();
});

test('Ctrl-C ends a probe with 130, without an error message', async () => {
  const io = new FakeIo({ replies: 'never' });
  const running = main(['probe', BASE_URL], io);
  while (!io.written.stderr.includes('at most')) await quiet();
  await quiet();

  io.interrupt('SIGINT');

  expect(await running).toBe(130);
  expect(io.written.stderr).toMatch(/^fxrates: at most [^\n]*\n$/);
});

test('probe obeys --timeout, and sends no request again', async () => {
  const line = `probe ${BASE_URL} --timeout 500ms`;

  const { code, stderr, requests } = await runCli(line, { replies: 'never' });

  expect([code, requests.length]).toEqual([6, 1]);
  expect(stderr).toContain('no complete response from fxrates.test within 500ms');
});
