import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Completion, complete, completionText } from '../../../../src/cli/commands/completion/complete.ts';
import { createProgram } from '../../../../src/cli/program.ts';
import { createMockServer } from '../../../../src/mock-server/index.ts';
import { runCli } from '../../../helpers/cli-io.ts';
import { success } from '../../../helpers/service-replies.ts';

const program = createProgram();
const home = mkdtempSync(join(tmpdir(), 'fxrates-complete-'));
mkdirSync(join(home, '.config', 'fxrates'), { recursive: true });
const config = { profiles: { work: { base_url: 'https://x.test' }, home: {} } };
// With a byte order mark, as some editors of Windows write it.
writeFileSync(join(home, '.config', 'fxrates', 'config.json'), `\uFEFF${JSON.stringify(config)}`);
mkdirSync(join(home, '.local', 'state', 'fxrates'), { recursive: true });
writeFileSync(join(home, '.local', 'state', 'fxrates', 'currencies'), 'EUR\nGBP\nUSD\n');

const ask = (words: readonly string[], env: Readonly<Record<string, string>> = { HOME: home }): Promise<Completion> =>
  complete(words, { program, env });
const wordsFor = async (words: readonly string[]) => (await ask(words)).candidates.map(({ word }) => word);

test.each<[words: readonly string[], expected: readonly string[]]>([
  [['q'], ['quota']],
  [
    ['auth', 'log'],
    ['login', 'logout'],
  ],
  [
    ['-q', 'auth', 'log'],
    ['login', 'logout'],
  ],
  [['-qo', 'json', 'auth', 'st'], ['status']],
  [['--output', 'json', 'la'], ['latest']],
  [['--output=json', 'la'], ['latest']],
  [['latest', 'base=USD', '--env'], ['--envelope']],
  [
    ['quota', '--color', 'a'],
    ['auto', 'always'],
  ],
  [['quota', '--color=ne'], ['--color=never']],
  [['mock', '--plan', 'd'], ['developer']],
  [['config', 'set', 'max'], ['max_wait']],
  [['config', 'set', 'max_wait', ''], []],
  [['config', 'set', 'color', 'n'], ['never']],
  [
    ['config', 'set', 'share_limit', 'o'],
    ['on', 'off'],
  ],
  [['config', 'set', 'nonsense', ''], []],
  [['latest', '--cache', ''], ['snapshot']],
  [['batch', 'latest', '--cache=s'], ['--cache=snapshot']],
  [['latest', '--watch', ''], []],
  [['latest', '--watch', '--cou'], ['--count']],
  [['latest', '--watch', '-q', 'b'], ['base=']],
  [['latest', '--watch', '5m', 'b'], ['base=']],
  [['completion', 'install', 'f'], ['fish']],
  [['help', 'exit'], ['exit-codes']],
  [
    ['help', 'auth', 'log'],
    ['login', 'logout'],
  ],
  [['api', '/api/v1/q'], ['/api/v1/quota']],
  [['api', '/api/v1/latest', 'base=E'], ['base=EUR']],
  [
    ['latest', '--profile', ''],
    ['home', 'work'],
  ],
  [['config', 'set', 'profile', 'w'], ['work']],
  [['latest', '--timeout', ''], []],
  [['config', '--max'], []],
  [['nonsense', ''], []],
  [['latest', '--nonsense=a'], []],
  [['latest', '-o=c'], []],
  [['latest', 'b'], ['base=']],
  [
    ['latest', ''],
    ['base=', 'symbols='],
  ],
  [['latest', '-p', 'sym'], ['symbols=']],
  [
    ['latest', 'base='],
    ['base=EUR', 'base=GBP', 'base=USD'],
  ],
  [
    ['latest', 'symbols=EUR,'],
    ['symbols=EUR,GBP', 'symbols=EUR,USD'],
  ],
  [['latest', 'symbols=EUR,G'], ['symbols=EUR,GBP']],
  [['mock', '--behaviour', 'ho'], ['hostile']],
  [['mock', '--behaviour', 'hostile', '--behaviour', 'retryAfterU'], ['retryAfterUnit=']],
  [
    ['mock', '--behaviour', 'retryAfterUnit='],
    ['retryAfterUnit=seconds', 'retryAfterUnit=milliseconds'],
  ],
  [['mock', '--behaviour=retryAfterUnit=m'], ['--behaviour=retryAfterUnit=milliseconds']],
  [['mock', '--behaviour', 'unlimitedFairUse=n'], ['unlimitedFairUse=null']],
  [['mock', '--behaviour', 'revocation'], []],
])('completes %j with %j', async (words, expected) => {
  expect((await wordsFor(words)).toSorted()).toEqual(expected.toSorted());
});

test.each<[words: readonly string[], directive: number]>([
  [['q'], 4],
  [['latest', 'b'], 4 + 2],
  [['latest', 'base='], 4],
  [['quota', '--key-file', 'some'], 0],
  [['quota', '--key-file=some'], 0],
  [['mock', '--behaviour', 'observed.json'], 0],
  [['mock', '--', 'npm'], 64],
  [['mock', '--', 'npm', 'te'], 64],
  [['latest', '--', ''], 4 + 2],
])('completes %j with the directive %d', async (words, directive) => {
  expect((await ask(words)).directive).toBe(directive);
});

test('offers short names of options after a single - only', async () => {
  expect(await wordsFor(['latest', '-'])).toEqual(expect.arrayContaining(['-o', '--output']));
  expect(await wordsFor(['latest', '--'])).not.toContain('-o');
});

test('offers every documented value of a switch, and the mock accepts each', async () => {
  const described = createMockServer().behaviour.describe();

  for (const { name, default: byDefault, alternatives, provenance } of described) {
    const offered = await wordsFor(['mock', '--behaviour', `${name}=`]);
    const values = provenance === 'documented' ? [] : [byDefault, ...alternatives];
    expect(offered).toEqual(values.map((value) => `${name}=${value}`));
  }
});

interface HelpNode {
  readonly command: string;
  readonly options: readonly { readonly names: readonly string[] }[];
  readonly global_options: readonly string[];
  readonly commands: readonly HelpNode[];
}

test('offers, for every command, the options and commands of help --json', async () => {
  const program: HelpNode = JSON.parse((await runCli('help --json')).stdout);
  const every = (node: HelpNode): HelpNode[] => [node, ...node.commands.flatMap(every)];

  for (const node of every(program)) {
    const path = node.command.split(' ').slice(1);
    const own = node.options.map(({ names }) => names.at(-1)!);
    expect((await wordsFor([...path, '--'])).toSorted()).toEqual([...own, ...node.global_options].toSorted());
    const subcommands = node.commands.map(({ command }) => command.split(' ').at(-1));
    if (subcommands.length > 0) expect(await wordsFor([...path, ''])).toEqual(subcommands);
  }
});

test('prints candidates with their descriptions, then the directive', async () => {
  expect(await completionText(['--', 'vers'], {})).toMatch(/^version\t.+\n:4\n$/);
  expect(await completionText(['vers'], {})).toBe(await completionText(['--', 'vers'], {}));
  expect(await completionText([], {})).toContain('latest\t');
  expect(await completionText(['--', 'latest', 'base='], {})).toBe(':4\n');
});

test('offers no profiles if config.json cannot be used', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxrates-complete-'));
  writeFileSync(join(folder, 'config.json'), '{ "profiles": ');

  expect((await ask(['latest', '--profile', ''], { FXRATES_CONFIG_DIR: folder })).candidates).toEqual([]);
});

test.skipIf(process.platform === 'win32').each([
  ['a link', (path: string, target: string) => symlinkSync(target, path)],
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
])('%s in place of the file of currencies is neither read nor written', async (_, make) => {
  const state = mkdtempSync(join(tmpdir(), 'fxrates-currencies-'));
  const path = join(state, 'fxrates', 'currencies');
  const target = join(state, 'notes');
  mkdirSync(join(state, 'fxrates'));
  writeFileSync(target, 'EUR of a user\n');
  make(path, target);
  const before = lstatSync(path).mode;

  const { code } = await runCli('latest', { env: { XDG_STATE_HOME: state }, replies: success({ base: 'USD' }) });
  const { candidates } = await ask(['latest', 'base='], { XDG_STATE_HOME: state });

  expect({ code, candidates }).toEqual({ code: 0, candidates: [] });
  expect(lstatSync(path).mode).toBe(before);
  expect(readFileSync(target, 'utf8')).toBe('EUR of a user\n');
});

test('offers the currencies in responses of latest', async () => {
  const env = { HOME: mkdtempSync(join(tmpdir(), 'fxrates-complete-')) };
  const replies = [
    { base: 'USD', rates: { EUR: 1.1, JPY: 2 } },
    { base: 'USD', rates: { GBP: 1.1 }, note: 'abc' },
  ];

  for (const data of replies) await runCli('latest', { env, replies: success(data) });

  const offered = (await ask(['latest', 'base='], env)).candidates.map(({ word }) => word);
  expect(offered).toEqual(['base=EUR', 'base=GBP', 'base=JPY', 'base=USD']);
});
