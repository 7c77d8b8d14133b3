import type { CommanderError, Option } from 'commander';
import { nearestName } from '../../nearest-name.ts';
import { type CliError, usageError } from '../errors/cli-error.ts';
import { holdsKey } from '../terminal/redactor.ts';
import { commandLine } from '../terminal/text.ts';
import type { CliCommand } from './command.ts';
import { sharedOptions } from './options.ts';

/** Options that other tools have and this one must not: they would put the key on the command line. */
const KEY_OPTION = /^--?(api[-_]?)?(key|token|secret)(=|$)/i;

/** Hints for option names of other tools, for which the nearest option of fxrates would be wrong. */
const OPTION_HINTS = new Map([
  ['--format', 'The format is:  --output json, or --json'],
  ['--csv', 'CSV:  --output csv'],
  ['--tsv', 'One value per line, with tabs:  --output tsv'],
  ['--table', 'The table in a pipe, too:  --output table'],
  ['--jq', 'One value:  --get rates.EUR; for more, a pipe gets JSON:  fxrates latest | jq'],
  ['--raw', 'The whole response:  --envelope'],
  ['--compact', 'Without white space:  --output compact'],
  ['--query', 'One value:  --get rates.EUR'],
  ['--pretty', 'A terminal gets indented JSON; in a pipe:  fxrates latest | jq'],
]);
const COMMAND_HINTS = new Map([
  ['watch', 'fxrates latest --watch'],
  ['version', 'fxrates --version'],
  ['login', 'fxrates auth login'],
  ['logout', 'fxrates auth logout'],
  ['token', 'fxrates auth token'],
  ['whoami', 'fxrates auth status'],
  ['status', 'fxrates auth status'],
  ['usage', 'fxrates quota'],
  ['rates', 'fxrates latest'],
  ['serve', 'fxrates mock'],
  ['server', 'fxrates mock'],
  ['start', 'fxrates mock'],
  ['profile', 'fxrates auth login --profile <name>'],
  ['convert', 'fxrates latest base=USD --get rates.EUR'],
]);

/** What commander found wrong on the command line `argv`, in our words and with the command to run next. */
export function explainParserError({ code, message }: CommanderError, command: CliCommand, argv: readonly string[]) {
  if (code === 'commander.unknownOption') return unknownOption(command, argv);
  if (code === 'commander.unknownCommand' || code === 'commander.helpDisplayed') return unknownCommand(command);
  const { registeredArguments, path } = command;
  if (code === 'commander.excessArguments' && registeredArguments.length === 0) {
    const isParameter = argv.some((arg) => /^[^-=][^=]*=/.test(arg));
    const what = `${path.join(' ')} accepts no ${isParameter ? 'parameters' : 'arguments'}`;
    return usageError(what, undefined, [helpHint(command)]);
  }
  return usageError(message.replace(/^error: /, ''), undefined, [helpHint(command)]);
}

/** Before anything is parsed or printed: a key given as an option or argument is not repeated. */
export function refuseTypedKey(argv: readonly string[], { path }: Pick<CliCommand, 'path'>): void {
  const end = argv.indexOf('--');
  const before = end === -1 ? argv : argv.slice(0, end);
  const option = before.find((arg) => KEY_OPTION.test(arg));
  if (option === undefined && !before.some(holdsKey)) return;
  throw usageError(
    option === undefined ? 'refusing an argument that contains an API key' : `'${option.split('=')[0]}' does not exist`,
    'a key on the command line is visible to other users and stays in the shell history',
    [
      path[0] === 'auth' || path[0] === 'config'
        ? 'Store it:  fxrates auth login --key-stdin < key.txt'
        : 'Use FXRATES_API_KEY, --key-file or --key-stdin:  fxrates quota --key-stdin < key.txt',
      'Consider this key exposed: create a new key, then revoke this one.',
    ],
  );
}

/** commander leaves the first unknown option, and all words after it, among the arguments. */
function unknownOption(command: CliCommand, argv: readonly string[]): CliError {
  const typed = command.args.find((arg) => /^-(?!\d+$)./.test(arg)) ?? '';
  const [flag = ''] = typed.split('=', 1);
  const what = `unknown option '${typed}'`;
  const hint = OPTION_HINTS.get(flag);
  if (hint !== undefined) return usageError(what, undefined, [hint]);
  if (command.has(flag)) return usageError(what, `${flag} has no value`);
  if (sharedOptions().some(({ long }) => long === flag)) return inapplicable(flag, command);
  const flags = [...command.options.flatMap(({ long, hidden }) => (hidden ? [] : (long ?? []))), '--help'];
  const meant = flag.startsWith('--') ? nearestName(flag, flags) : undefined;
  if (meant !== undefined) return usageError(what, undefined, [`Did you mean ${meant}?`]);
  if (!flag.startsWith('--') || !command.syntax.includes('name=value')) {
    return usageError(what, undefined, [helpHint(command)]);
  }
  return usageError(what, 'parameters are written name=value', [commandLine(withParameters(argv, flags))]);
}

/** @throws CliError for a wrong value, and for an option or format that the command does not have */
export function requireOptions(command: CliCommand): void {
  const { typed, options, wrongValue } = command;
  if (wrongValue !== undefined) throw wrongValue;
  const isNamed = (name: string) => (option: Option) => option.attributeName() === name;
  const other = Object.keys(typed).find((name) => !options.some(isNamed(name)));
  if (other !== undefined) throw inapplicable(sharedOptions().find(isNamed(other))?.long ?? '', command);
  requireFormat(command);
}

function requireFormat(command: CliCommand): void {
  const { argChoices: formats = [], hidden } = command.options.find(({ long }) => long === '--output') ?? {};
  const { output = formats[0] } = command.typed;
  if (formats.some((format) => format === output)) return;
  const name = `'${command.fullName}'`;
  if (hidden) throw usageError(`${name} has no --output`, 'it prints no data', [helpHint(command)]);
  throw usageError(`${name} has no --output ${output}`, `valid formats: ${formats.join(', ')}`);
}

const ONE_REQUEST = 'only commands that just send a request can print it instead';
const REASONS = new Map([
  ['--dry-run', ONE_REQUEST],
  ['--curl', ONE_REQUEST],
  ['--get', 'it prints no data to select from'],
  ['--profile', 'it does not use profiles'],
  ['fxrates config list --profile', 'it prints the settings of all profiles'],
  ['fxrates probe --base-url', 'the service is its argument: fxrates probe https://…'],
]);

function inapplicable(flag: string, command: CliCommand): CliError {
  const { fullName } = command;
  const why = REASONS.get(`${fullName} ${flag}`) ?? REASONS.get(flag) ?? 'it sends nothing';
  return usageError(`'${fullName}' has no ${flag}`, why, [helpHint(command)]);
}

/** `latest base=USD date=1` for `latest --base USD --date=1`. */
function withParameters([word, ...rest]: readonly string[], options: readonly string[]): readonly string[] {
  if (word === undefined || word === '--') return word === undefined ? [] : [word, ...rest];
  const [flag = ''] = word.split('=', 1);
  if (!flag.startsWith('--') || options.includes(flag)) return [word, ...withParameters(rest, options)];
  if (flag !== word) return [word.slice(2), ...withParameters(rest, options)];
  const [value] = rest;
  const hasValue = value !== undefined && !value.startsWith('-');
  return [`${flag.slice(2)}=${hasValue ? value : '…'}`, ...withParameters(rest.slice(hasValue ? 1 : 0), options)];
}

function unknownCommand(command: CliCommand): CliError {
  const [name = ''] = command.args;
  const names = command.commands.map((child) => child.name());
  const hint = COMMAND_HINTS.get(name);
  const meant = nearestName(name, names);
  const list = command.parent === null ? helpHint(command) : `Subcommands: ${names.join(', ')}`;
  return usageError(`unknown command '${name}'`, undefined, [
    hint ?? (meant === undefined ? list : `Did you mean ${meant}?`),
  ]);
}

function helpHint({ fullName }: CliCommand): string {
  return `See: ${fullName} --help`;
}
