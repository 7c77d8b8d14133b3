import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { realClock } from '../../../../src/cli/io/node-io.ts';
import { main } from '../../../../src/cli/program/main.ts';
import { connectMockServer } from '../../../../src/mock-server/index.ts';
import { FakeIo, jsonLines, runCli, usageError } from '../../../helpers/cli-io.ts';
import { deferred } from '../../../helpers/deferred.ts';
import { FakeClock, quiet } from '../../../helpers/fake-clock.ts';
import { listen } from '../../../helpers/listen.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { startCommand, startMock, withMock } from './running-mock.ts';

/** What `fxrates mock` writes, and then a command with the printed URL and key: over a real socket, in real time. */
async function mockAndCommand(args: string, line: string) {
  const { io, stop } = await startMock(args);
  const url = io.written.stdout.trim();
  const key = /FXRATES_API_KEY=(\S+)/.exec(io.written.stderr)?.[1] ?? '';
  const result = await runCli(line, { env: { FXRATES_BASE_URL: url, FXRATES_API_KEY: key }, fetch, clock: realClock });
  return { url, result, written: await stop() };
}

test('stdout has exactly one line, the URL; instructions are on stderr', async () => {
  const { url, result, written } = await mockAndCommand('', 'quota --get plan');

  expect(result).toMatchObject({ code: 0, stdout: 'free\n', stderr: '' });
  expect(written.stdout).toBe(`${url}\n`);
  expect(written.stderr).toContain(`export FXRATES_BASE_URL=${url}`);
});

test.each([
  ['mock --port 0', false],
  ['mock --port 0 -q', true],
  ['mock --port 0 --json', true],
])('%s on a terminal: the URL has a line of its own: %s', async (line, hasLine) => {
  const io = new FakeIo({ tty: ['stdout', 'stderr'] });
  const exited = main(line.split(' '), io);
  while (!`${io.written.stdout}${io.written.stderr}`.includes(hasLine ? '\n' : 'Requests:')) await quiet();
  io.interrupt('SIGINT');

  expect(await exited).toBe(0);

  expect(io.written.stdout === '').toBe(!hasLine);
  expect(io.written.stdout + io.written.stderr).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
});

test('--json is one line with url, key, plan, pid and the control panel', async () => {
  const { io, stop } = await startMock('--plan developer --json');
  await stop();

  expect(JSON.parse(io.written.stdout)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    key: expect.stringMatching(/_live_[0-9a-f]{48}$/),
    plan: 'developer',
    pid: process.pid,
    adminUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/__fxrates\/#token=\S+$/),
  });
});

test('--limit and --monthly replace the limits of the plan', async () => {
  const { result, written } = await mockAndCommand('--limit 2/1s --monthly 5', 'quota --json');

  expect(JSON.parse(result.stdout)).toMatchObject({ plan: 'free', rate_limit_per_minute: 120, monthly_limit: 5 });
  expect(written.stderr).toContain('(invented rates, plan free, 2 requests per 1s, 5 per month)');
});

test('--journal-size limits the requests that the journal keeps', async () => {
  const kept = await withMock('--journal-size 2', async ({ url, adminUrl }) => {
    for (const page of [1, 2, 3]) await fetch(`${url}/api/v1/latest?page=${page}`);
    const { journal } = connectMockServer(adminUrl);
    return [await journal.list(), await journal.dropped()];
  });

  expect(kept).toMatchObject([[{ number: 2 }, { number: 3 }], 1]);
});

test('requests are logged to stderr with the reason, without key, and cannot forge a line or move the cursor', async () => {
  const clock = new FakeClock();
  const { io, stop } = await startMock('--now 2026-03-31T23:59:00Z', { clock });

  const response = await fetch(`${io.written.stdout.trim()}/api/v1/latest?api_key=nonsense`);
  await fetch(`${io.written.stdout.trim()}/api/v1/latest?base=%1b%5b2J%0a14:20:01%20GET`);
  await fetch(`${io.written.stdout.trim()}/api/v1/latest?base=EUR%26symbols%3DUSD`);
  await clock.advance(1_000);
  await stop();

  expect(response.status).toBe(401);
  expect(io.written.stderr).toMatch(/^23:59:\d\d GET \/api\/v1\/latest\?api_key=… 401 /m);
  expect(io.written.stderr).toContain('?base=%1B%5B2J%0A14:20:01%20GET 401 ');
  expect(io.written.stderr).toContain('?base=EUR%26symbols%3DUSD 401 '); // and not as two parameters
  for (const text of ['nonsense', '\u001b']) expect(io.written.stderr).not.toContain(text);
});

test('drops lines while nobody reads stderr, and says how many', async () => {
  const { io, stop } = await startMock('--frozen --now 2026-01-31T12:00:00Z');
  const { write } = io.stderr;
  const reads = deferred<void>();
  Object.assign(io.stderr, { write: (text: string) => reads.promise.then(() => write(text)) });
  const send = (path: string) => fetch(io.written.stdout.trim() + path);

  for (let sent = 0; sent < 1_003; sent += 1) await send('/unread');
  reads.resolve();
  await send('/read');
  await stop();

  expect(io.written.stderr.split('/unread')).toHaveLength(1_001);
  expect(io.written.stderr).toMatch(
    /404 [^\n]+\nfxrates: requests not shown, because stderr was full: 3\n12:00:00 GET \/read /,
  );
});

test('with --frozen, the clock moves only over HTTP, and a reset restores its first time and the printed key', async () => {
  const { io, stop } = await startMock('--json --now 2026-01-31T23:59:00Z --frozen --plan free');
  const { url, key, adminUrl } = JSON.parse(io.written.stdout);
  const mock = connectMockServer(adminUrl);
  const send = async () => {
    const { status, headers } = await fetch(`${url}/api/v1/quota`, { headers: { authorization: key } });
    return [status, headers.get('date'), headers.get('retry-after')];
  };
  const start = 'Sat, 31 Jan 2026 23:59:00 GMT';

  for (let sent = 0; sent < 30; sent += 1) expect(await send()).toEqual([200, start, null]);
  expect(await send()).toEqual([429, start, '60']);
  await mock.clock.advance(60_000);
  expect(await send()).toEqual([200, 'Sun, 01 Feb 2026 00:00:00 GMT', null]);
  await mock.reset();
  expect(await send()).toEqual([200, start, null]);

  await stop();
});

test('a port in use is an error with the next step', async () => {
  const server = createServer();
  const port = await listen(server);
  onTestFinished(() => void server.close());

  const { code, stdout, stderr } = await runCli(`mock --port ${port} --plan developer -- npm test`);

  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(`fxrates: port ${port} is in use\n\n  Use a free port:  --port 0\n`);
});

test.each([
  [['--port', '0', '--host', '0.0.0.0'], {}, 'To let other machines connect:  --allow-remote\n'],
  [['--journal-size=-1'], {}, "--journal-size expects a whole number from 0 to 1000000, got '-1'"],
  [['--'], {}, 'no command after --'],
  [['--', ''], {}, 'no command after --'],
  [['npm', '--', 'test'], {}, "'npm' is not an option of mock — write the command to run after --"],
  [['npm', '--', 'test'], {}, '\n  The command:  -- npm test\n'],
  [['--plan', 'free', 'npm', 'test'], {}, 'remove a --:  npm run mock -- -- npm test;'],
  [['sh', '-c', 'echo hi'], {}, "\n  The command:  -- sh -c 'echo hi'\n"],
  [[], { FXRATES_MOCK_ADMIN_TOKEN: 'too-short' }, 'FXRATES_MOCK_ADMIN_TOKEN expects 16 to 128'],
] as const)('mock %j with %j is refused: %s', async (args, env, says) => {
  const stderr = await usageError(['mock', ...args], { env });

  expect(stderr).toContain(says);
  expect(stderr).not.toContain('too-short');
});

test('mock -- command starts it with the URLs and the key of the mock, and exits as it does', async () => {
  const exit = { code: 3, signal: null };
  const { io, command, env, end } = await startCommand('mock -- npm test -- --help', { exit });

  const health = await fetch(`${env['FXRATES_BASE_URL']}/api/v1/quota`, {
    headers: { authorization: `Bearer ${env['FXRATES_API_KEY']}` },
  });
  const { requests } = await connectMockServer(env['FXRATES_MOCK_ADMIN_URL'] ?? '').audit();

  expect(await end()).toBe(3);
  expect([health.status, requests]).toEqual([200, 1]);
  expect(command).toEqual(['npm', 'test', '--', '--help']);
  expect(io.written.stdout).toBe('');
  // With its token, for a look at the control panel while the command runs.
  expect(io.written.stderr).toContain(env['FXRATES_MOCK_ADMIN_URL']);
  await expect(fetch(`${env['FXRATES_BASE_URL']}/`)).rejects.toThrow();
});

test.each([
  [{}, '127.0.0.1', '127.0.0.1'],
  [{ NO_PROXY: 'a.test, b.test' }, 'a.test, b.test,127.0.0.1', 'a.test, b.test,127.0.0.1'],
  [{ NO_PROXY: 'a.test', no_proxy: 'b.test' }, 'a.test,127.0.0.1', 'b.test,127.0.0.1'],
  [{ no_proxy: '*' }, '*', '*'],
])('mock -- command with %j reaches the mock without a proxy', async (env, upper, lower) => {
  const started = await startCommand('mock -- npm test', { env: { ...env, HTTP_PROXY: 'http://127.0.0.1:1' } });

  expect(await started.end()).toBe(0);
  expect(started.env).toMatchObject({ NO_PROXY: upper, no_proxy: lower });
});

test('signals are forwarded to the command, except those of a terminal, which it receives itself', async () => {
  // A command whose stdin is a pipe, such as that of a git hook, can be on a terminal, too.
  for (const tty of [[], ['stdin'], ['stdout'], ['stderr']] as const) {
    const { io, killed, end } = await startCommand('mock -- repl', { tty });

    for (const name of ['SIGINT', 'SIGQUIT', 'SIGTERM'] as const) io.interrupt(name);

    expect(await end()).toBe(0);
    expect(killed).toEqual(tty.length === 0 ? ['SIGINT', 'SIGQUIT', 'SIGTERM'] : ['SIGTERM']);
  }
});

test.each([
  ['while the mock starts', (io: FakeIo) => io.interrupt('SIGTERM')],
  [
    'while the line of the mock is written',
    (io: FakeIo) => {
      vi.spyOn(io.stderr, 'write').mockImplementationOnce(async () => io.interrupt('SIGTERM'));
    },
  ],
])('a signal %s ends the mock, and the command is not started', async (_, interrupt) => {
  const io = new FakeIo(); // its `spawn` finds no program
  const exited = main('mock -- npm test'.split(' '), io);
  interrupt(io);

  expect(await exited).toBe(143);
});

test('a signal after the end of the command is not sent to it', async () => {
  const { io, killed, end } = await startCommand('mock -- npm test');
  await end();

  io.interrupt('SIGTERM');

  expect([killed, io.interrupts.signal.aborted]).toEqual([[], true]);
});

test('with --json, each line on stderr around a command is JSON', async () => {
  const { io, env, end } = await startCommand('mock --json --plan developer -- npm test');
  await end();
  const url = env['FXRATES_BASE_URL'];
  const adminUrl = expect.stringMatching(/\/__fxrates\/#token=\S+$/);
  expect(jsonLines(io.written.stderr)).toEqual([{ event: 'ready', url, plan: 'developer', adminUrl }]);

  const { code, stderr } = await runCli(['mock', '--json', '--', 'no-such-program']);
  expect(code).toBe(127); // as in a shell
  expect((await runCli('mock -- no-such-program')).stderr).toMatch(/fxrates: command not found: no-such-program\n$/);
  expect((await runCli(['mock', '--', 'npm test'])).stderr).toContain(
    "npm test\n\n  In a shell:  -- sh -c 'npm test'\n",
  );
  expect(jsonLines(stderr)).toMatchObject([
    { event: 'ready', plan: 'free' },
    { error: { code: 'command', message: 'command not found: no-such-program', exit_code: 127 } },
  ]);
});

test.skipIf(process.platform === 'win32')('a script with CRLF is named with the reason, not as missing', async () => {
  const script = join(temporaryFolder(), 'run-tests');
  await writeFile(script, '#!/bin/sh\r\necho hi\r\n', { mode: 0o755 });

  const { code, stderr } = await runCli(['mock', '--', script]);

  expect(code).toBe(127);
  expect(stderr).toContain(`fxrates: cannot start ${script}\n\n  Its first line (#!) names no program.`);
});

test.each([
  ['--allow-remote', /^fxrates: the mock listens on all addresses, port \d+; other machines can connect/],
  ['--allow-remote --json', /^\{"event":"warning","message":"the mock listens on all addresses, port /],
  ['--allow-remote --host=', /^fxrates: the mock listens on all addresses, port /],
  ['--allow-remote --host [::]', /^fxrates: the mock listens on all addresses, port /],
  ['--allow-remote --host ::0', /^fxrates: the mock listens on all addresses, port /],
  ['--allow-remote --host 127.0.0.1', /^(?!.*listens on)/s],
  ['--host [::1]', /^(?!.*listens on)/s],
  ['', /^(?!.*listens on)/s],
])('mock %s says whether other machines can connect', async (line, message) => {
  const { stop } = await startMock(line);

  expect((await stop()).stderr).toMatch(message);
});

test.each([
  ['mock -- probe https://api.example.test', ['probe', 'https://api.example.test']],
  ['mock --port 0 -- probe', ['probe']],
  ['--color never mock --plan=free -q -- probe --max-requests 1 -- x', ['probe', '--max-requests', '1', '--', 'x']],
  ['-qo json mock --port 0 -- probe', ['probe']],
  ['-qvo json mock -- probe x', ['probe', 'x']],
])('%s runs the program probe, not the subcommand', async (line, expected) => {
  const { command, end } = await startCommand(line);

  expect(await end()).toBe(0);
  expect(command).toEqual(expected);
});
