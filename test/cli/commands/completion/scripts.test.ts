import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../../helpers/cli-io.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
const hasProgram = (program: string) => spawnSync(program, ['--version']).error === undefined;

/** What a shell needs to hand its completions to us, one per line, for the words of a command line so far. */
const ASK: Readonly<Record<'bash' | 'zsh' | 'fish', string>> = {
  bash: `fxrates() { printf 'profiles.work.base_url\\thttps://x\\n'; }
source "$SCRIPT"; COMP_WORDS=(fxrates "$@"); COMP_CWORD=$#; _fxrates; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `fxrates() { printf 'profiles.work.base_url\\thttps://x\\n'; }
compdef() { }; compset() { PREFIX=\${PREFIX#*=}; }; _files() { print -l -- $PREFIX*(N); }
_describe() { local each; for each in "\${(@P)2}"; do [[ $each == $PREFIX* ]] && print -r -- "\${each%%:*}"; done; }
_alternative() { print -l -- \${(k)commands[(I)$PREFIX*]}; }
source "$SCRIPT"; words=(fxrates "$@"); CURRENT=$#words; PREFIX=$words[-1]; _fxrates`,
  fish: `function fxrates; printf 'profiles.work.base_url\\thttps://x\\n'; end
source "$SCRIPT"; complete -C "fxrates $argv" | string split -f 1 \\t`,
};

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fxrates-completion-'));
  for (const shell of SHELLS) writeFileSync(join(folder, shell), (await runCli(`completion ${shell}`)).stdout);
  writeFileSync(join(folder, 'some-key.txt'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

function complete(shell: 'bash' | 'zsh' | 'fish', words: readonly string[]): string[] {
  const before = {
    bash: ['--norc', '-c', ASK.bash, 'bash'],
    zsh: ['-c', ASK.zsh, 'zsh'],
    fish: ['-c', ASK.fish, '--'],
  };
  const env = { PATH: process.env['PATH'], HOME: folder, SCRIPT: join(folder, shell), TERM: 'dumb' };
  const { stdout, stderr } = spawnSync(shell, [...before[shell], ...words], { encoding: 'utf8', env, cwd: folder });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

test.each(['bash', 'zsh', 'fish'].filter(hasProgram))('%s finds nothing wrong with its script', (shell) => {
  const { status, stderr } = spawnSync(shell, ['-n', join(folder, shell)], { encoding: 'utf8' });

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.skipIf(!hasProgram('pwsh'))('PowerShell finds nothing wrong with its script', () => {
  const parse = `$errors = $null; [void][System.Management.Automation.Language.Parser]::ParseFile('${join(folder, 'powershell')}', [ref]$null, [ref]$errors); $errors.Count`;

  expect(execFileSync('pwsh', ['-NoProfile', '-Command', parse], { encoding: 'utf8' }).trim()).toBe('0');
});

const CASES: readonly (readonly [words: readonly string[], expected: readonly string[]])[] = [
  [['q'], ['quota']],
  [
    ['auth', ''],
    ['login', 'logout', 'status', 'token'],
  ],
  [
    ['-q', 'auth', 'log'],
    ['login', 'logout'],
  ],
  [['--output', 'tsv', 'la'], ['latest']],
  [['latest', '--out'], ['--output']],
  [['latest', 'base=USD', '--env'], ['--envelope']],
  [
    ['quota', '-o', ''],
    ['auto', 'compact', 'csv', 'json', 'raw', 'table', 'tsv'],
  ],
  [
    ['quota', '--color', 'a'],
    ['always', 'auto'],
  ],
  [['mock', '--plan', 'd'], ['developer']],
  [['config', 'set', 'max'], ['max_wait']],
  [['config', 'set', 'max_wait', ''], []],
  [['completion', 'install', 'f'], ['fish']],
  [['help', 'exit'], ['exit-codes']],
  [['api', '/api/v1/q'], ['/api/v1/quota']],
  [['quota', '--key-file', 'some'], ['some-key.txt']],
  [['latest', '--profile', 'w'], ['work']],
  [['latest', '--timeout', ''], []],
  [['config', '--max'], []],
  [['nonsense', ''], []],
];

for (const shell of (['bash', 'zsh', 'fish'] as const).filter(hasProgram)) {
  test.each(CASES)(`${shell} completes %j with %j`, (words, expected) => {
    expect(complete(shell, words).toSorted()).toEqual(expected);
  });
}

test.runIf(hasProgram('bash'))(
  'bash, which takes an option and its value after = for three words, completes the value',
  () => {
    expect(complete('bash', ['quota', '--color', '=', 'ne'])).toEqual(['never']);
    expect(complete('bash', ['quota', '--color', '='])).toEqual(['auto', 'always', 'never']);
  },
);

test.runIf(hasProgram('zsh'))('zsh, which leaves them together, does so too', () => {
  expect(complete('zsh', ['quota', '--color=ne'])).toEqual(['never']);
});

test.runIf(hasProgram('bash'))('after -- come programs and files', () => {
  expect(complete('bash', ['mock', '--', 'some-'])).toEqual(['some-key.txt']);
  expect(complete('bash', ['mock', '--', 'bas'])).toContain('bash');
});

interface HelpNode {
  readonly command: string;
  readonly options: readonly { readonly names: readonly string[] }[];
  readonly global_options: readonly string[];
  readonly commands: readonly HelpNode[];
}

test.runIf(hasProgram('bash'))(
  'bash offers, for every command, exactly the options and commands of help --json',
  async () => {
    const program: HelpNode = JSON.parse((await runCli('help --json')).stdout);
    const every = (node: HelpNode): HelpNode[] => [node, ...node.commands.flatMap(every)];

    for (const node of every(program)) {
      const path = node.command.split(' ').slice(1);
      const longNames = complete('bash', [...path, '--']).toSorted();
      const own = node.options.map(({ names }) => names.at(-1)!);

      expect({ path, longNames }).toEqual({ path, longNames: [...own, ...node.global_options].toSorted() });
      const subcommands = node.commands.map(({ command }) => command.split(' ').at(-1));
      if (subcommands.length > 0) expect(complete('bash', [...path, ''])).toEqual(subcommands);
    }
  },
);
