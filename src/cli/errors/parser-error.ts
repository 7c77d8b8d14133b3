import type { CommanderError } from 'commander';
import { apiKeyPattern } from '../../generated/service.ts';
import { commandLine } from '../terminal/text.ts';
import { type CliError, usageError } from './cli-error.ts';

/** The command line as far as the parser understood it. */
export interface CommandLine {
  readonly argv: readonly string[];
  /** Name of the command under way; `undefined` before one was found. */
  readonly command: string | undefined;
  /** Commands that could follow. */
  readonly subcommands: readonly string[];
  /** Whether that command takes name=value parameters. */
  readonly takesParameters: boolean;
  /** Long names of the options that it has, with those of all commands. */
  readonly options: readonly string[];
}

/** Options that other tools have and this one must not: they would put the key on the command line. */
const KEY_OPTION = /^--?(api[-_]?)?(key|token|secret)(=|$)/i;

const KEY = new RegExp(apiKeyPattern);

/** Hints for option names of other tools, for which the nearest option of fxrates would be wrong. */
const OPTION_HINTS: Readonly<Record<string, string>> = {
  format: 'The format is:  --output json, or --json',
  csv: 'CSV:  --output csv',
  tsv: 'One value per line, with tabs:  --output tsv',
  table: 'The table in a pipe, too:  --output table',
  jq: 'One value:  --get rates.EUR; for more, a pipe gets JSON:  fxrates latest | jq',
  raw: 'The whole response:  --output raw',
  compact: 'Without white space:  --output compact',
  query: 'One value:  --get rates.EUR',
  pretty: 'A terminal gets indented JSON; in a pipe:  --output json --color always',
};
const COMMAND_HINTS: Readonly<Record<string, string>> = {
  watch: 'fxrates latest --watch',
  login: 'fxrates auth login',
  logout: 'fxrates auth logout',
  token: 'fxrates auth token',
  whoami: 'fxrates auth status',
  status: 'fxrates auth status',
  usage: 'fxrates quota',
  rates: 'fxrates latest',
  serve: 'fxrates mock',
  server: 'fxrates mock',
  start: 'fxrates mock',
  profile: 'fxrates help profiles',
  convert: 'fxrates latest base=USD --get rates.EUR',
};

/** What commander found wrong, in our words and with the command to run next. */
export function explainParserError(error: CommanderError, line: CommandLine): CliError {
  const [what = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const meant = /Did you mean (?:one of )?(.+)\?/.exec(suggestion ?? '')?.[1];
  const hint = knownHint(error.code, what);
  if (hint !== undefined) return usageError(what, undefined, [hint]);
  if (error.code === 'commander.unknownOption') return unknownOption(what, meant, line);
  if (error.code === 'commander.excessArguments' && what.includes('Expected 0 ')) return tookNone(line);
  const isFew = error.code === 'commander.unknownCommand' && line.command !== undefined;
  if (isFew && !/^\S+$/.test(meant ?? ''))
    return usageError(what, undefined, [`Subcommands: ${line.subcommands.join(', ')}`]);
  const hints = meant === undefined ? [helpHint(line)] : [`Did you mean ${meant}?`];
  return usageError(what, undefined, hints);
}

function knownHint(code: string, what: string): string | undefined {
  const [, name = ''] = /'(?:--)?([a-z]+)/.exec(what) ?? [];
  const hints = code === 'commander.unknownOption' ? OPTION_HINTS : COMMAND_HINTS;
  const isKnown = /^commander\.unknown(Option|Command)$/.test(code) && Object.hasOwn(hints, name);
  return isKnown ? hints[name] : undefined;
}

/** Before anything is parsed or printed: a key given as an option or argument is not repeated. */
export function refuseTypedKey(argv: readonly string[]): void {
  const end = argv.indexOf('--');
  const before = end === -1 ? argv : argv.slice(0, end);
  const option = before.find((arg) => KEY_OPTION.test(arg));
  if (option === undefined && !before.some((arg) => KEY.test(arg))) return;
  throw usageError(
    option === undefined ? 'refusing an argument that is an API key' : `'${option.split('=')[0]}' does not exist`,
    'a key on the command line is visible to other users and stays in the shell history',
    [
      'Use FXRATES_API_KEY, --key-file or --key-stdin:  fxrates quota --key-stdin < key.txt',
      'Consider this key exposed: create a new key, then revoke this one.',
    ],
  );
}

function tookNone(line: CommandLine): CliError {
  const isParameter = line.argv.some((arg) => /^[^-=][^=]*=/.test(arg));
  return usageError(`${line.command} accepts no ${isParameter ? 'parameters' : 'arguments'}`, undefined, [
    helpHint(line),
  ]);
}

function unknownOption(what: string, meant: string | undefined, line: CommandLine): CliError {
  if (meant !== undefined) return usageError(what, undefined, [`Did you mean ${meant}?`]);
  const [flag = ''] = /--[\w-]+(?==)/.exec(what) ?? [];
  if (line.options.includes(flag)) return usageError(what, `${flag} has no value`);
  if (!line.takesParameters || !what.includes("'--")) return usageError(what, undefined, [helpHint(line)]);
  return usageError(what, 'parameters are written name=value', [commandLine(withParameters(line.argv, line.options))]);
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

function helpHint({ command }: CommandLine): string {
  return `See: fxrates ${command === undefined ? '' : `${command} `}--help`;
}
