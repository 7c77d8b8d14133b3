import { mkdirSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { defineConfig, type Options } from 'tsup';
import { completionTree } from './src/cli/commands/completion/completion-tree.ts';
import { manPage } from './src/cli/help/man-page.ts';
import { programTree } from './src/cli/program.ts';
import { bundlePanel } from './src/mock-server/panel/bundle-panel.ts';

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

/** Puts the finished command tree where `completion-tree.ts` would make it from every command. */
const finishedTree: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'finished-tree',
  setup(build) {
    build.onLoad({ filter: /completion-tree\.ts$/ }, async () => {
      const text = JSON.stringify(JSON.stringify(await completionTree()));
      return { contents: `export const completionTree = async () => JSON.parse(${text});`, loader: 'js' };
    });
  },
};

/** Loaded anyway; newer versions of Node.js export more from these than the one that builds. */
const LOADED_BUILTINS: readonly string[] = ['module', 'process'];

/**
 * Loads a module of Node.js when something of it is first used. An `import` of one loads it at once and reads all its
 * exports, which costs a command more than its own code: reading those of `node:util` alone loads three more modules.
 */
const lazyBuiltins: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^(node:)?[a-z/_]+$/ }, ({ path, kind }) => {
      const name = path.replace(/^node:/, '');
      // commander needs it for programs of its own alone. Others are functions, which no object can stand for.
      const isLazy = kind === 'import-statement' || name === 'child_process';
      return isLazy && builtinModules.includes(name) ? { path: name, namespace: 'lazy-builtin' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'lazy-builtin' }, async ({ path }) => {
      if (LOADED_BUILTINS.includes(path))
        return { contents: `module.exports = process.getBuiltinModule?.('node:${path}');` };
      const { default: builtin } = await import(`node:${path}`);
      const getters = Object.keys(builtin).map((name) => `get ${name}() { return load().${name}; }`);
      const load = `let loaded; const load = () => (loaded ??= process.getBuiltinModule('node:${path}'));`;
      return { contents: `${load} module.exports = { ${getters.join(', ')} };`, loader: 'js' };
    });
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
    esbuildPlugins: [lazyBuiltins, panelFiles, finishedTree],
    esbuildOptions(options) {
      options.minifyWhitespace = true;
      options.minifySyntax = true;
    },
    async onSuccess() {
      mkdirSync('dist/man', { recursive: true });
      writeFileSync('dist/man/fxrates.1', manPage(programTree()));
    },
    banner: {
      // What is CommonJS in the bundle, such as commander, asks for Node's modules by `require`.
      js: 'const require = process.getBuiltinModule;',
    },
  },
]);
