import type { CommanderError } from 'commander';
import { Redactor } from '../../redactor.ts';
import { VERSION } from '../../version.ts';
import { printError } from '../errors/print-error.ts';
import { exitCodes } from '../io/exit-codes.ts';
import type { Env, Io } from '../io/io.ts';
import { createNodeIo } from '../io/node-io.ts';
import type { CliCommand } from '../parser/command.ts';
import { helpText } from '../parser/help-page.ts';
import { explainParserError, refuseTypedKey, requireOptions } from '../parser/parser-error.ts';
import type { SharedOptions } from '../settings/options.ts';
import {
  type Invocation,
  requireProfile,
  resolveSettings,
  type SettingSource,
  unknownSettings,
} from '../settings/settings.ts';
import { readConfig, unreadableConfig } from '../settings/stored-files.ts';
import { Screen } from '../terminal/screen.ts';
import { parseLine } from './program.ts';

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
  const { command, end } = parseLine(argv);
  const resolved = resolveSettings({ options: command.typed, env: io.env, config });
  const screen = new Screen(io, resolved.settings, secrets);
  try {
    if (end !== undefined && isAnswer(end, command)) {
      // Without a command, commander ends with help also after a wrong value.
      if (end.code === 'commander.help') requireValid(resolved, command, ['option']);
      await screen.printText(end.code === 'commander.version' ? `${VERSION}\n` : helpText(command, screen.out));
      return exitCodes.ok;
    }
    refuseTypedKey(argv, command);
    if (end !== undefined) throw explainParserError(end, command);
    return await execute(command, { argv, io, config, screen, resolved });
  } catch (error) {
    return await printError(error, screen);
  }
}

/** Whether commander ends with the help or the version, and not with help in place of a command that does not exist. */
function isAnswer({ code, exitCode }: CommanderError, { commands, args: [word = '-'] }: CliCommand): boolean {
  return code === 'commander.help' || (exitCode === 0 && (commands.length === 0 || word.startsWith('-')));
}

type ResolvedSettings = ReturnType<typeof resolveSettings>;

/** @throws CliError for an invalid value of these sources. Variables are also set for other commands, which use them. */
function requireValid({ problems }: ResolvedSettings, command: CliCommand, sources: readonly SettingSource[]): void {
  const isUsed = ({ source, option }: (typeof problems)[number]) => source !== 'variable' || command.has(option);
  const problem = problems.find((one) => sources.includes(one.source) && isUsed(one));
  if (problem !== undefined) throw problem.error;
}

interface ResolvedLine extends Pick<Invocation, 'argv' | 'io' | 'config' | 'screen'> {
  readonly resolved: ResolvedSettings;
}

async function execute(command: CliCommand, { argv, io, config, screen, resolved }: ResolvedLine): Promise<number> {
  requireValid(resolved, command, ['option']);
  requireOptions(command);
  const options = command.values();
  const needsConfig = command.has('--profile') && !command.traits.survivesBrokenConfig;
  const problem = needsConfig ? unreadableConfig(config) : undefined;
  if (problem !== undefined) await screen.warn(problem);
  // A command that only changes stored settings must also work if one of them is invalid.
  requireValid(resolved, command, isStrict(command) ? ['variable', 'config.json'] : ['variable']);
  const { settings } = resolved;
  if (isStrict(command)) await checkConfig(command, { config, settings, screen, io, options });
  return (await command.run?.({ io, settings, config, screen, argv, args: command.args, options })) ?? exitCodes.ok;
}

/** Whether the command calls the service, so that a wrong setting could cost quota. Not the command that reports them. */
function isStrict(command: CliCommand): boolean {
  return command.has('--key-file') && !command.traits.survivesBrokenConfig;
}

/** Warns of names in config.json that have no effect. @throws CliError if the profile does not exist */
async function checkConfig(
  { traits }: CliCommand,
  { config, settings, screen, io, options }: Pick<Invocation, 'config' | 'settings' | 'screen' | 'io' | 'options'>,
): Promise<void> {
  const { env } = io;
  const { profile } = settings;
  if (!traits.createsProfile) {
    requireProfile(settings, { config, env });
    const names = config.profiles.get(profile)?.has('base_url') ? overridingVariables(options, env) : [];
    if (names.length > 0)
      await screen.remark(`${names.join(' and ')} ${names.length === 1 ? 'overrides' : 'override'} profile ${profile}`);
  }
  for (const warning of unknownSettings(config)) await screen.warn(`${config.path}: ${warning}`);
}

/** The variables that override the URL and the key of a typed profile. */
function overridingVariables({ profile, baseUrl, keyFile, keyStdin }: SharedOptions, env: Env): readonly string[] {
  if (profile === undefined) return [];
  const ofUrl = baseUrl === undefined ? ['FXRATES_BASE_URL'] : [];
  const ofKey = keyFile === undefined && !keyStdin ? ['FXRATES_API_KEY', 'FXRATES_API_KEY_FILE'] : [];
  return [...ofUrl, ...ofKey].filter((name) => env[name]);
}
