import { expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { runCli } from '../../helpers/cli-io.ts';

const { version } = packageJson;

test.each(['--version', '-V', 'latest --version'])('%s prints the version of the package', async (line) => {
  expect(await runCli(line)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('on a terminal, version also shows the platform', async () => {
  const { stdout } = await runCli('version', { tty: ['stdout'] });

  expect(stdout).toBe(`fxrates ${version}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}\n`);
});

test('version in a pipe is JSON, from which --get selects', async () => {
  expect(JSON.parse((await runCli('version')).stdout)).toEqual({
    fxrates: version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  });
  expect((await runCli('version --get fxrates')).stdout).toBe(`${version}\n`);
});
