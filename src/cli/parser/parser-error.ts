import type { CommanderError, Option } from 'commander';
import { nearestName } from '../../nearest-name.ts';
import { holdsKey } from '../../redactor.ts';
import { type CliError, usageError } from '../errors/cli-error.ts';
import { sharedOptions } from '../settings/options.ts';
import type { CliCommand } from './command.ts';

/** Options that other tools have and this one must not: they would put the key on the command line. */
const KEY_OPTION = /^--?(api[-_]?)?(key|token|secret)(=|$)/i;

/** Names of options of other tools, the option that does the same, which a command may lack, and the next step. */
const OPTION_HINTS: readonly (readonly [names: string, option: string | undefined, hint: string])[] = [
  ['--format --csv --tsv --table --compact --pretty', '--output', 'The format is:  --output table, json, csv or tsv'],
  ['--jq --query --jsonpath --path --field --filter --select', '--get', 'One value:  --get rates.EUR'],
  ['--raw', '--envelope', 'The whole response:  --envelope'],
  ['--dry-run', '--curl', 'The request instead of sending it:  --curl'],
  ['--silent -s --no-progress --no-progress-meter', '--quiet', 'Without notes and progress:  --quiet'],
  ['--debug --trace --log-level --loglevel -d -I', '--verbose', 'Requests:  -v; headers and bodies:  -vv'],
  ['--max-time --connect-timeout --request-timeout -m', '--timeout', 'The limit for one attempt:  --timeout 10s'],
  ['--retry --max-retries --retry-max-time', '--retries', 'Retries of a failed attempt:  --retries 2'],
  ['--delay --interval --every --follow', '--watch', 'To repeat the call:  --watch 10m'],
  ['--concurrency --parallel --jobs -j -P', undefined, 'A batch sends as many requests at once as the limit allows.'],
  ['--url --host --server --endpoint --api-url', '--base-url', 'The URL of the service:  --base-url https://…'],
  ['--header --user --auth --bearer -H -u', '--key-file', 'The key:  --key-file, --key-stdin or FXRATES_API_KEY'],
  ['--insecure --cacert --ca-bundle -k', undefined, 'To trust a certificate:  export NODE_EXTRA_CA_CERTS=ca.pem'],
  ['--proxy --http-proxy -x', undefined, 'A proxy:  export HTTPS_PROXY=http://proxy:8080'],
  ['--request --method --data --body -X', undefined, 'Every request is a GET; parameters are written name=value'],
  ['--out --out-file --output-file --save -O', undefined, 'To a file:  > rates.json'],
  ['--yes --force --non-interactive --batch -y -f', '--no-input', 'Without prompts:  --no-input'],
];

const COMMAND_HINTS = new Map([
  ['watch', 'fxrates latest --watch'],
  ['version', 'fxrates --version'],
  ['login', 'fxrates auth login'],
  ['logout', 'fxrates auth logout'],
  ['status', 'fxrates auth status'],
  ['rates', 'fxrates latest'],
  ['serve', 'fxrates mock'],
  ['convert', 'fxrates latest base=USD --get rates.EUR'],
]);

/** What commander found wrong on the command line, in our words and with the command to run next. */
export function explainParserError({ code, message }: CommanderError, command: CliCommand): CliError {
  if (code === 'commander.unknownOption') return unknownOption(command);
  if (code === 'commander.unknownCommand' || code === 'commander.helpDisplayed') return unknownCommand(command);
  if (code === 'commander.excessArguments') return excessArguments(command);
  return usageError(message.replace(/^error: /, ''), undefined, [helpHint(command)]);
}

function excessArguments(command: CliCommand): CliError {
  const { registeredArguments, path, args } = command;
  const most = registeredArguments.length;
  const isParameter = args.some((arg) => /^[^=]+=/.test(arg));
  const accepted =
    most > 0 ? `at most ${most} argument${most === 1 ? '' : 's'}` : `no ${isParameter ? 'parameters' : 'arguments'}`;
  const got = most > 0 ? `got ${args.map((arg) => `'${arg}'`).join(', ')}` : undefined;
  return usageError(`${path.join(' ')} accepts ${accepted}`, got, [helpHint(command)]);
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
function unknownOption(command: CliCommand): CliError {
  const typed = command.args.find((arg) => /^-(?!\d+$)./.test(arg)) ?? '';
  const [flag = ''] = typed.split('=', 1);
  const what = `unknown option '${typed}'`;
  const hint = hintFor(flag, command);
  if (hint !== undefined) return usageError(what, undefined, [hint]);
  if (command.has(flag)) return usageError(what, `${flag} has no value`);
  const isShared = sharedOptions().some(({ long }) => long === flag);
  if (
    isShared ||
    rootOf(command)
      .all()
      .some((other) => other.has(flag))
  )
    return inapplicable(flag, command);
  const flags = [...command.options.flatMap(({ long, hidden }) => (hidden ? [] : (long ?? []))), '--help'];
  const meant = flag.startsWith('--') ? nearestName(flag, flags) : undefined;
  if (meant !== undefined) return usageError(what, undefined, [`Did you mean ${meant}?`]);
  return usageError(what, command.takesParameters ? 'parameters are written name=value' : undefined, [
    helpHint(command),
  ]);
}

function rootOf(command: CliCommand): CliCommand {
  return command.parent === null ? command : rootOf(command.parent);
}

/** For an option of another tool. `undefined` if the command lacks the option that does the same. */
function hintFor(flag: string, command: CliCommand): string | undefined {
  const [, option, hint] = OPTION_HINTS.find(([names]) => names.split(' ').includes(flag)) ?? [];
  return option === undefined || command.has(option) ? hint : undefined;
}

/** @throws CliError for an option or format that the command does not have */
export function requireOptions(command: CliCommand): void {
  const { typed, options } = command;
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

function inapplicable(flag: string, command: CliCommand): CliError {
  return usageError(`'${command.fullName}' has no ${flag}`, undefined, [helpHint(command)]);
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
