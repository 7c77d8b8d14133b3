import type { CommanderError, Option } from 'commander';
import { nearestName } from '../../nearest-name.ts';
import { holdsKey } from '../../redactor.ts';
import { type CliError, usageError } from '../errors/cli-error.ts';
import { commandLine, quoteForShell } from '../terminal/text.ts';
import type { CliCommand } from './command.ts';
import { sharedOptions } from './options.ts';
import { EXAMPLE_NAMES } from './parameters.ts';

/** Options that other tools have and this one must not: they would put the key on the command line. */
const KEY_OPTION = /^--?(api[-_]?)?(key|token|secret)(=|$)/i;

/** Option names of other tools, for which the nearest option of fxrates would be wrong, and the next step instead. */
const OPTION_HINTS = hintsByName([
  ['--format', 'The format is:  --output json, or --json'],
  ['--csv', 'CSV:  --output csv'],
  ['--tsv', 'One value per line, with tabs:  --output tsv'],
  ['--table', 'The table in a pipe, too:  --output table'],
  ['--jq', 'One value:  --get rates.EUR; for more, a pipe gets JSON:  fxrates latest | jq'],
  ['--query --jsonpath --path --field --filter --select --template', 'One value:  --get rates.EUR'],
  ['--raw', 'The whole response:  --envelope'],
  ['--compact', 'A pipe gets JSON as received, without added white space:  fxrates latest | cat'],
  ['--dry-run', 'The request instead of sending it:  --curl'],
  ['--pretty', 'A terminal gets indented JSON; in a pipe:  fxrates latest | jq'],
  ['--silent -s --no-progress --no-progress-meter', 'Without notes and progress:  --quiet'],
  ['--debug --trace --log-level --loglevel -d', 'Requests:  --verbose; also headers and bodies:  -vv'],
  [
    '--include --head --show-headers -I',
    'Headers and bodies on stderr:  -vv; or:  fxrates api /api/v1/latest --include',
  ],
  ['--max-time --connect-timeout --request-timeout -m', 'The limit for one attempt:  --timeout 10s'],
  ['--retry --max-retries --retry-max-time', 'Retries of a failed attempt:  --retries 2'],
  ['--delay --interval --every --follow', 'To repeat the call:  --watch 10m'],
  ['--url --host --server --endpoint --api-url', 'The URL of the service:  --base-url https://…'],
  [
    '--header --headers --user --auth --bearer -H -u',
    'The key:  --key-file, --key-stdin or FXRATES_API_KEY; no option sets headers',
  ],
  ['--insecure --no-verify-ssl --cacert --ca-bundle -k', 'To trust a certificate:  export NODE_EXTRA_CA_CERTS=ca.pem'],
  ['--proxy --http-proxy -x', 'A proxy:  export HTTPS_PROXY=http://proxy:8080'],
  ['--request --method --data --body --post -X', 'Every request is a GET; parameters are written name=value'],
  ['--out --out-file --output-file --save -O', 'To a file:  fxrates latest base=USD > rates.json'],
  ['--config --config-file --env-file', 'Another folder of config.json:  export FXRATES_CONFIG_DIR=/path/to/folder'],
  ['--yes --force --non-interactive --batch -y -f', 'Without prompts:  --no-input'],
  ['--location --fail --compressed --no-pager -L', 'Not needed.'],
]);

function hintsByName(rows: readonly (readonly [names: string, hint: string])[]): ReadonlyMap<string, string> {
  return new Map(rows.flatMap(([names, hint]) => names.split(' ').map((name) => [name, hint] as const)));
}

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
  if (code === 'commander.excessArguments') return excessArguments(command);
  return usageError(message.replace(/^error: /, ''), undefined, [helpHint(command)]);
}

function excessArguments(command: CliCommand): CliError {
  const { registeredArguments, path, args } = command;
  const most = registeredArguments.length;
  const isParameter = args.some((arg) => /^[^=]+=/.test(arg));
  const accepted = most > 0 ? `at most ${most} argument` : `no ${isParameter ? 'parameters' : 'arguments'}`;
  const got = most > 0 ? `got ${args.map((arg) => `'${arg}'`).join(', ')}` : undefined;
  const next = path[0] === 'batch' ? severalFiles(args) : helpHint(command);
  return usageError(`${path.join(' ')} accepts ${accepted}`, got, [next]);
}

/** `batch a b`, and `batch base=USD base=EUR`. */
function severalFiles(args: readonly string[]): string {
  const isQuery = args.every((arg) => arg.includes('='));
  if (isQuery) return `Queries without a file:  ${commandLine(['batch', ...args.flatMap((arg) => ['--each', arg])])}`;
  return `Several files:  cat ${args.map(quoteForShell).join(' ')} | fxrates batch`;
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
  if (!flag.startsWith('--') || !command.takesParameters) {
    return usageError(what, undefined, [helpHint(command)]);
  }
  // An option of another tool, sent as a parameter, would cost a request of the quota.
  const isParameter = parameterNames(command).includes(flag.slice(2));
  const next = isParameter ? commandLine(withParameters(argv, flags)) : helpHint(command);
  return usageError(what, 'parameters are written name=value', [next]);
}

/** Those of the contract, or else those of the examples. */
function parameterNames({ parameters }: CliCommand): readonly string[] {
  return parameters.length === 0 ? EXAMPLE_NAMES : parameters.map(({ term }) => term.replace(/=.*/, ''));
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
