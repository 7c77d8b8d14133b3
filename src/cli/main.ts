import { Command, CommanderError } from 'commander';
import type { CliCommand } from './command.ts';
import { explainParserError, refuseTypedKey } from './errors/parser-error.ts';
import { printError } from './errors/print-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import { dataOptions, formatOptions, generalOptions, profileOption, type SharedOptions } from './options.ts';
import { commandFirst, createProgram } from './program.ts';
import { type CliSettings, debugLevel, requireProfile, resolveSettings, unknownSettings } from './settings/settings.ts';
import { type ConfigFile, NO_CONFIG, readConfig } from './storage/json-file.ts';
import { Redactor } from './terminal/redactor.ts';
import { Screen } from './terminal/screen.ts';

/** Runs `argv`, without `node` and the script. Returns the exit code. Rejects only if a file of fxrates is missing. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const secrets = new Redactor();
  secrets.protect(io.env['FXRATES_API_KEY'] ?? '');
  try {
    refuseTypedKey(argv);
    return await runCommandLine(argv, io, secrets);
  } catch (error) {
    const options = messageOptions(argv);
    return await printError(error, await screenForError(options, io, secrets), options.verbose ?? debugLevel(io.env));
  }
}

/** Parses a command line with commander and runs its command. Returns the exit code. */
async function runCommandLine(argv: readonly string[], io: Io, secrets: Redactor): Promise<number> {
  const pages: string[] = [];
  let exitCode: number = exitCodes.ok;
  const helpScreen = (options: SharedOptions) =>
    new Screen(io, { output: 'auto', quiet: 0, color: colorOf(options) }, secrets);
  const program = createProgram({
    write: (text) => pages.push(text),
    styleOf: (command) => helpScreen(command.opts()).help,
    onError: (error, command) => {
      const isHelp = error.code === 'commander.help' || error.exitCode === 0;
      throw isHelp ? error : explainParserError(error, command, argv);
    },
    execute: async (command, run) => {
      const stored = await settingsFor(command, io.env);
      const screen = new Screen(io, stored.settings, secrets);
      const { settings } = stored;
      try {
        await checkStored(command, stored, { io, screen });
        const typed = { command: command.path.join(' '), argv, args: command.args, options: command.opts() };
        exitCode = await run({ io, settings, screen, ...typed });
      } catch (error) {
        if (!usesService(command)) throw error; // the settings of the others lack most of config.json
        exitCode = await printError(error, screen, settings.verbose);
      }
    },
  });
  try {
    await program.parseAsync(commandFirst(argv, program), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error; // one of these ends help and version
  }
  if (pages.length > 0) await helpScreen(messageOptions(argv)).printText(pages.join(''));
  return exitCode;
}

function isJson({ json, output }: SharedOptions): boolean {
  return json === true || output === 'json';
}

function colorOf({ color }: SharedOptions): CliSettings['color'] {
  return color === false ? 'never' : (color ?? 'auto');
}

/** The options that shape messages, wherever they are typed: an error can be before them. */
function messageOptions(argv: readonly string[]): SharedOptions {
  const parser = new Command().allowUnknownOption().allowExcessArguments().helpOption(false).exitOverride();
  parser.configureOutput({ outputError: () => undefined });
  for (const option of [...dataOptions('fxrates'), ...formatOptions(), ...generalOptions(), profileOption()])
    parser.addOption(option);
  try {
    parser.parse(argv, { from: 'user' });
  } catch {
    // One of them is the error; those before it count.
  }
  return parser.opts<SharedOptions>();
}

/** For an error of the command line itself. A broken config.json is ignored: the error is more important. */
async function screenForError(options: SharedOptions, io: Io, secrets: Redactor): Promise<Screen> {
  for (const config of [await readConfig(io.env).catch(() => NO_CONFIG), NO_CONFIG]) {
    try {
      return new Screen(io, resolveSettings(options, io.env, config), secrets);
    } catch {
      // A setting is invalid.
    }
  }
  return new Screen(
    io,
    { output: isJson(options) ? 'json' : 'auto', color: colorOf(options), quiet: options.quiet ?? 0 },
    secrets,
  );
}

interface Stored {
  readonly settings: CliSettings;
  readonly config: ConfigFile;
}

async function settingsFor(command: CliCommand, env: Io['env']): Promise<Stored> {
  const options = command.opts<SharedOptions>();
  try {
    const config = await configFor(command, env);
    return { settings: resolveSettings(options, env, config), config };
  } catch (error) {
    if (command.traits.survivesBrokenConfig !== true) throw error;
    return { settings: resolveSettings(options, env), config: NO_CONFIG };
  }
}

/** Whether the command uses a base URL and a key. */
function usesService(command: CliCommand): boolean {
  return command.has('--key-file');
}

/** Commands that only change stored values must also work if one of the values is invalid. */
async function configFor(command: CliCommand, env: Io['env']): Promise<ConfigFile> {
  if (!usesService(command) && !command.has('--profile')) return NO_CONFIG;
  const config = await readConfig(env);
  if (usesService(command)) return config;
  const { profile } = config.document;
  return { ...config, document: profile === undefined ? {} : { profile } };
}

/**
 * For a command that calls the service and does not report problems of config.json itself: warns of names in it that have
 * no effect.
 *
 * @throws CliError if the profile does not exist
 */
async function checkStored(
  command: CliCommand,
  { settings, config }: Stored,
  { io, screen }: { readonly io: Io; readonly screen: Screen },
): Promise<void> {
  const { survivesBrokenConfig = false, createsProfile = false } = command.traits;
  if (!usesService(command) || survivesBrokenConfig) return;
  if (!createsProfile) await requireProfile(settings, { config, env: io.env });
  for (const warning of unknownSettings(config)) await screen.warn(`${config.path}: ${warning}`);
}
