import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeIoOptions, runCli } from '../../../helpers/cli-io.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'fxrates-install-'));
});
afterEach(() => rm(home, { recursive: true }));

const install = (line: string, options: FakeIoOptions = {}) =>
  runCli(`completion install ${line}`, { ...options, env: { HOME: home, ...options.env } });

test.each([
  ['bash', '.local/share/bash-completion/completions/fxrates', '.bashrc'],
  ['zsh', '.local/share/zsh/site-functions/_fxrates', '.zshrc'],
  ['fish', '.config/fish/completions/fxrates.fish', undefined],
  ['powershell', '.config/powershell/fxrates-completion.ps1', '.config/powershell/profile.ps1'],
])('the script of %s goes to %s', async (shell, path, settings) => {
  const { code, stdout, stderr } = await install(`${shell} --yes`);

  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(await readFile(join(home, path), 'utf8')).toBe((await runCli(`completion ${shell}`)).stdout);
  expect(stderr).toContain(join(home, path));
  expect(stderr.includes('add this line to')).toBe(settings !== undefined);
  if (settings !== undefined) expect(stderr).toContain(`add this line to ${join(home, settings)}:`);
});

test('a second install changes nothing and does not prompt', async () => {
  await install('bash --yes');

  const { code, stderr } = await install('bash');

  expect(code).toBe(0);
  expect(stderr).toContain('is up to date');
});

test('does not mention shell settings that have the line, and changes no settings', async () => {
  const line = /^ {2}(source .*)$/m.exec((await install('bash --yes')).stderr)?.[1];
  await writeFile(join(home, '.bashrc'), `alias x=y\n${line}\n`);

  const { stderr } = await install('bash');

  expect(stderr).not.toContain('add this line');
  expect(await readFile(join(home, '.bashrc'), 'utf8')).toBe(`alias x=y\n${line}\n`);
});

test.each([
  ['y', 0],
  ['YES', 0],
  ['n', 2],
  ['', 2],
])('prompts on a terminal: %j ends with %d', async (answer, expected) => {
  const { code, stderr } = await install('fish', { tty: ['stdin', 'stdout', 'stderr'], stdin: `${answer}\n` });

  expect(code).toBe(expected);
  expect(stderr).toContain('fxrates.fish\nWrite it? [y/N] ');
  expect((await readdir(home)).length).toBe(expected === 0 ? 1 : 0);
});

test.each([
  ['no terminal', 'bash', {}],
  ['--no-input', 'bash --no-input', { tty: ['stdin', 'stderr'] }],
  ['CI', 'bash', { tty: ['stdin', 'stderr'], env: { CI: 'true' } }],
  ['FXRATES_NO_INPUT', 'bash', { tty: ['stdin', 'stderr'], env: { FXRATES_NO_INPUT: '1' } }],
] as const)('with %s it neither asks nor writes', async (_, line, options) => {
  const { code, stderr } = await install(line, { ...options, stdin: 'y\n' });

  expect(code).toBe(2);
  expect(stderr).toContain(`fxrates completion install ${line} --yes`);
  expect(await readdir(home)).toEqual([]);
});

test.each(['', '0', 'false'])('asks on a terminal if CI is %j', async (CI) => {
  const options = { tty: ['stdin', 'stdout', 'stderr'] as const, env: { CI }, stdin: 'y\n' };

  expect((await install('fish', options)).code).toBe(0);
});

test('the default shell is the variable SHELL', async () => {
  const { stderr } = await install('--yes', { env: { SHELL: '/usr/bin/zsh' } });

  expect(stderr).toContain('_fxrates');
});

test.each([
  ['tcsh', {}, "no script for 'tcsh'"],
  ['', { SHELL: '/bin/tcsh' }, "cannot identify your shell from SHELL='/bin/tcsh'"],
  ['', {}, "cannot identify your shell from SHELL=''"],
])('an unknown shell is refused: %j %j', async (typed, env, says) => {
  const { code, stderr } = await install(`${typed} --yes`, { env });

  expect(code).toBe(2);
  expect(stderr).toContain(says);
});

test('without a home folder, install is an error', async () => {
  const { code, stderr } = await install('bash --yes', { env: { HOME: undefined } });

  expect(code).toBe(3);
  expect(stderr).toContain('HOME is not set');
});

test('a folder that cannot be written is an error', async () => {
  await writeFile(join(home, '.local'), '');

  const { code, stderr } = await install('bash --yes');

  expect(code).toBe(3);
  expect(stderr).toContain('cannot write');
});

test('on Windows, without HOME, the script goes beside the profile of PowerShell', async () => {
  const env = { HOME: undefined, USERPROFILE: home, APPDATA: join(home, 'Roaming'), LOCALAPPDATA: join(home, 'Local') };

  const { code, stderr } = await install('powershell --yes', { env });

  expect(code).toBe(0);
  expect(stderr).toContain(`add this line to ${join(home, 'Documents', 'PowerShell', 'profile.ps1')}:`);
  expect(await readdir(join(home, 'Documents', 'PowerShell'))).toEqual(['fxrates-completion.ps1']);
});

test.each([
  ['a file in the way', () => ({ XDG_DATA_HOME: join(home, 'file') })],
  ['no home', () => ({ HOME: undefined })],
])('%s: advises to write the script elsewhere', async (_, env) => {
  await writeFile(join(home, 'file'), '');

  const { code, stderr } = await install('bash --yes', { env: env() });

  expect(code).toBe(3);
  expect(stderr).toContain('\n\n  To write it elsewhere:  fxrates completion bash > file\n');
  expect(stderr).not.toContain('FXRATES_CONFIG_DIR');
});
