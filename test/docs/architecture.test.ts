import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const child = fileURLToPath(new URL('./call-walk.child.ts', import.meta.url));
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** The files and folders in the table of a call, in its order. A folder ends with a slash. */
function tableOfCall(): string[] {
  const [, text = ''] = page.split('\n## A call\n');
  const [own = ''] = text.split('\n## ');
  const rows = own.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  return rows.flatMap((row) => Array.from(row.split('|')[2]?.matchAll(/`([^`]+)`/g) ?? [], ([, path = '']) => path));
}

test('the table of a call has each file that a call enters, and no other', async () => {
  const listed = tableOfCall();

  const { stdout } = await run(process.execPath, ['--import', 'tsx', child]);
  const entered: string[] = JSON.parse(stdout);

  const placeOf = (file: string) =>
    listed.find((path) => path === file || (path.endsWith('/') && file.startsWith(path)));
  expect(entered.filter((file) => placeOf(file) === undefined)).toEqual([]);
  expect(listed.filter((path) => !entered.some((file) => placeOf(file) === path))).toEqual([]);
});
