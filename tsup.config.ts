import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { completionScripts } from './src/cli/commands/completion/scripts.ts';
import { bundlePanel } from './src/mock-server/panel/panel-files.ts';

const LIBRARY = {
  index: 'src/client/index.ts',
  'file-store': 'src/client/file-store/index.ts',
  'mock-server': 'src/mock-server/index.ts',
  msw: 'src/mock-server/msw/index.ts',
  probe: 'src/probe/index.ts',
  redis: 'src/client/redis/index.ts',
};
/**
 * Files of their own in the ES modules, so that `index.js` only re-exports: a bundler then leaves out what a program does not
 * import, although classes and schemas have statements that it cannot remove.
 */
const PARTS = { client: 'src/client/api/fxrates.ts', errors: 'src/client/errors/errors.ts' };
/** The command line is CommonJS alone, which starts faster. */
const FILES = {
  ...LIBRARY,
  'cli/fxrates': 'src/cli/bin.ts',
  'cli/main': 'src/cli/program/main.ts',
  panel: 'src/mock-server/panel/panel-files.ts',
};

/** Its files are one folder below the others. */
const isOfCommandLine = (folder: string) => /^src.cli\b/.test(relative(import.meta.dirname, folder));

const plugins: Options['esbuildPlugins'] = [
  {
    // An `import()` of one of `FILES` loads that file, so that the package contains its code once.
    name: 'separate-files',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        const source = relative(import.meta.dirname, join(resolveDir, path)).replaceAll('\\', '/');
        const [name] = Object.entries(FILES).find(([, file]) => file === source) ?? [];
        if (kind !== 'dynamic-import' || name === undefined) return undefined;
        return { path: `${isOfCommandLine(resolveDir) ? '..' : '.'}/${name}.cjs`, external: true };
      });
    },
  },
  {
    // Texts from files that are not in the package; the panel contains the packages that it uses.
    name: 'texts',
    setup({ onLoad }) {
      const exported = (name: string, value: string) => ({ contents: `export const ${name} = ${value};` });
      onLoad({ filter: /scripts\.ts$/ }, () => exported('completionScripts', JSON.stringify(completionScripts)));
      const panel = async () => `async () => (${JSON.stringify(await bundlePanel())})`;
      onLoad({ filter: /panel-files\.ts$/ }, async () => exported('panelFiles', await panel()));
    },
  },
];
const SHARED = { target: 'node20', outDir: 'dist', removeNodeProtocol: false, dts: false, esbuildPlugins: plugins };

/** TypeScript 7 writes a declaration file for each module; tsup bundles them. From the sources, it would take 20 s. */
function types(): Options {
  const command = ['node_modules/typescript-7/bin/tsc', '-p', 'scripts/tsconfig.declarations.json'];
  execFileSync(process.execPath, command, { stdio: 'inherit' });
  const declared = (source: string) => source.replace(/^src(.*)\.ts$/, '.declarations$1.d.ts');
  const entry = Object.fromEntries(Object.entries(LIBRARY).map(([name, source]) => [name, declared(source)]));
  // For `Symbol.asyncDispose`, in programs that compile with an older `lib` and without `@types/node`.
  const banner = '/// <reference lib="esnext.disposable" />';
  return { ...SHARED, entry, format: ['esm', 'cjs'], dts: { only: true, banner } };
}

/** CommonJS that every loader reads, that of jest too: `require` in place of `import()`, and no `import.meta`. */
const esbuildOptions: Options['esbuildOptions'] = (options) => {
  options.supported = { ...options.supported, 'dynamic-import': false };
  options.define = { ...options.define, 'import.meta.url': '__filename' };
};

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
const license = (name: string) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`;
writeFileSync('dist/licenses.txt', ['htm', 'preact'].map(license).join('\n\n'));

/** `tsup --no-dts` leaves out the types. */
export default defineConfig(({ dts }) => [
  ...(dts === false ? [] : [types()]),
  { ...SHARED, entry: { ...LIBRARY, ...PARTS }, format: 'esm' },
  { ...SHARED, entry: FILES, format: 'cjs', esbuildOptions },
]);
