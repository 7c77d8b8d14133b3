/** A command line for a POSIX shell. */
export function commandLine(argv: readonly string[]): string {
  return ['fxrates', ...argv].map(quoteForShell).join(' ');
}

/** `argv` without the options of these names and their values; a name that starts with `--no-` has no value. */
export function withoutOptions(argv: readonly string[], names: readonly string[]): readonly string[] {
  return argv.filter((arg, index) => {
    const before = argv[index - 1] ?? '';
    const isValue = names.includes(before) && !before.startsWith('--no-');
    return !isValue && !names.some((name) => arg === name || arg.startsWith(`${name}=`));
  });
}

/** `text` as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./…-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
