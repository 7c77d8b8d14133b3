import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createProgram } from '../../../src/cli/program/program.ts';
import { operations } from '../../../src/generated/operations.ts';
import { runCli } from '../../helpers/cli-io.ts';
import { quotaRecord, success } from '../../helpers/service-replies.ts';

const program = createProgram();
const PAGES = [
  ...[[], ['auth'], ['config'], ['completion']],
  ...program.all().flatMap(({ path }) => [
    ['help', ...path],
    [...path, '--help'],
  ]),
];

test.each([...PAGES, ['help', 'options']].map((argv) => [argv.join(' ') || '(nothing)', argv] as const))(
  '%s prints help on stdout, with and without colour, exits 0 and needs neither URL nor key',
  async (_, argv) => {
    const env = { FXRATES_BASE_URL: undefined, FXRATES_API_KEY: undefined };
    const { code, stdout, stderr } = await runCli(argv, { env });
    const coloured = await runCli(argv, { tty: ['stdout'] });

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.length).toBeGreaterThan(100);
    expect(coloured.stdout).toContain('\u001b[1m');
    expect(stripVTControlCharacters(coloured.stdout)).toBe(stdout);
  },
);

test.each([40, 60, 80, 120])('no line but a command to copy is wider than %d columns', async (columns) => {
  for (const argv of [...PAGES, ['help', 'options']]) {
    const { stdout } = await runCli(argv, { columns });

    const wide = stdout.split('\n').filter((line) => line.length > columns && !/^ {2}\$ |^Usage: /.test(line));
    expect(wide).toEqual([]);
    if (columns === 80 && !argv.includes('options'))
      expect([argv, stdout.split('\n').length < 38]).toEqual([argv, true]);
  }
});

test('FORCE_COLOR colours text for people in a pipe (for less -R), but never data', async () => {
  const env = { FORCE_COLOR: '1', CLICOLOR_FORCE: '1' };
  const quota = success(quotaRecord());

  for (const line of ['--help', 'quota -o table', 'latest -o table', 'doctor --offline']) {
    expect((await runCli(line, { env: { ...env, HOME: '/nowhere' }, quota })).stdout).toContain('\u001b[');
    expect((await runCli(line, { env: { ...env, NO_COLOR: '1' }, quota })).stdout).not.toContain('\u001b');
  }
  for (const line of ['latest', 'quota', 'latest --json', 'latest -o tsv', 'api /x']) {
    expect((await runCli(line, { env })).stdout).not.toContain('\u001b');
  }
});

test('--color=always prints data in a pipe as on a terminal, indented and in colours', async () => {
  for (const line of ['latest --json', 'quota --json', 'api /x --json']) {
    const quota = success(quotaRecord());
    const { stdout } = await runCli(`${line} --color=always`, { quota });

    expect(stdout).toContain('\u001b[34m"');
    expect(stdout).toBe((await runCli(line, { quota, tty: ['stdout'] })).stdout);
  }
});

test('each stream decides separately about colour', async () => {
  const { stdout, stderr } = await runCli('latest USD', { tty: ['stderr'] });
  const piped = await runCli('latest -v', { tty: ['stdout'] });

  expect(stdout).toBe('');
  expect(stderr).toContain('\u001b[31m');
  expect(piped.stdout).toContain('\u001b[');
  expect(piped.stderr).not.toContain('\u001b');
});

/** Each operation that openapi.yaml adds is one more line in the list of commands. */
const hasOnlyOwnCommands = Object.keys(operations).length === 2;

test.each([
  ...['latest --help', 'quota --help', 'help options', 'auth login --help'],
  ...(hasOnlyOwnCommands ? ['--help'] : []),
])('%s has the expected layout at 60 and 80 columns', async (line) => {
  const name = line === '--help' ? 'program' : line.replace('--help', '').replace('help ', '').trim().replace(' ', '-');
  for (const columns of [60, 80]) {
    const { stdout } = await runCli(line, { columns });

    await expect(stdout).toMatchFileSnapshot(`${name}-${columns}.golden.txt`);
  }
});

test('FXRATES_OUTPUT=json does not affect help', async () => {
  expect((await runCli('help', { env: { FXRATES_OUTPUT: 'json' } })).stdout).toContain('Usage:');
});
