/** The command to run again, as one would type it, with `options` instead of those that it had of the same names. */
export function commandLine(
  argv: readonly string[],
  { without, and }: { without: readonly string[]; and: readonly string[] },
): string {
  const kept: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const arg = argv[index] ?? '';
    if (without.includes(arg)) index += arg.startsWith('--no-') ? 0 : 1;
    else if (!without.some((name) => arg.startsWith(`${name}=`))) kept.push(arg);
  }
  return ['fxrates', ...kept, ...and].map(quoteForShell).join(' ');
}

/** `text` as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
