import { expect, test } from 'vitest';
import { topics } from '../../../src/cli/commands/help.ts';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { sharedOptions } from '../../../src/cli/options.ts';
import { operations } from '../../../src/generated/operations.ts';
import { runCli } from '../../helpers/cli-io.ts';

const json = async (line: string) => JSON.parse((await runCli(line)).stdout);

test('the whole program is one JSON line: commands, options, topics and exit codes', async () => {
  const { stdout } = await runCli('help --json');
  const program = JSON.parse(stdout);

  expect(stdout.trim().split('\n')).toHaveLength(1);
  const names = program.commands.map(({ command }: { command: string }) => command.replace('fxrates ', ''));
  expect(names).toEqual(expect.arrayContaining([...Object.keys(operations), 'api', 'mock', 'auth', 'config', 'help']));
  expect(program.options.flatMap(({ names: ofOption }: { names: string[] }) => ofOption)).toEqual(
    expect.arrayContaining(sharedOptions().map(({ long }) => long)),
  );
  expect(program.topics.map(({ topic }: { topic: string }) => topic)).toEqual(Object.keys(topics));
  expect(program.exit_codes.map(({ code }: { code: number }) => code)).toEqual([
    ...Object.values(exitCodes),
    129,
    130,
    143,
  ]);
});

test('a command is described with its own options and the names of the global ones', async () => {
  expect(await json('help config set --json')).toMatchObject({
    command: 'fxrates config set',
    argument: { syntax: '<name> <value>', choices: expect.arrayContaining(['timeout']) },
    options: [],
    global_options: expect.arrayContaining(['--profile']),
  });
  const { options, global_options } = await json('help quota -o json');
  expect(options[0]).toMatchObject({ names: ['--fail-at'], value: 'share', value_optional: false, choices: [] });
  expect(global_options).toContain('--output');
});

test('the JSON of a topic has the text of its page', async () => {
  expect(await json('help exit-codes --json')).toMatchObject({ topic: 'exit-codes', entries: expect.any(Array) });
});

test('an unknown command is a usage error, also the names that every object inherits', async () => {
  for (const line of ['help nonsense --json', 'help constructor', 'help constructor --json', 'help auth nonsense']) {
    const { code, stdout } = await runCli(line);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  }
});

test('FXRATES_OUTPUT=json does not affect help', async () => {
  expect((await runCli('help', { env: { FXRATES_OUTPUT: 'json' } })).stdout).toContain('Usage:');
});

test.each([
  ['help mcok', 'Did you mean fxrates help mock?'],
  ['help exit-code', 'Did you mean fxrates help exit-codes?'],
  ['help auth lgoin', 'Did you mean fxrates help auth login?'],
  ['help nonsense', 'Commands: fxrates --help'],
])('%s names the next step', async (line, hint) => {
  const { code, stderr } = await runCli(line);

  expect(code).toBe(2);
  expect(stderr).toContain(hint);
});

test('help of mock has every form of --behaviour', async () => {
  expect((await runCli('mock --help', { columns: 200 })).stdout).toMatch(
    /--behaviour <\S+> +documented, lenient, hostile, switch=value, or a file/,
  );
});
