import { defineConfig, type Options } from 'tsup';
import { completionTree } from './src/cli/commands/completion/completion-tree.ts';
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

/**
 * The library leaves its dependencies to npm; the CLI carries them in one bundle, because that starts faster.
 * `tsup --no-dts` leaves out the types, which take most of the time.
 */
export default defineConfig((cli) => [
  {
    entry: {
      index: 'src/client/index.ts',
      'file-store': 'src/client/file-store/index.ts',
      'mock-server': 'src/mock-server/index.ts',
      msw: 'src/mock-server/msw/index.ts',
      redis: 'src/client/redis/index.ts',
    },
    format: 'esm',
    target: 'node20',
    dts: cli.dts !== false,
    splitting: true,
    clean: ['dist/*.js', 'dist/*.d.ts'],
    outDir: 'dist',
    external: ['msw', 'undici', 'zod'],
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
    noExternal: [/^(?!undici$|msw$)/],
    external: ['msw', 'undici'],
    esbuildPlugins: [panelFiles, finishedTree],
    banner: {
      // commander is CommonJS and asks for Node's modules by `require`.
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  },
]);
