import { expect, test } from 'vitest';
import { allCommands } from '../../../src/cli/command-tree.ts';
import { finishedTree } from '../../../src/cli/finished-tree.ts';
import { helpPage } from '../../../src/cli/help/print-help.ts';
import { runCli } from '../../helpers/cli-io.ts';

const paths = allCommands(await finishedTree()).map(({ path }) => path.join(' '));
const ENV = { LANG: 'C.UTF-8' };

test.each([
  ['a pipe', {}, { isTTY: false, columns: undefined }],
  ['a terminal', { tty: ['stdout' as const], columns: 60 }, { isTTY: true, columns: 60 }],
])('on %s, the fast path prints the same help for every command', async (_, fake, stdout) => {
  for (const line of ['', '--help', '-h', 'help', ...paths.flatMap((path) => [`${path} --help`, `help ${path}`])]) {
    const argv = line.split(' ').filter((word) => word !== '');
    const page = await helpPage(argv, { env: ENV, stdout });

    expect({ line, page }).toEqual({ line, page: (await runCli(line, { ...fake, env: ENV })).stdout });
  }
});

test.each(['latest', 'help exit-codes', 'nope --help', '--color always --help', 'latest base=USD --help'])(
  '%s does not use the fast path',
  async (line) => {
    const stdout = { isTTY: false, columns: undefined };

    expect(await helpPage(line.split(' '), { env: ENV, stdout })).toBeUndefined();
  },
);

test('no help text shows the API key of the environment', async () => {
  const stdout = { isTTY: false, columns: undefined };
  const page = await helpPage(['--help'], { env: { ...ENV, FXRATES_API_KEY: 'Exchange rates' }, stdout });

  expect(page).not.toContain('Exchange rates on');
});
