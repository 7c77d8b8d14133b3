import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { connectMockServer } from '../../../../src/mock-server/index.ts';
import { runCli, usageError } from '../../../helpers/cli-io.ts';
import { selfSigned } from '../../../helpers/self-signed.ts';
import { fileOf, temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { startCommand, startMock, withMock } from './running-mock.ts';

const folder = temporaryFolder();

/** The responses of a mock that was started with these arguments. */
const responsesOf = (args: readonly string[], targets: readonly string[]) =>
  withMock(args, ({ url, key }) =>
    Promise.all(
      targets.map(async (target) => {
        const response = await fetch(url + target, { headers: { authorization: key } });
        return `${response.status} ${await response.text()}`;
      }),
    ),
  );

const OBSERVED = '{ "severalCredentials": { "value": "refused", "provenance": "observed" } }';

test.each([
  [[], 200],
  [['--behaviour', 'documented'], 200],
  [['--behaviour', 'hostile'], 403],
  [['--behaviour', fileOf('observed.json', OBSERVED)], 401],
  [['--behaviour', fileOf('preset.json', '{ "preset": "hostile", "malformedKey": "400 invalid_api_key" }')], 400],
  [['--behaviour', fileOf('json-preset.json', '"hostile"')], 403],
  [['--behaviour', fileOf('marked.json', `\uFEFF${OBSERVED}`)], 401],
  [['--setup', fileOf('marked-setup.json', '\uFEFF{ "behaviour": "hostile" }')], 403],
  [['--setup', fileOf('hostile.json', '{ "behaviour": "hostile" }'), '--behaviour', 'severalCredentials=header'], 200],
  [['--behaviour', 'severalCredentials=refused'], 401],
  [['--behaviour', 'severalCredentials=refused', '--behaviour', 'malformedKey=400 invalid_api_key'], 400],
  [['--behaviour', 'malformedKey=400 invalid_api_key', '--behaviour', 'hostile'], 400],
  [['--behaviour', 'severalCredentials=refused', '--behaviour', 'severalCredentials=header'], 200],
  [['--behaviour', 'severalCredentials=refused', '--behaviour', 'unlimitedAs=-1'], 401],
])('with %j, two keys in one request get the status %d', async (args, status) => {
  const [response] = await responsesOf(args, ['/api/v1/quota?api_key=another']);

  expect(response).toContain(`${status} {`);
});

const { cert, key: privateKey } = selfSigned();
const [CERT, KEY] = [fileOf('cert.pem', cert), fileOf('key.pem', privateKey)];

test('--tls-cert and --tls-key serve https, and the instructions name the certificate', async () => {
  const { io, stop } = await startMock(['--host', 'localhost', '--tls-cert', CERT, '--tls-key', KEY]);
  const url = io.written.stdout.trim();
  const agent = new Agent({ connect: { ca: cert } });

  const { statusCode } = await request(`${url}/__fxrates/health`, { dispatcher: agent });
  await agent.destroy();
  await stop();

  expect(statusCode).toBe(200);
  expect(url).toMatch(/^https:\/\/localhost:\d+$/);
  expect(io.written.stderr).toContain(`export NODE_EXTRA_CA_CERTS=${CERT}\n`);
});

test.each([
  [{}, CERT],
  [{ NODE_EXTRA_CA_CERTS: '/own.pem' }, undefined],
])('with NODE_EXTRA_CA_CERTS in %j, a command gets %s', async (env, expected) => {
  const started = await startCommand(`mock --tls-cert ${CERT} --tls-key ${KEY} -- true`, { env });
  await started.end();

  expect(started.env['NODE_EXTRA_CA_CERTS']).toBe(expected);
});

test.skipIf(process.platform === 'win32')('--replay reads a pipe once, also if it begins with a mark', async () => {
  const [file, pipe] = [fileOf('marked-replay.json', '\uFEFF{\n"": {\n"USD": 1.10\n}\n}'), join(folder, 'pipe')];
  execFileSync('mkfifo', [pipe]);
  // A second reader gets nothing.
  const writer = spawn('sh', ['-c', 'cat "$0" > "$1"; while : > "$1"; do sleep 0.01; done', file, pipe]);
  onTestFinished(() => void writer.kill());

  const { code } = await runCli(['mock', '--port', '0', '--replay', pipe, '--', 'no-such-program']);

  expect(code).toBe(127); // the mock has started
});

const SETUP = fileOf(
  'setup.json',
  `{
    "keys": [{ "plan": "developer" }, { "revoked": true }],
    "behaviour": { "unknownRoute": "404 before authentication" },
    "rules": [
      { "respond": { "data": { "USD": 1.10 } } },
      { "match": { "query": { "base": "XXX" } }, "respond": { "status": 422, "error": { "code": "unknown_currency" } } },
      { "respond": { "status": 503 }, "match": { "operation": "quota" } }
    ]
  }`,
);

const REPLAY = fileOf('replay.json', '{ "base=EUR": {"success":true,"data":{"USD":1.10}}, "": {"USD":1.00} }');

test.each<[option: string, path: string, base: string, response: RegExp]>([
  ['--replay', REPLAY, '/latest?base=EUR', /^200 \{"success":true,"data":\{"USD":1\.10\}\}$/],
  ['--replay', REPLAY, '/latest', /^200 \{"success":true,"data":\{"USD":1\.00\}\}$/],
  ['--replay', REPLAY, '/latest?base=GBP', /^501 .*not_recorded/],
  ['--setup', SETUP, '/latest', /^200 \{"success":true,"data":\{ "USD": 1\.10 \}\}$/],
  ['--setup', SETUP, '/latest?base=XXX', /^422 .*unknown_currency/],
  ['--setup', SETUP, '/quota', /^503 /],
])(
  '%s %s applies before the server starts, with the digits of the file: %s',
  async (option, path, target, expected) => {
    const [response] = await responsesOf([option, path], [`/api/v1${target}`]);

    expect(response).toMatch(expected);
  },
);

test('--setup prints every key, the first as that of the mock, and a command receives them', async () => {
  const ready = await withMock(['--setup', SETUP], (started) => started);
  const { stderr } = await (await startMock(['--setup', SETUP])).stop();
  const withSetup = await startCommand(`mock --setup ${SETUP} -- npm test`);
  const without = await startCommand('mock -- npm test');
  for (const { end } of [withSetup, without]) await end();

  expect(ready.keys).toMatchObject([
    { id: 'key_1', plan: 'developer', state: 'active', key: ready.key },
    { id: 'key_2', plan: 'free', state: 'revoked' },
  ]);
  expect(ready.plan).toBe('developer');
  const keys = ready.keys?.map(({ key }) => key) ?? [];
  expect(stderr).toContain(`export FXRATES_API_KEY=${ready.key}`);
  expect(stderr).toContain(`key_2, revoked, plan free:  ${keys[1]}`);
  expect(withSetup.env).toMatchObject({ FXRATES_API_KEY: keys[0], FXRATES_MOCK_KEYS: keys.join(' ') });
  expect(without.env).toMatchObject({ FXRATES_MOCK_KEYS: without.env['FXRATES_API_KEY'], FXRATES_PROFILE: '' });
});

test.each([
  ['', 'free'],
  ['--plan developer', 'developer'],
  [
    `--setup ${fileOf('latest-only.json', '{ "keys": [], "rules": [{ "respond": { "data": { "rate": 1.10 } } }] }')} --plan unlimited`,
    'unlimited',
  ],
  [`--setup ${fileOf('empty.json', '{ }')}`, 'free'],
])('with "%s", a reset keeps the key that the command printed', async (args, plan) => {
  const { io, stop } = await startMock(`--json --now 2026-01-31T12:00:00Z ${args}`);
  const { url, key, adminUrl } = JSON.parse(io.written.stdout);
  const send = async (operation: string) =>
    await (await fetch(`${url}/api/v1/${operation}`, { headers: { authorization: key } })).text();
  const [quota, latest] = [await send('quota'), await send('latest')];

  await connectMockServer(adminUrl).reset();

  expect(JSON.parse(quota)).toMatchObject({ data: { plan } });
  expect([await send('quota'), await send('latest')]).toEqual([quota, latest]);
  await stop();
});

test('a setup without keys keeps the key of --plan and --seed', async () => {
  const args = ['--plan', 'developer', '--seed', '7'];
  const plain = await withMock(args, (ready) => ready);
  const setUp = await withMock([...args, '--setup', fileOf('no-keys.json', '{ "rules": [] }')], (ready) => ready);

  expect(setUp).toMatchObject({ key: plain.key, plan: 'developer' });
  expect(setUp).not.toHaveProperty('keys');
});

test.each([
  [['--behaviour', join(folder, 'none.json')], /none\.json — the file does not exist; expected a preset \(documented/],
  [['--behaviour', 'lenien'], /expected a preset \(documented.*\n\n {2}Did you mean lenient\?\n$/],
  [['--behaviour', 'rateWindw=token-bucket'], /\n\n {2}All switches and their values: {2}docs\/switches\.md, or TAB/],
  [['--behaviour', fileOf('broken.json', '{ "rateWindow": }')], /broken\.json — it is not valid JSON/],
  [['--setup', fileOf('u16.json', Buffer.from('\uFEFF{}', 'utf16le'))], /u16\.json — it is UTF-16; save it as UTF-8/],
  [
    ['--replay', fileOf('keyz.json', '{ "keyz": [] }')],
    /keyz\.json — recording\["keyz"\] is \[\]; expected an envelope/,
  ],
  [['--behaviour', fileOf('typo.json', '{ "rateWindows": "fixed-epoch" }')], /behaviour\.rateWindows is not a switch/],
  [['--behaviour', fileOf('number.json', '7')], /number\.json — expected an object of switches/],
  [['--behaviour', 'rateWindow=fixed'], /behaviour\.rateWindow is "fixed"; expected one of "sliding-log"/],
  [['--setup', join(folder, 'none.json')], /none\.json — the file does not exist; expected a file with keys,/],
  [
    ['--setup', fileOf('wrong.json', '{ "rules": [{ "delayMs": 1 }, { "delay": 3 }] }')],
    /wrong\.json — rules\[1\]\.delay is not a field of a rule; did you mean\s+delayMs\?/,
  ],
  [['--setup', SETUP, '--limit', '2/1s'], /--limit has no effect — .*setup\.json has keys with plans/],
  [['--limit', '2'], /--limit expects requests and a time, got '2' — e\.g\. 2\/1s, 30\/1m/],
  [['--limit', '0/1s'], /--limit expects requests and a time, got '0\/1s'/],
  [['--limit', '2/25h'], /--limit expects requests and a time, got '2\/25h'/],
  [['--limit', '2/s'], /--limit expects a duration, got 's'/],
  [['--setup', SETUP, '--plan', 'free'], /--plan has no effect — .*setup\.json has keys with plans/],
  [['--replay', fileOf('empty.json', '{}')], /recording is \{\}; expected the text of a recorded envelope/],
  [['--tls-cert', CERT], /--tls-cert needs --tls-key — the private key of the certificate/],
  [['--tls-key', KEY], /--tls-key needs --tls-cert — the certificate of the key/],
  [
    ['--tls-cert', '/no.pem', '--tls-key', KEY],
    /cannot use \/no\.pem — the file does not exist; expected a certificate as PEM/,
  ],
  [
    ['--tls-cert', KEY, '--tls-key', KEY],
    /key\.pem and \S+key\.pem — expected a certificate and its private key, both/,
  ],
  [
    ['--tls-cert', CERT, '--tls-key', fileOf('other.pem', selfSigned().key)],
    /other\.pem — expected a certificate .* both as PEM, the key without a passphrase \(key values mismatch\)/,
  ],
  ...['--state', '--setup', '--replay', '--tls-cert', '--tls-key'].map((option): [string[], RegExp] => [
    [option, ''],
    new RegExp(`${option} expects the path of a file, got ''`),
  ]),
])('%j is rejected before the server starts', async (args, message) => {
  const stderr = await usageError(['mock', '--port', '0', ...args]);

  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('PRIVATE KEY');
});

// `batch` and `--key-file` read in the same way.
test.skipIf(process.platform === 'win32')('a device without an end is not read as a whole', async () => {
  expect(await usageError('mock --port 0 --setup /dev/zero')).toMatch(/it has more than \d+ bytes/);
});
