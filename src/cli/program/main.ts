import { CommanderError } from 'commander';
import { Redactor } from '../../redactor.ts';
import { printError } from '../errors/print-error.ts';
import { exitCodes } from '../io/exit-codes.ts';
import type { Env, Io } from '../io/io.ts';
import { createNodeIo } from '../io/node-io.ts';
import type { CliCommand } from '../parser/command.ts';
import { explainParserError, refuseTypedKey, requireOptions } from '../parser/parser-error.ts';
import type { Invocation } from '../settings/invocation.ts';
import { messageSettings, requireProfile, resolveSettings, unknownSettings } from '../settings/settings.ts';
import { readConfig, requireConfig } from '../settings/stored-files.ts';
import type { SharedOptions } from '../settings/values.ts';
import { Screen } from '../terminal/screen.ts';
import { createProgram } from './program.ts';

export { completionText } from './complete.ts';

/** Runs one command line with the streams, files and network of the process. */
export async function runOnNode(argv: readonly string[], env: Env): Promise<number> {
  const io = createNodeIo(env);
  const exitCode = await main(argv, io);
  io.interrupts.finish(exitCode);
  return exitCode;
}

/** Runs `argv`, without `node` and the script. Prints a failure. Returns the exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const { env } = io;
  const secrets = new Redactor();
  secrets.protect(env['FXRATES_API_KEY'] ?? '');
  const config = readConfig(env);
  // For help, and for an error before the settings of the command are known.
  const screenOf = ({ typed }: CliCommand) =>
    new Screen(io, messageSettings({ options: typed, env, config, strict: [] }), secrets);
  const pages: string[] = [];
  let exitCode: number = exitCodes.ok;
  const program = createProgram({
    write: (text) => pages.push(text),
    styleOf: (command) => screenOf(command).out,
    onError: (error, command) => {
      screen = screenOf(command);
      refuseTypedKey(argv, command);
      throw explainParserError(error, command, argv);
    },
    execute: async (command, run) => {
      screen = screenOf(command);
      refuseTypedKey(argv, command);
      requireOptions(command);
      const options = command.opts<SharedOptions>();
      const needsConfig = command.has('--profile') && !command.traits.survivesBrokenConfig;
      const problem = needsConfig ? requireConfig(config, !isIndependent(options, env)) : undefined;
      if (problem !== undefined) await screen.warn(problem);
      // A command that only changes stored settings must also work if one of them is invalid.
      const strict = isStrict(command) ? (['variable', 'config.json'] as const) : (['variable'] as const);
      const settings = resolveSettings({ options, env, config, strict });
      if (isStrict(command)) await checkConfig(command, { config, settings, screen, io });
      const typed = { command: command.path.join(' '), argv, args: command.args, options };
      exitCode = await run({ io, settings, config, screen, ...typed });
    },
  });
  let screen = screenOf(program);
  try {
    await parse(argv, program);
    if (pages.length > 0) await screen.printText(pages.join(''));
    return exitCode;
  } catch (error) {
    return await printError(error, screen);
  }
}

async function parse(argv: readonly string[], program: CliCommand): Promise<void> {
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error; // one of these ends help and version
  }
}

/** Whether the URL and the key are set without the stored files. */
function isIndependent({ baseUrl, keyFile, keyStdin, profile }: SharedOptions, env: Env): boolean {
  const hasKey = keyStdin || keyFile !== undefined || env['FXRATES_API_KEY'] || env['FXRATES_API_KEY_FILE'];
  const hasProfile = profile !== undefined || env['FXRATES_PROFILE'];
  return Boolean((baseUrl ?? env['FXRATES_BASE_URL']) && hasKey && !hasProfile);
}

/** Whether the command calls the service, so that a wrong setting could cost quota. Not the command that reports them. */
function isStrict(command: CliCommand): boolean {
  return command.has('--key-file') && !command.traits.survivesBrokenConfig;
}

/** Warns of names in config.json that have no effect. @throws CliError if the profile does not exist */
async function checkConfig(
  { traits }: CliCommand,
  { config, settings, screen, io }: Pick<Invocation, 'config' | 'settings' | 'screen' | 'io'>,
): Promise<void> {
  if (!traits.createsProfile) requireProfile(settings, { config, env: io.env });
  for (const warning of unknownSettings(config)) await screen.warn(`${config.path}: ${warning}`);
}
