import { expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { runCli } from '../../helpers/cli-io.ts';

const { version } = packageJson;

test.each(['--version', '-V', 'latest --version'])('%s prints the version of the package', async (line) => {
  expect(await runCli(line)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('version says what it runs on', async () => {
  const { stdout } = await runCli('version');

  expect(stdout).toBe(`fxrates ${version}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}\n`);
});

test('version --json and --get are for scripts', async () => {
  expect(JSON.parse((await runCli('version --json')).stdout)).toEqual({
    fxrates: version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  });
  expect((await runCli('version --get fxrates')).stdout).toBe(`${version}\n`);
});
