import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Document, isMap, parseDocument, type YAMLMap } from 'yaml';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { TSC_7 } from '../helpers/typescript.ts';

const ROOT = join(import.meta.dirname, '../..');
const TSX = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
const PARTS = ['src', 'scripts', 'package.json', 'tsconfig.json', 'biome.json', '.biome', '.gitignore'];

/** The text of openapi.yaml with the maps of these files in `test/fixtures/` added to its own. */
export async function specWith(...fragments: readonly string[]): Promise<string> {
  const spec = parseDocument(await readFile(join(ROOT, 'openapi.yaml'), 'utf8'));
  for (const fragment of fragments) {
    const addition = parseDocument(await readFile(join(ROOT, 'test/fixtures', fragment), 'utf8'));
    merge(contents(spec), contents(addition));
  }
  return String(spec);
}

function merge(target: YAMLMap, addition: YAMLMap): void {
  for (const { key, value } of addition.items) {
    const existing = target.get(key);
    if (isMap(existing) && isMap(value)) merge(existing, value);
    else target.set(key, value);
  }
}

function contents(document: Document): YAMLMap {
  if (!isMap(document.contents)) throw new Error('A YAML map is expected');
  return document.contents;
}

/** A copy of this project with another contract. `npm run generate` makes all changes; nothing else is edited. */
export interface GeneratedProject {
  readonly root: string;
  read(path: string): Promise<string>;
  /** Loads a module of the copy. */
  load(path: string): Promise<Record<string, unknown>>;
  /** Runs a script of the copy, such as `src/cli/bin.ts`. */
  run(script: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished>;
  /**
   * Writes files into the copy. Returns the compiler's errors in them and in the generated files: `name(line): TS1234`.
   */
  typeErrors(files: Readonly<Record<string, string>>): Promise<string[]>;
}

export interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Created once for a test file. Throws the generator's message if it rejects the document. */
export async function generatedProject(spec: string): Promise<GeneratedProject> {
  const root = temporaryFolder();
  await Promise.all(PARTS.map((part) => cp(join(ROOT, part), join(root, part), { recursive: true })));
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'dir');
  await writeFile(join(root, 'openapi.yaml'), spec);

  const run: GeneratedProject['run'] = (script, args = [], env = {}) =>
    nodeProcess(root, [TSX, join(root, script), ...args], env);
  const generated = await run('scripts/generate.ts');
  if (generated.exitCode !== 0) throw new Error(generated.stderr);

  return {
    root,
    run,
    read: (path) => readFile(join(root, path), 'utf8'),
    load: (path) => import(/* @vite-ignore */ join(root, path)),
    typeErrors: async (files) => {
      const names = Object.keys(files);
      await Promise.all(names.map((name) => writeFile(join(root, name), files[name]!)));
      const errors = await typeErrors(root, names);
      return errors.filter((error) => names.includes(error.split('(', 1)[0]!) || error.startsWith('src/generated/'));
    },
  };
}

/** The compiler's errors in files of a copy and in their imports: `name(line): TS1234`. */
export async function typeErrors(root: string, include: readonly string[]): Promise<string[]> {
  await writeFile(join(root, 'tsconfig.uses.json'), JSON.stringify({ extends: './tsconfig.json', include }));
  const tsc = [TSC_7, '-p', 'tsconfig.uses.json', '--pretty', 'false'];
  const { stdout } = await nodeProcess(root, tsc);
  return Array.from(
    stdout.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm),
    ([, name, line, code]) => `${name}(${line}): ${code}`,
  );
}

function nodeProcess(cwd: string, args: string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}
