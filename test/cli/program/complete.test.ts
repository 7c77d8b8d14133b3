import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completionText } from '../../../src/cli/program/complete.ts';
import { createProgram } from '../../../src/cli/program/program.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const home = temporaryFolder();
mkdirSync(join(home, '.config', 'fxrates'), { recursive: true });
const config = { profiles: { work: { base_url: 'https://x.test' }, home: {} } };
// With a byte order mark, as some editors of Windows write it.
writeFileSync(join(home, '.config', 'fxrates', 'config.json'), `\uFEFF${JSON.stringify(config)}`);

async function ask(words: readonly string[], env: Readonly<Record<string, string>> = { HOME: home }) {
  const lines = (await completionText(['--', ...words], env)).trimEnd().split('\n');
  return { words: lines.slice(0, -1).map((line) => line.replace(/\t.*/, '')), directive: lines.at(-1) };
}

/** A space at the end begins a new word. */
const split = (line: string) => line.split(' ');

test.each([
  ['q', 'quota'],
  ['auth log', 'login logout'],
  ['-q auth log', 'login logout'],
  ['-qo json auth st', 'status'],
  ['--output json la', 'latest'],
  ['--output=json la', 'latest'],
  ['latest base=USD --env', '--envelope'],
  ['quota --color a', 'always auto'],
  ['quota --color=ne', '--color=never'],
  ['mock --plan d', 'developer'],
  ['config set max', 'max_wait'],
  ['config set max_wait ', ''],
  ['config set color a', 'always auto'],
  ['config set share-limit ', 'off on'],
  ['config set output ', 'auto csv json table tsv'],
  ['config set profile ', 'home work'],
  ['config set nonsense ', ''],
  ['config get color ', ''],
  ['latest --cache ', 'snapshot'],
  ['batch --cache=s', '--cache=snapshot'],
  ['batch --each ', 'base= symbols='],
  ['latest --watch ', ''],
  ['latest --watch --cou', '--count'],
  ['latest --watch -q b', 'base='],
  ['latest --watch 5m b', 'base='],
  ['completion f', 'fish'],
  ['help opt', 'options'],
  ['help auth log', 'login logout'],
  ['api /api/v1/q', '/api/v1/quota'],
  ['api /api/v1/latest b', 'base='],
  ['latest ', 'base= symbols='],
  ['latest -p sym', 'symbols='],
  ['latest --profile ', 'home work'],
  ['latest --timeout ', ''],
  ['config --max', ''],
  ['nonsense ', ''],
  ['latest --nonsense=a', ''],
  ['latest -o=c', ''],
  ['mock --behaviour ho', 'hostile'],
  ['mock --behaviour hostile --behaviour retryAfterU', 'retryAfterUnit='],
  ['mock --behaviour retryAfterUnit=', 'retryAfterUnit=milliseconds retryAfterUnit=seconds'],
  ['mock --behaviour=retryAfterUnit=m', '--behaviour=retryAfterUnit=milliseconds'],
  ['mock --behaviour unlimitedFairUse=n', 'unlimitedFairUse=null'],
  ['mock --behaviour revocation', ''],
])('completes %j with %j', async (line, expected) => {
  expect((await ask(split(line))).words.toSorted().join(' ')).toBe(expected);
});

test.each([
  ['q', ':4'],
  ['latest b', ':6'],
  ['quota --key-file some', ':0'],
  ['quota --key-file=some', ':0'],
  ['batch que', ':0'],
  ['mock --behaviour observed.json', ':0'],
  ['mock -- npm', ':64'],
  ['mock -- npm te', ':64'],
  ['latest -- ', ':6'],
])('completes %j with the directive %s', async (line, directive) => {
  expect((await ask(split(line))).directive).toBe(directive);
});

test('offers short names of options after a single - only', async () => {
  expect((await ask(['latest', '-'])).words).toEqual(expect.arrayContaining(['-o', '--output']));
  expect((await ask(['latest', '--'])).words).not.toContain('-o');
});

test('offers every documented value of a switch, and the mock accepts each', async () => {
  for (const { name, default: byDefault, alternatives } of createMockServer().behaviour.describe()) {
    const values = [byDefault, ...alternatives];
    const { words } = await ask(['mock', '--behaviour', `${name}=`]);
    expect(words).toEqual(values.map((value) => `${name}=${value}`));
  }
});

test('offers, for every command, its subcommands and the options of its help', async () => {
  for (const { path, ownOptions, sharedOptions, commands } of createProgram().all()) {
    const options = [...ownOptions, ...sharedOptions].map(({ long }) => long);
    expect((await ask([...path, '--'])).words.toSorted()).toEqual(options.toSorted());
    if (commands.length > 0) expect((await ask([...path, ''])).words).toEqual(commands.map((child) => child.name()));
  }
});

test('prints candidates with their descriptions, then the directive', async () => {
  expect(await completionText(['--', 'doc'], {})).toMatch(/^doctor\t.+\n:4\n$/);
  expect(await completionText(['doc'], {})).toBe(await completionText(['--', 'doc'], {}));
  expect(await completionText([], {})).toContain('latest\t');
});

test('offers no profiles if config.json cannot be used', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), '{ "profiles": ');

  expect((await ask(['latest', '--profile', ''], { FXRATES_CONFIG_DIR: folder })).words).toEqual([]);
});
