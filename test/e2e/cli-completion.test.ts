import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUNDLE, hasBundle, runBundle } from '../helpers/cli-bundle.ts';

type Shell = 'bash' | 'zsh' | 'fish';
const hasProgram = (program: string) => spawnSync(program, ['--version']).error === undefined;
const SHELLS: readonly Shell[] = (['bash', 'zsh', 'fish'] as const).filter((shell) => hasBundle && hasProgram(shell));
/** `script` of util-linux runs a program in a terminal of its own. */
const hasTerminal = hasProgram('script');

/**
 * A home folder with one profile, a file and the script of each shell; `fxrates` is the built program.
 */
let home = '';
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'fxrates-completion-'));
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
afterAll(() => rmSync(home, { recursive: true }));

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

/** The line that a terminal shows after `typed` and a tab. The shell prints the line instead of running it. */
function afterTab(shell: 'bash' | 'zsh', typed: string): string {
  const [command, setUp] = INTERACTIVE[shell];
  // Ctrl-A and Ctrl-E move to the start and the end of the line; a quoted text is printed unchanged.
  const input = `${setUp}\n${typed}\t\u0001print_line \u0005\nexit\n`;
  const printLine = "print_line() { printf 'LINE<'; printf '%s|' \"$@\"; printf '>\\n'; }\n";
  const { stdout } = run('script', ['-qec', command, '/dev/null'], printLine + input);
  return /LINE<(fxrates\|.*)>/.exec(stdout)?.[1] ?? stdout;
}

/** The candidates of fish, without descriptions. */
function fishOffers(typed: string): readonly string[] {
  const { stdout, stderr } = run('fish', ['-c', '. ./script.fish; complete -C $argv[1]', '--', typed]);
  expect(stderr).toBe('');
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
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
  ['fxrates -q auth stat', 'fxrates|-q|auth|status|'],
  ['fxrates latest --env', 'fxrates|latest|--envelope|'],
  ['fxrates quota --color=ne', 'fxrates|quota|--color=never|'],
  ['fxrates quota --color ne', 'fxrates|quota|--color|never|'],
  ['fxrates latest --profile w', 'fxrates|latest|--profile|work|'],
  ['fxrates quota --key-file some', 'fxrates|quota|--key-file|some-key.txt|'],
  ['fxrates quota --key-file=some', 'fxrates|quota|--key-file=some-key.txt|'],
  ['fxrates mock --behaviour retryAfterUnit=s', 'fxrates|mock|--behaviour|retryAfterUnit=seconds|'],
  ['fxrates mock --behaviour quotaExhausted=403', 'fxrates|mock|--behaviour|quotaExhausted=403 quota_exceeded|'],
  ["fxrates mock --behaviour 'quotaExhausted=402 q", 'fxrates|mock|--behaviour|quotaExhausted=402 quota_exceeded|'],
  ['fxrates mock -- fxr', 'fxrates|mock|--|fxrates|'],
  ['fxrates latest --timeout some', 'fxrates|latest|--timeout|some|'],
];

for (const shell of SHELLS.filter((name) => name !== 'fish')) {
  test.runIf(hasTerminal).each(LINES)(`${shell} completes %j in a terminal`, (typed, words) => {
    expect(afterTab(shell, typed)).toBe(words);
  });

  test.runIf(hasTerminal)(`${shell} adds no space after a name that continues with =`, () => {
    expect(afterTab(shell, 'fxrates mock --behaviour retryAfterU')).toBe('fxrates|mock|--behaviour|retryAfterUnit=|');
  });
}

test.runIf(hasTerminal && SHELLS.includes('zsh'))('zsh completes the command line after -- as its own', () => {
  expect(afterTab('zsh', 'fxrates mock -- fxrates ver')).toBe('fxrates|mock|--|fxrates|version|');
});

test.runIf(SHELLS.includes('fish')).each<[typed: string, offers: readonly string[]]>([
  ['fxrates quo', ['quota']],
  ['fxrates -q auth stat', ['status']],
  ['fxrates auth ', ['login', 'logout', 'status', 'token']],
  ['fxrates latest --env', ['--envelope']],
  ['fxrates quota --color=ne', ['--color=never']],
  ['fxrates latest --profile w', ['work']],
  ['fxrates quota --key-file some', ['some-key.txt']],
  ['fxrates quota --key-file=some', ['--key-file=some-key.txt']],
  ['fxrates latest base=EUR s', ['symbols=']],
  ['fxrates mock --behaviour quotaExhausted=403', ['quotaExhausted=403 quota_exceeded']],
  ['fxrates mock -- fxrates vers', ['version']],
  ['fxrates latest --timeout some', []],
])('fish completes %j', (typed, offers) => {
  expect(fishOffers(typed).toSorted()).toEqual(offers);
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
