import type { Io } from '../io.ts';
import type { ColorWhen } from '../terminal/palette.ts';

/** The settings that decide how an error of the command line is printed, which parsing has not found. */
interface EarlyFlags {
  readonly output: 'auto' | 'json';
  readonly color: ColorWhen;
  readonly quiet: number;
  readonly verbose: number;
}

/** Returns a stored setting. It is a function, because a crash report must not load the modules that read files. */
type Stored = (name: 'output' | 'color', profile: string | undefined) => string | undefined;

/** Reads the flags that shape error messages; everything else, and everything after `--`, is passed over. */
export function readEarlyFlags(argv: readonly string[], env: Io['env'], stored: Stored = () => undefined): EarlyFlags {
  const end = argv.indexOf('--');
  const args = end === -1 ? argv : argv.slice(0, end);
  const typed = args.includes('--json') ? 'json' : optionValue(args, '-o', '--output');
  const profile = optionValue(args, undefined, '--profile') ?? (env['FXRATES_PROFILE'] || undefined);
  return {
    output: (typed ?? (env['FXRATES_OUTPUT'] || stored('output', profile))) === 'json' ? 'json' : 'auto',
    color: colorWhen(args, stored('color', profile)),
    quiet: occurrences(args, 'q', '--quiet'),
    verbose: occurrences(args, 'v', '--verbose') || debugLevel(env),
  };
}

function colorWhen(args: readonly string[], stored: string | undefined): ColorWhen {
  const when = args.includes('--no-color') ? 'never' : (optionValue(args, undefined, '--color') ?? stored);
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

/** The words of the command whose help is requested, if the command line has no others. */
export function pathOfHelp(argv: readonly string[]): readonly string[] | undefined {
  if (argv.length === 0) return [];
  if (['-h', '--help'].includes(argv.at(-1) ?? '')) return argv.slice(0, -1);
  return argv[0] === 'help' ? argv.slice(1) : undefined;
}

/** FXRATES_DEBUG: 2 is -vv, any other value but 0 and false is -v. */
export function debugLevel({ FXRATES_DEBUG: text = '' }: Io['env']): number {
  if (text === '' || text === '0' || text === 'false') return 0;
  return text === '2' ? 2 : 1;
}
