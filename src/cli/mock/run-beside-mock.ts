import { constants } from 'node:os';
import { CliError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { type MockOptions, type RunningMock, startMock } from './start-mock.ts';

/** What shells answer for a command that is not there, or that is no program. */
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
    // On a terminal Ctrl-C reaches the command without us; a second one from us would look like impatience.
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

/** 126 and 127 are not ours but the shells', so they are no `ExitCode`. */
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
