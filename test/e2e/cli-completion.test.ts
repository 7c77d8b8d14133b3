import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { BUNDLE, hasBundle, hasTerminal, runBundle } from '../helpers/cli-bundle.ts';
import { hasProgram } from '../helpers/has-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

type Shell = 'bash' | 'zsh' | 'fish';
const SHELLS: readonly Shell[] = (['bash', 'zsh', 'fish'] as const).filter((shell) => hasBundle && hasProgram(shell));

/**
 * A home folder with one profile, a file and the script of each shell; `fxrates` is the built program.
 */
const home = temporaryFolder();
beforeAll(async () => {
  const put = (path: string, text: string) => {
    mkdirSync(join(home, path, '..'), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  put('bin/fxrates', `#!/bin/sh\nexec '${process.execPath}' '${BUNDLE}' "$@"\n`);
  chmodSync(join(home, 'bin', 'fxrates'), 0o755);
  put('.config/fxrates/config.json', '{ "profiles": { "work": {} } }');
  put('some-key.txt', '');
  for (const shell of [...SHELLS, 'powershell']) {
    if (hasBundle) put(`script.${shell}`, (await runBundle(['completion', shell])).stdout);
  }
});

function run(program: string, args: readonly string[], input = '') {
  const env = { PATH: `${join(home, 'bin')}:${process.env['PATH']}`, HOME: home, TERM: 'dumb', LANG: 'C.UTF-8' };
  const { stdout, stderr, status } = spawnSync(program, args, { encoding: 'utf8', env, cwd: home, input });
  return { stdout, stderr, status };
}

/** Options that start an interactive shell without settings of the machine, and load the script. */
const INTERACTIVE: Readonly<Record<'bash' | 'zsh', readonly [command: string, setUp: string]>> = {
  bash: ['bash --norc --noprofile -i', "bind 'set bell-style none'; PS1=; . ./script.bash"],
  zsh: ['zsh -f -i', 'PS1=; unsetopt beep; bindkey -e; autoload -U compinit; compinit -u -D; . ./script.zsh'],
};

/** The lines that a terminal shows after each text and a tab. The shell prints a line instead of running it. */
function afterTab(shell: 'bash' | 'zsh', texts: readonly string[]): readonly string[] {
  const [command, setUp] = INTERACTIVE[shell];
  const printLine = "print_line() { printf 'LINE<'; printf '%s|' \"$@\"; printf '>\\n'; }";
  // Ctrl-A and Ctrl-E move to the start and the end of the line; a quoted text is printed unchanged.
  const typed = texts.map((text) => `${text}\t\u0001print_line \u0005`);
  const { stdout } = run('script', ['-qec', command, '/dev/null'], [printLine, setUp, ...typed, 'exit\n'].join('\n'));
  return Array.from(stdout.matchAll(/LINE<(fxrates\|.*)>/g), ([, line = '']) => line);
}

/** The candidates of fish for each text, sorted, without descriptions. */
function fishOffers(texts: readonly string[]): readonly (readonly string[])[] {
  const script = '. ./script.fish; for text in $argv; complete -C $text; echo; end';
  const { stdout, stderr } = run('fish', ['-c', script, '--', ...texts]);
  expect(stderr).toBe('');
  const offers = stdout.split(/^\n/m).slice(0, texts.length);
  return offers.map((lines) => Array.from(lines.matchAll(/^[^\t\n]+/gm), ([candidate]) => candidate).sort());
}

test.each(SHELLS)('%s accepts its script', (shell) => {
  expect(run(shell, ['-n', `script.${shell}`])).toEqual({ stdout: '', stderr: '', status: 0 });
});

test.skipIf(!hasProgram('pwsh'))('PowerShell accepts its script, and completes with it', () => {
  const parse = `$errors = $null; [void][System.Management.Automation.Language.Parser]::ParseFile('${join(home, 'script.powershell')}', [ref]$null, [ref]$errors); $errors.Count`;
  expect(run('pwsh', ['-NoProfile', '-Command', parse]).stdout.trim()).toBe('0');

  const ask = (line: string) =>
    run('pwsh', [
      '-NoProfile',
      '-Command',
      `. ./script.powershell; (TabExpansion2 '${line}' ${line.length}).CompletionMatches.CompletionText`,
    ]).stdout.trim();
  expect(ask('fxrates quo')).toBe('quota');
  expect(ask('fxrates auth ')).toBe('login\nstatus\nlogout\ntoken');
});

/** The words of a line, of which the last is completed, and the result with a `|` after each. */
const LINES: readonly (readonly [typed: string, words: string])[] = [
  ['fxrates quo', 'fxrates|quota|'],
  ['fxrates quota --color=ne', 'fxrates|quota|--color=never|'],
  ['fxrates latest --profile w', 'fxrates|latest|--profile|work|'],
  ['fxrates quota --key-file some', 'fxrates|quota|--key-file|some-key.txt|'],
  ['fxrates quota --key-file=some', 'fxrates|quota|--key-file=some-key.txt|'],
  ['fxrates mock --behaviour retryAfterUnit=s', 'fxrates|mock|--behaviour|retryAfterUnit=seconds|'],
  ['fxrates mock --behaviour quotaExhausted=403', 'fxrates|mock|--behaviour|quotaExhausted=403 quota_exceeded|'],
  ["fxrates mock --behaviour 'quotaExhausted=402 q", 'fxrates|mock|--behaviour|quotaExhausted=402 quota_exceeded|'],
  ['fxrates mock -- fxr', 'fxrates|mock|--|fxrates|'],
  ['fxrates latest --timeout some', 'fxrates|latest|--timeout|some|'],
  // Without a space after a name that continues with `=`.
  ['fxrates mock --behaviour retryAfterU', 'fxrates|mock|--behaviour|retryAfterUnit=|'],
];

const IN_TERMINAL = SHELLS.filter((shell) => shell !== 'fish');

test.runIf(hasTerminal).each(IN_TERMINAL)('%s completes lines in a terminal', (shell) => {
  const shown = afterTab(
    shell,
    LINES.map(([typed]) => typed),
  );

  expect(shown).toEqual(LINES.map(([, words]) => words));
});

test.runIf(hasTerminal && SHELLS.includes('zsh'))('zsh completes the command line after -- as its own', () => {
  expect(afterTab('zsh', ['fxrates mock -- fxrates doc'])).toEqual(['fxrates|mock|--|fxrates|doctor|']);
});

test.runIf(SHELLS.includes('fish'))('fish offers candidates', () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    'fxrates quo': ['quota'],
    'fxrates quota --color=ne': ['--color=never'],
    'fxrates latest --profile w': ['work'],
    'fxrates quota --key-file some': ['some-key.txt'],
    'fxrates quota --key-file=some': ['--key-file=some-key.txt'],
    'fxrates latest base=EUR s': ['symbols='],
    'fxrates mock --behaviour quotaExhausted=403': ['quotaExhausted=403 quota_exceeded'],
    'fxrates mock -- fxrates doc': ['doctor'],
    'fxrates latest --timeout some': [],
  };

  const offers = fishOffers(Object.keys(expected));

  expect(Object.fromEntries(Object.keys(expected).map((typed, place) => [typed, offers[place]]))).toEqual(expected);
});

test.each(SHELLS)('%s offers and prints nothing if fxrates is missing', (shell) => {
  const ask: Readonly<Record<Shell, string>> = {
    bash: '. ./script.bash; COMP_LINE="gone-fxrates lat" COMP_POINT=16 COMP_WORDS=(gone-fxrates lat) COMP_CWORD=1; _fxrates; echo "<$COMPREPLY>"',
    zsh: 'compdef() { }; . ./script.zsh; words=(gone-fxrates lat); CURRENT=2; PREFIX=lat; _fxrates; echo "<>"',
    fish: '. ./script.fish; complete -c gone-fxrates -f -a "(__fxrates_complete)"; echo (count (complete -C "gone-fxrates lat"))',
  };

  const { stdout, stderr } = run(shell, ['-c', ask[shell]]);

  expect([stdout.trim(), stderr]).toEqual([shell === 'fish' ? '0' : '<>', '']);
});
