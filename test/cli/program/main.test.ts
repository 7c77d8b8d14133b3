import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { createProgram } from '../../../src/cli/program/program.ts';
import { runCli, usageError } from '../../helpers/cli-io.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const SEND_NO_SINGLE_REQUEST = [
  ...['auth login --key-stdin', 'auth status', 'auth token', 'auth logout', 'doctor', 'doctor --offline'],
  ...['batch -', 'probe https://a.test', 'mock', 'mock --port 0 -- node', 'config list', 'config set timeout 5s'],
  ...['completion bash', 'help latest'],
];
const PRINT_NO_DATA = [
  ...['auth login --key-stdin', 'auth token', 'auth logout', 'mock'],
  ...['config get timeout', 'config path', 'completion bash', 'help latest'],
];

test.each([
  ...SEND_NO_SINGLE_REQUEST.map((line) => ['--curl', line]),
  ...PRINT_NO_DATA.map((line) => ['--get plan', line]),
])('%s %s is rejected before the command runs', async (option, line) => {
  const folder = temporaryFolder();
  const env = { HOME: folder };
  const stdin = `fx_live_${'5700ed'.repeat(8)}\n`;

  const stderr = await usageError(`${option} ${line}`, { env, stdin });

  expect(stderr).toContain(`has no ${option.split(' ')[0]}\n`);
  expect(readdirSync(folder)).toEqual([]);
});

test('the error names the command and its help, and help does not offer the option', async () => {
  const { stderr } = await runCli('auth login --curl', { env: { HOME: temporaryFolder() } });
  const program = createProgram();
  const offers = (line: string) => ['--curl', '--get'].filter((name) => program.find(line.split(' '))?.has(name));

  expect(stderr).toMatch(/^fxrates: 'fxrates auth login' has no --curl\n\n {2}See: fxrates auth login --help\n$/);
  for (const line of ['auth login', 'auth token', 'completion bash']) expect(offers(line)).toEqual([]);
  for (const line of ['doctor', 'probe', 'auth status']) expect(offers(line)).toEqual(['--get']);
  for (const line of ['api', 'latest']) expect(offers(line)).toEqual(['--curl', '--get']);
});

test.each([
  ...['config path', 'config set timeout 5s', 'auth logout', 'completion bash', 'help'].map(
    (line) => [`${line} -o csv`, 'has no --output — it prints no data'] as const,
  ),
  ...['config path', 'completion bash', 'help quota'].map(
    (line) => [`${line} --profile staging`, 'has no --profile\n'] as const,
  ),
  ['config path --timeout 5s', 'has no --timeout\n'] as const,
  ['auth token --no-wait', 'has no --no-wait\n'] as const,
  ...['doctor', 'auth status'].flatMap((command) => [
    [`${command} --retries 1`, 'has no --retries\n'] as const,
    [`${command} --max-wait 5s`, 'has no --max-wait\n'] as const,
  ]),
  ['probe --no-wait', 'has no --no-wait\n'] as const,
  ['config list --base-url https://x.test', 'has no --base-url\n'] as const,
  ['config path --retries 1', 'has no --retries\n'] as const,
  ['config list --profile staging', 'has no --profile\n'] as const,
])('%s is refused, because the command cannot use the option', async (line, why) => {
  expect(await usageError(line, { env: { HOME: temporaryFolder() } })).toContain(why);
});

test.each(['config path', 'auth token', 'completion bash'])(
  '%s -o json is accepted, because it also applies to errors',
  async (line) => {
    expect((await runCli(`${line} -o json`, { env: { HOME: temporaryFolder() } })).code).toBe(0);
  },
);

test.each(['latest', 'latest --watch', 'quota --fail-at 80%', 'api /api/v1/quota'])(
  '%s --curl prints it',
  async (line) => {
    const stdout = expect.stringMatching(/^printf /);

    expect(await runCli(`${line} --curl`)).toMatchObject({ code: 0, stdout, requests: [] });
  },
);

const { version } = packageJson;

test.each(['--version', '-V', 'latest --version'])('%s prints the version of the package', async (line) => {
  expect(await runCli(line)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});
