import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, transform } from 'esbuild';
import { contractOf, generateFiles } from '../../scripts/generator/main.ts';
import type { completionText } from '../../src/cli/program/complete.ts';
import type { main } from '../../src/cli/program/main.ts';
import type { FxRates } from '../../src/client/index.ts';
import type { createMockServer } from '../../src/mock-server/index.ts';
import { FakeIo, type FakeIoOptions } from '../helpers/cli-io.ts';
import type { FakeClock } from '../helpers/fake-clock.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { TSC_7 } from '../helpers/typescript.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The three products with other generated files. */
export interface Products {
  readonly main: typeof main;
  readonly completionText: typeof completionText;
  readonly FxRates: typeof FxRates;
  readonly createMockServer: typeof createMockServer;
}

/** A copy of the sources for other contracts. One bundle and one run of the compiler are enough for many of them. */
export class GeneratedProject {
  readonly #root: string;
  #bundle: Promise<string> | undefined;
  #count = 0;

  private constructor(root: string) {
    this.#root = root;
  }

  /** With the files that a document generates in place of `src/generated/`. */
  static async create(document: unknown): Promise<GeneratedProject> {
    const root = temporaryFolder();
    for (const file of ['package.json', 'tsconfig.json']) await cp(join(ROOT, file), join(root, file));
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'dir');
    const project = new GeneratedProject(root);
    await project.#copySources('src', document);
    return project;
  }

  /** Adds a copy of the sources with the files of another document, for `typeErrors`. */
  async addSources(document: unknown): Promise<void> {
    this.#count += 1;
    await this.#copySources(`sources-${this.#count}`, document);
  }

  async #copySources(folder: string, document: unknown): Promise<void> {
    await cp(join(ROOT, 'src'), join(this.#root, folder), { recursive: true });
    await this.#write(`${folder}/generated`, generateFiles(await contractOf(document)));
  }

  /** Generates files beside those of the project, for `typeErrors`. */
  async addTypes(document: unknown): Promise<ReadonlyMap<string, string>> {
    this.#count += 1;
    const files = generateFiles(await contractOf(document));
    await this.#write(`src/generated-${this.#count}`, files);
    return files;
  }

  /** Also returns the products that use the files. */
  async add(document: unknown): Promise<Products> {
    this.#bundle ??= bundle();
    const files = await this.addTypes(document);
    const scripts = new Map<string, string>();
    for (const [name, source] of files) {
      scripts.set(name.replace(/ts$/, 'mjs'), (await transform(source, { loader: 'ts' })).code);
    }
    const folder = `running-${this.#count}`;
    await this.#write(`${folder}/generated`, scripts);
    await this.#write(folder, new Map([['main.mjs', await this.#bundle]]));
    return await import(/* @vite-ignore */ join(this.#root, folder, 'main.mjs'));
  }

  /** A module of `src/generated/`. */
  load(name: string): Promise<Record<string, unknown>> {
    return import(/* @vite-ignore */ join(this.#root, 'src/generated', name));
  }

  /** The compiler's errors in all files, in these texts by name, and in their imports: `name(line): TS1234`. */
  async typeErrors(texts: Readonly<Record<string, string>> = {}): Promise<string[]> {
    await this.#write('.', new Map(Object.entries(texts)));
    const include = [...Object.keys(texts), 'src/generated', 'src/generated-*/*', 'sources-*/cli/program/main.ts'];
    await writeFile(join(this.#root, 'tsconfig.uses.json'), JSON.stringify({ extends: './tsconfig.json', include }));
    const args = [TSC_7, '-p', 'tsconfig.uses.json', '--pretty', 'false'];
    const stdout = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, { cwd: this.#root }, (_, text) => resolve(text));
    });
    return Array.from(
      stdout.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm),
      ([, name, line, code]) => `${name}(${line}): ${code}`,
    );
  }

  async #write(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
    await mkdir(join(this.#root, folder), { recursive: true });
    for (const [name, text] of files) await writeFile(join(this.#root, folder, name), text);
  }
}

/** Runs a command of the products in virtual time. */
export async function runCommand({ main }: Products, argv: readonly string[], options: FakeIoOptions = {}) {
  const io = new FakeIo(options);
  const code = await (io.clock as FakeClock).run(main(argv, io), { horizonMs: Number.POSITIVE_INFINITY });
  return { code, ...io.written };
}

/** The three products in one file, which imports the generated files from its own folder. */
async function bundle(): Promise<string> {
  const contents = [
    "export { main } from './src/cli/program/main.ts';",
    "export { completionText } from './src/cli/program/complete.ts';",
    "export { FxRates } from './src/client/index.ts';",
    "export { createMockServer } from './src/mock-server/index.ts';",
  ].join('\n');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [
      {
        name: 'generated files beside the bundle',
        setup: ({ onResolve }) =>
          onResolve({ filter: /generated\/[\w-]+\.ts$/ }, ({ path }) => ({
            path: `./${path.slice(path.lastIndexOf('generated/')).replace(/ts$/, 'mjs')}`,
            external: true,
          })),
      },
      {
        name: 'texts beside their modules',
        setup: ({ onLoad }) =>
          onLoad({ filter: /completion\/scripts\.ts$/ }, async ({ path }) => ({
            contents: (await readFile(path, 'utf8')).replace('import.meta.url', `'${pathToFileURL(path).href}'`),
            loader: 'ts',
          })),
      },
    ],
  });
  return outputFiles[0]!.text;
}

type Json = Readonly<Record<string, unknown>>;

/** A document with the additions of another one. A key whose value is empty is removed. */
export function merged(one: Json, other: Json): Json {
  const entries = Object.entries(other).map(([name, value]) => {
    const own = one[name];
    return [name, isMap(own) && isMap(value) ? merged(own, value) : value];
  });
  const all = Object.entries({ ...one, ...Object.fromEntries(entries) });
  return Object.fromEntries(all.filter(([name, value]) => value !== null || one[name] === null));
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
