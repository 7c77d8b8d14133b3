import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { manPage } from '../../../src/cli/man-page.ts';
import { createProgram } from '../../../src/cli/program.ts';

const program = createProgram();
const page = manPage(program);

test('the manual page has every command and every option', () => {
  const plain = page.replaceAll('\\-', '-');

  for (const { fullName, options } of program.all()) {
    expect(plain).toContain(fullName);
    for (const { flags, hidden } of options) if (!hidden) expect(plain).toContain(`.B ${flags.replaceAll('…', '...')}`);
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
