import { mkdirSync, writeFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { defineConfig, type Options } from 'tsup';
import { finishedTree } from './src/cli/finished-tree.ts';
import { manPage } from './src/cli/help/man-page.ts';
import { programTree } from './src/cli/program.ts';
import { bundlePanel } from './src/mock-server/panel/panel-files.ts';

/** Puts the bundled control panel where `panel-files.ts` would bundle it itself. */
const panelFiles: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'panel-files',
  setup(build) {
    build.onLoad({ filter: /panel-files\.ts$/ }, async () => {
      const files = JSON.stringify(await bundlePanel());
      return { contents: `export const panelFiles = async () => (${files});`, loader: 'js' };
    });
  },
};

/** Puts the finished command tree where `finished-tree.ts` would make it from every command. */
const treeFile: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'finished-tree',
  setup(build) {
    build.onLoad({ filter: /finished-tree\.ts$/ }, async () => {
      const text = JSON.stringify(JSON.stringify(await finishedTree()));
      return { contents: `export const finishedTree = async () => JSON.parse(${text});`, loader: 'js' };
    });
  },
};

/**
 * What dependencies load and the CLI never uses: commander for commands that are programs of their own, chalk to find
 * out whether the terminal has colours, which the CLI decides by itself.
 */
const leftOut: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'left-out',
  setup(build) {
    build.onResolve({ filter: /^(node:child_process|#supports-color)$/ }, ({ path, importer }) =>
      /[/\\](commander|chalk)[/\\]/.test(importer) ? { path, namespace: 'left-out' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'export default {};' }));
  },
};

const LIBRARY = {
  entry: {
    index: 'src/client/index.ts',
    'file-store': 'src/client/file-store/index.ts',
    'mock-server': 'src/mock-server/index.ts',
    msw: 'src/mock-server/msw/index.ts',
    redis: 'src/client/redis/index.ts',
  },
  target: 'node20',
  outDir: 'dist',
  external: ['msw', 'undici', 'zod'],
} satisfies Options;

/** `.d.ts` and `.d.cts`: a CommonJS file may `require()` the package, and TypeScript wants types of its kind for that. */
const types: Options = { ...LIBRARY, format: ['esm', 'cjs'], dts: { only: true } };

/**
 * Makes a chunk CommonJS, which starts faster than an ES module. A module of Node.js is loaded when it is first used:
 * loading `node:crypto` or `node:http` takes longer than most commands.
 */
const commonJs: NonNullable<Options['plugins']>[number] = {
  name: 'common-js',
  async renderChunk(code) {
    const { code: commonJs } = await transform(code, {
      format: 'cjs',
      target: 'node20',
      define: { 'import.meta.url': '__filename' },
      supported: { 'dynamic-import': false },
      minifyWhitespace: true,
      minifySyntax: true,
    });
    return { code: withLazyBuiltins(commonJs) };
  },
};

/** Puts `require` where the module is used. esbuild has declared a variable of each at the top. */
function withLazyBuiltins(code: string): string {
  const modules = new Map<string, string>();
  const declared = code.replace(/\b(import_node_\w+)=(require\("node:[\w/]+"\))/g, (_, variable, load) => {
    modules.set(variable, `(${load})`); // in parentheses, because `new require('x').Y()` would call `require` with `new`
    return `${variable}=0`;
  });
  return declared.replace(/\bimport_node_\w+(?=\.)/g, (variable) => modules.get(variable) ?? variable);
}

/**
 * The library leaves its dependencies to npm; the CLI carries them in one bundle, because that starts faster.
 * `tsup --no-dts` leaves out the types, which take most of the time.
 */
export default defineConfig((cli) => [
  ...(cli.dts === false ? [] : [types]),
  {
    ...LIBRARY,
    format: 'esm',
    dts: false,
    splitting: true,
    clean: ['dist/*.js', 'dist/*.d.ts', 'dist/*.d.cts'],
    esbuildPlugins: [panelFiles],
  },
  {
    entry: { fxrates: 'src/cli/bin.ts' },
    format: 'esm',
    target: 'node20',
    dts: false,
    splitting: true,
    clean: true,
    outDir: 'dist/cli',
    removeNodeProtocol: false,
    noExternal: [/^(?!undici$|msw$)/],
    external: ['msw', 'undici'],
    outExtension: () => ({ js: '.cjs' }),
    esbuildPlugins: [panelFiles, treeFile, leftOut],
    plugins: [commonJs],
    async onSuccess() {
      mkdirSync('dist/man', { recursive: true });
      writeFileSync('dist/man/fxrates.1', manPage(programTree()));
    },
  },
]);
