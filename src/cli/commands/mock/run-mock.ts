import { constants } from 'node:os';
import type { JournalEntry, MockServer } from '../../../mock-server/index.ts';
import type { Invocation } from '../../command.ts';
import { CliError } from '../../errors/cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { jsonLine, oneLine } from '../../terminal/text.ts';
import { type MockOptions, type RunningMock, startMock } from './start-mock.ts';

const DEFAULT_PORT = 4010;

/** Serves until Ctrl-C or SIGTERM. A stdout that is read gets exactly one line, when ready; the rest goes to stderr. */
export async function serveMock(options: MockOptions, invocation: Invocation): Promise<number> {
  const { io, screen, settings } = invocation;
  const mock = await startMock(options, options.port ?? DEFAULT_PORT);
  try {
    await printUsage(mock, options, invocation);
    const { url, key, adminUrl, dashboardUrl } = mock;
    const ready = { url, key, plan: options.plan, pid: io.pid, adminUrl, dashboardUrl };
    // If both streams are terminals, stderr has shown the URL, and it would be printed among the requests.
    const isSaid = screen.out.isTTY && screen.err.isTTY && settings.quiet === 0;
    if (screen.isJson) await screen.printWithSecret(`${JSON.stringify(ready)}\n`);
    else if (!isSaid) await screen.printWithSecret(`${url}\n`);
    await logRequests(mock.server, invocation, io.interrupts.signal);
  } finally {
    await mock.close();
  }
  return exitCodes.ok;
}

async function printUsage(mock: RunningMock, { plan }: MockOptions, { screen }: Invocation): Promise<void> {
  if (screen.isJson) return;
  const { url, key, adminUrl, dashboardUrl } = mock;
  const { faint, command } = screen.err.palette;
  const lines = [
    `Mock exchange-rate service (invented rates, plan ${plan}). Ctrl-C stops it. In another terminal:`,
    '',
    `  ${command(`export FXRATES_BASE_URL=${url}`)}`,
    `  ${command(`export FXRATES_API_KEY=${key}`)}`,
    `  ${command('fxrates quota')}`,
    '',
    `Keys and plans:  ${dashboardUrl}`,
    `Clock, switches, journal:  ${adminUrl}`,
    '',
    faint('Requests:'),
  ];
  await screen.infoWithSecret(`${lines.join('\n')}\n`);
}

/** Writes a line per request to stderr, with the mock's reason for its answer, until `signal` aborts. */
async function logRequests(mock: MockServer, { screen }: Invocation, signal: AbortSignal): Promise<void> {
  // One after the other, in the order they came.
  let written: Promise<unknown> = Promise.resolve();
  const stop = mock.journal.subscribe(
    (entry) => {
      written = written.then(() => screen.info(screen.isJson ? requestEvent(entry) : `${requestLine(entry)}\n`));
    },
    { spaces: true },
  );
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  stop();
  await written;
}

/** `14:20:01 GET /api/v1/latest?base=EUR 429 rate_limited: …`, in UTC like the mock's quota month. */
function requestLine({ at, method, path, query, status, why, space }: JournalEntry): string {
  const pairs = Object.entries(query).flatMap(([name, values]) => [values].flat().map((value) => `${name}=${value}`));
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
  const place = space === undefined ? '' : `[${space}] `;
  return oneLine(`${new Date(at).toISOString().slice(11, 19)} ${place}${method} ${target} ${status} ${why}`);
}

function requestEvent({ at, method, path, query, status, code, why, space }: JournalEntry): string {
  const time = new Date(at).toISOString();
  return jsonLine({ event: 'request', at: time, space, method, path, query, status, code, why });
}

/** Exit codes of shells for a command that does not exist, or that is no program. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Runs `command` with a mock server in its environment and gives the command's exit code, 128 + n after signal n. */
export async function runBesideMock(
  command: readonly string[],
  options: MockOptions,
  invocation: Invocation,
): Promise<number> {
  const { io, screen } = invocation;
  const mock = await startMock(options, options.port ?? 0);
  try {
    await screen.info(`fxrates: mock server at ${mock.url}, plan ${options.plan}\n`);
    const child = io.spawn(command, environmentOf(mock));
    // On a terminal the command gets Ctrl-C itself; a second SIGINT could make it end at once.
    const release = io.interrupts.takeOver((name) => {
      if (name !== 'SIGINT' || !io.stdin.isTTY) child.kill(name);
    });
    const { code, signal } = await child.exited.finally(release);
    return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
  } catch (error) {
    return await reportSpawnFailure(error, command, invocation);
  } finally {
    await mock.close();
  }
}

/** What the client reads, and what `connectMockServer` takes. */
function environmentOf({ url, key, adminUrl }: RunningMock): Readonly<Record<string, string>> {
  return { FXRATES_BASE_URL: url, FXRATES_API_KEY: key, FXRATES_MOCK_ADMIN_URL: adminUrl };
}

/** Returns 126 or 127, the exit codes of shells, which are no `ExitCode`. */
async function reportSpawnFailure(
  error: unknown,
  [name = '']: readonly string[],
  { screen }: Invocation,
): Promise<number> {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOENT' && code !== 'EACCES') throw error;
  const what = code === 'ENOENT' ? `command not found: ${name}` : `not a program: ${name}`;
  const failure = new CliError(what, { code: 'command', exitCode: exitCodes.failure, cause: error });
  await screen.error(`fxrates: ${failure.message}\n`);
  return code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE;
}
