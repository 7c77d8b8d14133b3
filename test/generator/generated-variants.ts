import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, transform } from 'esbuild';
import type { main } from '../../src/cli/main.ts';
import type { FxRates } from '../../src/client/index.ts';
import type { Operation } from '../../src/generated/operations.ts';
import type { createMockServer } from '../../src/mock-server/index.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { typeErrors } from './generated-project.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The products, built with other generated files. */
export interface Variant {
  readonly main: typeof main;
  readonly FxRates: typeof FxRates;
  readonly createMockServer: typeof createMockServer;
  readonly operations: Readonly<Record<string, Operation>>;
}

/** Generated files by name. */
type Files = ReadonlyMap<string, string>;

/** Many sets of generated files in one folder, so that one bundle and one compiler run are enough for all. */
export class GeneratedVariants {
  readonly #root: string;
  readonly #bundle: string;
  #count = 0;

  private constructor(root: string, bundle: string) {
    this.#root = root;
    this.#bundle = bundle;
  }

  static async create(): Promise<GeneratedVariants> {
    const root = temporaryFolder();
    await cp(join(ROOT, 'src'), join(root, 'src'), { recursive: true });
    await cp(join(ROOT, 'tsconfig.json'), join(root, 'tsconfig.json'));
    await cp(join(ROOT, 'package.json'), join(root, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'dir');
    return new GeneratedVariants(root, await bundle());
  }

  /** Writes the files. Returns the folder for `typeErrors`, and the products that use the files. */
  async add(files: Files): Promise<{ readonly folder: string; readonly variant: Variant }> {
    this.#count += 1;
    const folder = `src/generated-${this.#count}`;
    const running = join(this.#root, `running-${this.#count}`);
    await mkdir(join(this.#root, folder));
    await mkdir(join(running, 'generated'), { recursive: true });
    await writeFile(join(running, 'main.mjs'), this.#bundle);
    for (const [name, source] of files) {
      await writeFile(join(this.#root, folder, name), source);
      const { code } = await transform(source, { loader: 'ts' });
      await writeFile(join(running, 'generated', name.replace(/ts$/, 'mjs')), code);
    }
    return { folder, variant: await import(/* @vite-ignore */ join(running, 'main.mjs')) };
  }

  /** The compiler's errors in all files so far, with code and line. */
  typeErrors(): Promise<string[]> {
    return typeErrors(this.#root, ['src/generated-*']);
  }
}

/** The three products in one file, which imports the generated files from its own folder. */
async function bundle(): Promise<string> {
  const contents = [
    "export { main } from './src/cli/main.ts';",
    "export { FxRates } from './src/client/index.ts';",
    "export { createMockServer } from './src/mock-server/index.ts';",
    "export { operations } from './src/generated/operations.ts';",
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
          onLoad({ filter: /(?:completion\/scripts|web\/styles)\.ts$/ }, async ({ path }) => ({
            contents: (await readFile(path, 'utf8')).replace('import.meta.url', `'${pathToFileURL(path).href}'`),
            loader: 'ts',
          })),
      },
    ],
  });
  return outputFiles[0]!.text;
}
