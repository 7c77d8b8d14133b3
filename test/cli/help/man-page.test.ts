import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { allCommands } from '../../../src/cli/command-tree.ts';
import { manPage } from '../../../src/cli/help/man-page.ts';
import { programTree } from '../../../src/cli/program.ts';

const tree = programTree();
const page = manPage(tree);

test('the manual page has every command and every option', () => {
  const plain = page.replaceAll('\\-', '-');

  for (const { path, options } of allCommands(tree)) {
    expect(plain).toContain(['fxrates', ...path].join(' '));
    for (const { names } of options) expect(plain).toContain(`\\fB${names.at(-1)}\\fR`);
  }
});

const hasGroff = spawnSync('groff', ['--version']).status === 0;

test.skipIf(!hasGroff)('groff reports no problem', () => {
  const { status, stderr, stdout } = spawnSync('groff', ['-man', '-Tascii', '-ww', '-z'], {
    input: page,
    encoding: 'utf8',
  });

  expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: '' });
});
