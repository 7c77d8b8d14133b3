import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIOME = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');

/** Per part, a file of each kind with one import; the linter refuses those that lead up or to the same floor. */
const IMPORTS = [
  { file: 'client/limits/a.ts', specifier: '../steps/retry.ts', isRefused: true },
  { file: 'client/limits/shared/b.ts', specifier: '../../transport/transport.ts', isRefused: true },
  { file: 'client/limits/c.ts', specifier: '../time/clock.ts', isRefused: false },
  { file: 'client/time/d.ts', specifier: '../../json.ts', isRefused: false },
  { file: 'mock-server/service/e.ts', specifier: '../http/message.ts', isRefused: true },
  { file: 'mock-server/rules/f.ts', specifier: '../journal/journal.ts', isRefused: true },
  { file: 'mock-server/mock/g.ts', specifier: '../service/decide.ts', isRefused: false },
  { file: 'cli/terminal/h.ts', specifier: '../settings/settings.ts', isRefused: true },
  { file: 'cli/settings/i.ts', specifier: '../io/io.ts', isRefused: false },
  { file: 'cli/commands/batch/j.ts', specifier: '../../parser/command.ts', isRefused: false },
];

test('the linter refuses an import from a floor above, static or dynamic, of types or of values', () => {
  const folder = temporaryFolder();
  for (const name of ['biome.json', '.biome', '.gitignore'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const { file, specifier } of IMPORTS) {
    write(
      join(folder, 'src', file),
      `export type { a } from '${specifier}';\nexport const b = () => import('${specifier}');\n`,
    );
  }

  const args = [BIOME, 'lint', '--reporter=json', 'src'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

  const diagnostics: { message: string; location: { path: string } }[] = JSON.parse(stdout).diagnostics;
  const upwards = diagnostics.filter(({ message }) => message.includes('floors below'));
  const refused = IMPORTS.filter(({ isRefused }) => isRefused).map(({ file }) => `src/${file}`);
  expect(upwards.map(({ location }) => location.path).sort()).toEqual(refused.flatMap((file) => [file, file]).sort());
});

test('each folder of each part has a floor', () => {
  const floors = readFileSync(join(ROOT, '.biome/floors.grit'), 'utf8');
  for (const part of ['client', 'mock-server', 'cli']) {
    const lines = [...floors.matchAll(new RegExp(`filename <: r"\\.\\*src/${part}/(?:\\(\\?:)?([\\w|-]+)`, 'g'))];
    const listed = lines.flatMap(([, names = '']) => names.split('|'));
    const entries = readdirSync(join(ROOT, 'src', part), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(folders.filter((name) => name !== 'msw').sort()).toEqual(listed.sort());
  }
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
