import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { Argument } from 'commander';
import { LOOPBACK_ADDRESS } from '../../../environment-proxy.ts';
import type { JournalEntry, MockServer } from '../../../mock-server/index.ts';
import { oneLine, targetOf } from '../../../text.ts';
import { CliError, usageError } from '../../errors/cli-error.ts';
import { printError } from '../../errors/print-error.ts';
import { exitCodes } from '../../io/exit-codes.ts';
import type { Env } from '../../io/io.ts';
import { CliCommand } from '../../parser/command.ts';
import type { Invocation } from '../../settings/settings.ts';
import { durationOption } from '../../settings/values.ts';
import { jsonLine, quoteForShell } from '../../terminal/text.ts';
import { type MockOptions, mockOptions, type RunningMock, type StartOptions, startMock } from './start-mock.ts';

export function mockCommand(): CliCommand {
  return new CliCommand('mock')
    .about({
      summary: 'local mock server with invented rates, also for one command',
      description:
        'Starts a local server with invented rates, a key, and the limits of its plan. With a command after --, sets FXRATES_BASE_URL, FXRATES_API_KEY and FXRATES_MOCK_ADMIN_URL for it, runs it, and exits with its exit code.',
      examples: [
        { command: 'fxrates mock', comment: 'prints the URL on stdout, the rest on stderr' },
        { command: 'fxrates mock -- npm test', comment: 'exits with the exit code of npm test' },
        {
          command: 'fxrates mock --behaviour rateWindow=token-bucket',
          comment: 'one switch; TAB shows them all',
        },
        {
          command: 'fxrates mock --allow-remote',
          comment: 'in a container; see FXRATES_MOCK_ADMIN_TOKEN',
        },
        { command: 'fxrates mock --json', comment: 'one line with url, key, plan, pid and more' },
      ],
      notes: ['The key is not valid at the service. Ctrl-C stops the server.'],
    })
    .takes(new Argument('[-- command...]', 'a command to run with the mock'))
    .with(mockOptions)
    .runs(runMock);
}

function runMock(invocation: Invocation<MockOptions>): Promise<number> {
  const { io } = invocation;
  const command = commandOf(invocation);
  const isAlone = command.length === 0;
  const { allowRemote, port = isAlone ? DEFAULT_PORT : 0, host } = invocation.options;
  const mock = {
    ...invocation.options,
    port,
    host: allowRemote ? (host ?? '0.0.0.0') : loopbackHost(host ?? '127.0.0.1'),
    adminToken: checkedToken(io.env['FXRATES_MOCK_ADMIN_TOKEN']),
  };
  return isAlone ? serveMock(mock, invocation) : runBesideMock(command, mock, invocation);
}

/** The words after `--`. @throws CliError for words before it */
function commandOf({ argv, args }: Invocation): readonly string[] {
  const separatorAt = argv.indexOf('--');
  const command = separatorAt === -1 ? [] : argv.slice(separatorAt + 1);
  const [word] = args.slice(0, args.length - command.length);
  if (word !== undefined) {
    throw usageError(`'${word}' is not an option of mock`, 'write the command to run after --', [
      `The command:  ${['--', ...args.filter((arg) => arg !== '--')].map(quoteForShell).join(' ')}`,
      `npm, yarn and PowerShell remove a --:  npm run mock -- -- npm test; in PowerShell  '--'`,
    ]);
  }
  if (separatorAt !== -1 && !command[0]) {
    throw usageError('no command after --', 'is a variable empty? Without --, mock starts a server', [
      'fxrates mock -- npm test',
    ]);
  }
  return command;
}

const DEFAULT_PORT = 4010;

function loopbackHost(host: string): string {
  if (LOOPBACK_ADDRESS.test(host)) return host;
  throw usageError(`--host expects a loopback address, got '${host}'`, undefined, [
    'To let other machines connect:  --allow-remote',
  ]);
}

function checkedToken(token: string | undefined): string | undefined {
  if (token === undefined || token === '') return undefined;
  if (/^[\w-]{16,128}$/.test(token)) return token;
  throw usageError('FXRATES_MOCK_ADMIN_TOKEN expects 16 to 128 letters, digits, _ and -');
}

/**
 * Serves until Ctrl-C or SIGTERM, also while no program reads its output. When ready, it prints one line to stdout, for a
 * program; the rest is on stderr.
 */
async function serveMock(options: StartOptions, invocation: Invocation): Promise<number> {
  const { signal } = invocation.io.interrupts;
  invocation.io.neverBlock();
  const mock = await startMock(options, invocation);
  try {
    void printUsage(mock, invocation);
    logRequests(mock.server, invocation);
    const stopped = signal.aborted ? undefined : once(signal, 'abort');
    await Promise.race([stopped, printReady(mock, invocation)]);
    await stopped;
  } finally {
    await mock.close();
  }
  return exitCodes.ok;
}

async function printReady(mock: RunningMock, { screen, settings }: Invocation): Promise<void> {
  const { url, key, plan, adminUrl, keys } = mock;
  const ready = { url, key, plan, pid: process.pid, adminUrl, ...(keys.length > 1 ? { keys } : {}) };
  // If both streams are terminals, stderr has shown the URL, and it would be printed among the requests.
  const hasShownUrl = screen.out.isTTY && screen.err.isTTY && settings.quiet === 0;
  if (screen.isJson) await screen.printWithSecret(`${JSON.stringify(ready)}\n`);
  else if (!hasShownUrl) await screen.printWithSecret(`${url}\n`);
}

async function printUsage(mock: RunningMock, { screen }: Invocation): Promise<void> {
  if (screen.isJson) return;
  const { url, key, keys, adminUrl, certificate } = mock;
  const { faint, command } = screen.err.palette;
  const lines = [
    `Mock exchange-rate service (invented rates, ${planText(mock)}). Ctrl-C stops it. In another terminal:`,
    '',
    `  ${command(`export FXRATES_BASE_URL=${url}`)}`,
    `  ${command(`export FXRATES_API_KEY=${key}`)}`,
    ...(certificate === undefined ? [] : [`  ${command(`export NODE_EXTRA_CA_CERTS=${quoteForShell(certificate)}`)}`]),
    `  ${command('fxrates quota')}`,
    '',
    ...(keys.length > 1 ? [...keys.slice(1).map(keyLine), ''] : []),
    `Control panel (accounts, clock, journal):  ${adminUrl}`,
    '',
    faint('Requests:'),
  ];
  await screen.infoWithSecret(`${lines.join('\n')}\n`);
}

function keyLine(printed: RunningMock['keys'][number]): string {
  const { id, state, key } = printed;
  return `${id}, ${state}, ${planText(printed)}:  ${key}`;
}

/** `plan free`, and the limits that replace those of the plan. */
function planText({ plan, limits = {} }: Pick<RunningMock['keys'][number], 'plan' | 'limits'>): string {
  const { requests, windowMs = 60_000, monthly } = limits;
  const rate = requests === undefined ? [] : [`${requests} requests per ${durationOption(windowMs)}`];
  return [`plan ${plan}`, ...rate, ...(monthly === undefined ? [] : [`${monthly} per month`])].join(', ');
}

/** Writes a line per request to stderr, with the mock's reason for its response. */
function logRequests(mock: MockServer, { screen }: Invocation): void {
  let unread = 0;
  let dropped = 0;
  const write = async (entry: JournalEntry) => {
    if (unread === MOST_UNREAD_LINES) {
      dropped += 1;
      return;
    }
    unread += 1;
    if (dropped > 0) void screen.remark(`requests not shown, because stderr was full: ${dropped}`);
    dropped = 0;
    await screen.info(screen.isJson ? requestEvent(entry) : `${requestLine(entry)}\n`);
    unread -= 1;
  };
  mock.journal.subscribe((entry) => void write(entry), { spaces: true });
}

/** Lines that wait for a reader of stderr. A pipe stores about 1,000 more. The journal has the dropped ones. */
const MOST_UNREAD_LINES = 1_000;

/** `14:20:01 GET /api/v1/latest?base=EUR 429 rate_limited: …`, in UTC like the mock's quota month. */
function requestLine(entry: JournalEntry): string {
  const { at, method, status, why, space } = entry;
  const place = space === undefined ? '' : `[${space}] `;
  return oneLine(`${new Date(at).toISOString().slice(11, 19)} ${place}${method} ${targetOf(entry)} ${status} ${why}`);
}

function requestEvent({ at, method, path, query, status, code, why, space }: JournalEntry): string {
  const time = new Date(at).toISOString();
  return jsonLine({ event: 'request', at: time, space, method, path, query, status, code, why });
}

/** Exit codes of shells for a command that does not exist or cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Runs `command` with a mock server in its environment. Returns its exit code, or 128 + n after signal n. */
async function runBesideMock(
  command: readonly string[],
  options: StartOptions,
  invocation: Invocation,
): Promise<number> {
  const { io, screen } = invocation;
  const mock = await startMock(options, invocation);
  try {
    await io.interrupts.check(); // a terminal has sent it to this process only
    const { url, plan, adminUrl } = mock;
    // The token in the address is that of the control panel; the child has it, too.
    await screen.infoWithSecret(
      screen.isJson
        ? jsonLine({ event: 'ready', url, plan, adminUrl })
        : `fxrates: mock server at ${url}, ${planText(mock)}\n  Clock, switches, journal:  ${adminUrl}\n`,
    );
    await io.interrupts.check(); // also while the line was written
    const child = io.spawn(command, environmentOf(mock, io.env));
    // On a terminal, the command receives Ctrl-C and Ctrl-\ itself, also if its stdin is a pipe, as in a git hook. A second
    // SIGINT could end it immediately.
    const isOnTerminal = [io.stdin, io.stdout, io.stderr].some(({ isTTY }) => isTTY);
    const release = io.interrupts.takeOver((name) => {
      if (!isOnTerminal || (name !== 'SIGINT' && name !== 'SIGQUIT')) child.kill(name);
    });
    const { code, signal } = await child.exited.finally(release);
    return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
  } catch (error) {
    throw spawnFailure(error, command);
  } finally {
    // A state that cannot be written is reported. The exit code stays that of the command.
    await mock.close().catch((error) => printError(error, screen));
  }
}

/** The variables that the client and `connectMockServer` read, and those with which any program reaches the mock. */
function environmentOf({ url, key, keys, adminUrl, certificate }: RunningMock, env: Env) {
  const all = keys.map((one) => one.key).join(' ');
  return {
    FXRATES_PROFILE: '', // one that a command of the child could lack; URL and key are set
    ...{ FXRATES_BASE_URL: url, FXRATES_API_KEY: key, FXRATES_MOCK_ADMIN_URL: adminUrl, FXRATES_MOCK_KEYS: all },
    // Makes Node.js trust the certificate, if the environment does not name another file.
    ...(certificate === undefined || env['NODE_EXTRA_CA_CERTS'] ? {} : { NODE_EXTRA_CA_CERTS: certificate }),
    ...noProxyFor(url, env),
  };
}

/** `NO_PROXY` with the host of the mock, in both spellings, because each program reads another one first. */
function noProxyFor(url: string, env: Env): Readonly<Record<string, string>> {
  const { hostname } = new URL(url);
  // Of an IPv6 address, some programs expect the brackets, and others do not.
  const hosts = hostname.startsWith('[') ? [hostname, hostname.slice(1, -1)] : [hostname];
  const [upper, lower] = [env['NO_PROXY'], env['no_proxy']];
  // `*` alone stands for every host.
  const added = (list = '') => (list.trim() === '*' ? list : [...(list === '' ? [] : [list]), ...hosts].join(','));
  return { NO_PROXY: added(upper || lower), no_proxy: added(lower || upper) };
}

/** A CliError if the program at the start of `command` cannot be started. */
function spawnFailure(cause: unknown, [name = '']: readonly string[]): unknown {
  const code = cause instanceof Error && 'syscall' in cause && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT') {
    const [what, hints] = missing(name);
    return new CliError(what, { code: 'command', hints, exitCode: NOT_FOUND, cause });
  }
  if (code === 'EACCES') {
    const hints = [`Is it executable?  chmod +x ${quoteForShell(name)}`];
    return new CliError(`not a program: ${name}`, { code: 'command', hints, exitCode: NOT_EXECUTABLE, cause });
  }
  return cause;
}

function missing(name: string): readonly [what: string, hints: readonly string[]] {
  // The system has the same error for a script whose first line names no program, such as `/bin/sh\r`.
  if (name.includes('/') && existsSync(name)) {
    return [`cannot start ${name}`, ['Its first line (#!) names no program. Does the line end with CRLF, not LF?']];
  }
  const isLine = name.includes(' '); // it was in quotes, so no shell has split it
  return [`command not found: ${name}`, isLine ? [`In a shell:  -- sh -c ${quoteForShell(name)}`] : []];
}
