import { CommanderError } from 'commander';
import { Redactor } from '../../redactor.ts';
import { printError } from '../errors/print-error.ts';
import { exitCodes } from '../io/exit-codes.ts';
import type { Env, Io } from '../io/io.ts';
import { createNodeIo } from '../io/node-io.ts';
import type { CliCommand } from '../parser/command.ts';
import { explainParserError, refuseTypedKey, requireOptions } from '../parser/parser-error.ts';
import {
  type Invocation,
  messageSettings,
  requireProfile,
  resolveSettings,
  type SharedOptions,
  unknownSettings,
} from '../settings/settings.ts';
import { readConfig, requireConfig } from '../settings/stored-files.ts';
import { Screen, type StreamStyle } from '../terminal/screen.ts';
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
  const secrets = new Redactor();
  secrets.protect(io.env['FXRATES_API_KEY'] ?? '');
  const config = readConfig(io.env);
  const screenOf = ({ typed }: CliCommand) =>
    new Screen(io, messageSettings({ options: typed, env: io.env, config, strict: [] }), secrets);
  const parsed = parse(argv, (command) => screenOf(command).out);
  const screen = screenOf(parsed.command);
  try {
    if (parsed.page !== undefined) {
      await screen.printText(parsed.page);
      return exitCodes.ok;
    }
    refuseTypedKey(argv, parsed.command);
    if (parsed.error instanceof CommanderError) throw explainParserError(parsed.error, parsed.command);
    if (parsed.error !== undefined) throw parsed.error;
    return await execute(parsed.command, { argv, io, config, screen });
  } catch (error) {
    return await printError(error, screen);
  }
}

interface ParsedLine {
  /** The one that was typed, or that found the error. */
  readonly command: CliCommand;
  /** Help or the version, in place of a command. */
  readonly page?: string;
  readonly error?: unknown;
}

function parse(argv: readonly string[], styleOf: (command: CliCommand) => StreamStyle): ParsedLine {
  let page = '';
  let command: CliCommand | undefined;
  const program = createProgram({
    styleOf,
    write: (text) => {
      page += text;
    },
    onCommand: (typed) => {
      command = typed;
    },
    onError: (error, typed) => {
      command = typed;
      throw error;
    },
  });
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    // One of these ends help and version.
    if (command !== undefined || !(error instanceof CommanderError)) return { command: command ?? program, error };
  }
  return command === undefined ? { command: program, page } : { command };
}

async function execute(
  command: CliCommand,
  { argv, io, config, screen }: Pick<Invocation, 'argv' | 'io' | 'config' | 'screen'>,
): Promise<number> {
  const { env } = io;
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
  return (await command.run?.({ io, settings, config, screen, ...typed })) ?? exitCodes.ok;
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
