import type { Io } from '../io.ts';
import type { ColorWhen } from '../terminal/palette.ts';
import { debugLevel } from './debug-level.ts';
import type { CliSettings } from './settings.ts';

/** What the report of a wrong command line must know although that command line could not be parsed. */
type EarlyFlags = Pick<CliSettings, 'output' | 'color' | 'quiet' | 'verbose'>;

/** Reads the flags that shape error messages; everything else, and everything after `--`, is passed over. */
export function readEarlyFlags(argv: readonly string[], env: Io['env']): EarlyFlags {
  const end = argv.indexOf('--');
  const args = end === -1 ? argv : argv.slice(0, end);
  const typed = args.includes('--json') ? 'json' : optionValue(args, '-o', '--output');
  return {
    output: (typed ?? env['FXRATES_OUTPUT']) === 'json' ? 'json' : 'auto',
    color: colorWhen(args),
    quiet: occurrences(args, 'q', '--quiet'),
    verbose: occurrences(args, 'v', '--verbose') || debugLevel(env),
  };
}

function colorWhen(args: readonly string[]): ColorWhen {
  const when = args.includes('--no-color') ? 'never' : optionValue(args, undefined, '--color');
  return when === 'always' || when === 'never' ? when : 'auto';
}

function optionValue(args: readonly string[], short: string | undefined, long: string): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (arg === long || arg === short) return args[index + 1];
    if (arg.startsWith(`${long}=`)) return arg.slice(long.length + 1);
    if (short !== undefined && arg.startsWith(short) && !arg.startsWith('--')) return arg.slice(short.length);
  }
  return undefined;
}

function occurrences(args: readonly string[], letter: string, long: string): number {
  const clusters = args.filter((arg) => /^-[hiqvV]+$/.test(arg)).join('');
  return clusters.split(letter).length - 1 + args.filter((arg) => arg === long).length;
}
