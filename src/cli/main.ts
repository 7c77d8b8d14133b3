import { type Command, CommanderError } from 'commander';
import type { CommandSpec, Invocation } from './command.ts';
import { globalOptionsOf, pathOf, usefulOptions } from './command-tree.ts';
import { usageError } from './errors/cli-error.ts';
import { type CommandLine, explainParserError, refuseTypedKey } from './errors/parser-error.ts';
import { printError } from './errors/print-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';
import { readEarlyFlags } from './settings/early-flags.ts';
import type { GlobalOptions } from './settings/global-options.ts';
import { requireProfile } from './settings/profile.ts';
import { type CliSettings, resolveSettings, unknownSettings } from './settings/settings.ts';
import { type ConfigFile, configValue, NO_CONFIG, readConfig } from './storage/config-file.ts';
import { Redactor } from './terminal/redactor.ts';
import { Screen } from './terminal/screen.ts';

/** Runs `argv`, without `node` and the script. Returns the exit code. Rejects only if a file of fxrates is missing. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const flags = readEarlyFlags(argv, io.env);
  const secrets = new Redactor();
  secrets.protect(io.env['FXRATES_API_KEY'] ?? '');
  const screen = new Screen(io, flags, secrets);
  try {
    refuseTypedKey(argv);
    return await runCommandLine(argv, io, screen);
  } catch (error) {
    return await printError(error, await screenOfConfig(argv, io, secrets), flags.verbose);
  }
}

/** Parses a command line with commander and runs its command. Returns the exit code. */
async function runCommandLine(argv: readonly string[], io: Io, screen: Screen): Promise<number> {
  const pages: string[] = [];
  let exitCode: number = exitCodes.ok;
  const program = createProgram({
    style: screen.help,
    only: argv[0],
    write: (text) => pages.push(text),
    run: async (run, spec, command) => {
      rejectInapplicableOptions(spec, command);
      rejectOtherFormats(spec, command);
      const stored = await settingsFor(spec, command, io.env);
      const { settings } = stored;
      const ownScreen = new Screen(io, settings, screen.secrets);
      try {
        await checkStored(spec, stored, { io, screen: ownScreen });
        const typed = { command: pathOf(command).join(' '), argv, args: command.args, options: command.opts() };
        exitCode = await run({ io, settings, screen: ownScreen, ...typed });
      } catch (error) {
        if (!spec.usesConnectionSettings) throw error; // the settings of the others lack most of config.json
        exitCode = await printError(error, ownScreen, settings.verbose);
      }
    },
  });
  try {
    await program.parseAsync(withoutHelpFlag(argv, program), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const isHelp = error.code === 'commander.help' || error.exitCode === 0;
    if (!isHelp) throw explainParserError(error, commandLineOf(program, argv));
  }
  if (pages.length > 0) await screen.printText(pages.join(''));
  return exitCode;
}

/** Removes the help flag if the first word is not a command: the parser then reports that word. */
function withoutHelpFlag(argv: readonly string[], { commands }: Command): readonly string[] {
  const [name = '-'] = argv;
  const isCommand = name.startsWith('-') || commands.some((command) => command.name() === name);
  return isCommand ? argv : argv.filter((arg) => arg !== '--help' && arg !== '-h');
}

/** For an error of the command line itself. A broken config.json is ignored: the error is more important. */
async function screenOfConfig(argv: readonly string[], io: Io, secrets: Redactor): Promise<Screen> {
  try {
    const config = await readConfig(io.env);
    const flags = readEarlyFlags(argv, io.env, (name, profile) =>
      configValue(config, name, profile ?? configValue(config, 'profile')),
    );
    return new Screen(io, flags, secrets);
  } catch {
    return new Screen(io, readEarlyFlags(argv, io.env), secrets);
  }
}

interface Stored {
  readonly settings: CliSettings;
  readonly config: ConfigFile;
}

async function settingsFor(spec: CommandSpec, command: Command, env: Io['env']): Promise<Stored> {
  const options = command.optsWithGlobals<GlobalOptions & Record<string, never>>();
  try {
    const config = await configFor(spec, env);
    return { settings: resolveSettings(options, env, config), config };
  } catch (error) {
    if (spec.survivesBrokenConfig !== true) throw error;
    return { settings: resolveSettings(options, env), config: NO_CONFIG };
  }
}

/**
 * For a command that calls the service and does not report problems of config.json itself: warns of names in it that have
 * no effect.
 *
 * @throws CliError if the profile does not exist
 */
async function checkStored(
  { usesConnectionSettings, survivesBrokenConfig, createsProfile }: CommandSpec,
  { settings, config }: Stored,
  { io, screen }: Pick<Invocation, 'io' | 'screen'>,
): Promise<void> {
  if (!usesConnectionSettings || survivesBrokenConfig) return;
  if (!createsProfile) await requireProfile(settings, { config, env: io.env });
  for (const warning of unknownSettings(config)) await screen.warn(`${config.path}: ${warning}`);
}

/** Commands that only change stored values must also work if one of the values is invalid. */
async function configFor({ usesConnectionSettings, usesConfig }: CommandSpec, env: Io['env']): Promise<ConfigFile> {
  if (!usesConnectionSettings && !usesConfig) return NO_CONFIG;
  const config = await readConfig(env);
  if (usesConnectionSettings) return config;
  const { profile } = config.document;
  return { ...config, document: profile === undefined ? {} : { profile } };
}

/** The valid part of the command line, for the error. */
function commandLineOf({ commands }: Command, argv: readonly string[]): CommandLine {
  const name = argv.find((arg) => commands.some((command) => command.name() === arg));
  const command = commands.find((candidate) => candidate.name() === name);
  if (name !== undefined && command !== undefined && command.commands.length > 0) {
    const { command: rest, ...line } = commandLineOf(command, argv.slice(argv.indexOf(name) + 1));
    return { ...line, argv, command: rest === undefined ? name : `${name} ${rest}` };
  }
  const takesParameters = command?.registeredArguments.some((argument) => argument.name() === 'name=value') ?? false;
  const subcommands = (command?.commands ?? commands).map((child) => child.name());
  const known = command === undefined ? [] : [...command.options, ...globalOptionsOf(command)];
  const options = ['--help', ...known.flatMap(({ long }) => long ?? [])];
  return { argv, command: name, takesParameters, subcommands, options };
}

const ONE_REQUEST = 'only commands that just send a request can print it instead';
const REASONS: Readonly<Record<string, string>> = {
  '--dry-run': ONE_REQUEST,
  '--curl': ONE_REQUEST,
  '--get': 'it prints no data to select from',
  '--output': 'it prints no data',
  '--profile': 'it does not use profiles',
};

/** Refuses a typed global option that has no effect on the command. @throws CliError */
function rejectInapplicableOptions(spec: CommandSpec, command: Command): void {
  const path = fullNameOf(command);
  const useful = new Set(usefulOptions(command, spec).map(({ long }) => long));
  for (const option of globalOptionsOf(command)) {
    const { long = '' } = option;
    const isTyped = command.getOptionValueSourceWithGlobals(option.attributeName()) === 'cli';
    const isForErrors = long === '--output' && command.optsWithGlobals<GlobalOptions>().output === 'json';
    if (!isTyped || useful.has(long) || isForErrors) continue;
    const { why = REASONS[long] ?? 'it sends nothing', instead = `See: ${path} --help` } = spec.refused?.[long] ?? {};
    throw usageError(`'${path}' has no ${long}`, why, [instead]);
  }
}

/** Such as `fxrates auth status`. */
function fullNameOf(command: Command): string {
  return ['fxrates', ...pathOf(command)].join(' ');
}

/** Refuses a typed output format that the command does not have. @throws CliError */
function rejectOtherFormats({ formats }: CommandSpec, command: Command): void {
  const { output } = command.optsWithGlobals<GlobalOptions>();
  const isTyped = command.getOptionValueSourceWithGlobals('output') === 'cli';
  if (formats === undefined || output === undefined || !isTyped || formats.includes(output)) return;
  const path = fullNameOf(command);
  throw usageError(`'${path}' has no --output ${output}`, `valid formats: ${formats.join(', ')}`);
}
