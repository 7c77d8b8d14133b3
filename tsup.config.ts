import { defineConfig } from 'tsup';

/** The library leaves its dependencies to npm; the CLI carries them in one bundle, because that starts faster. */
export default defineConfig([
  {
    entry: { index: 'src/client/index.ts', 'mock-server': 'src/mock-server/index.ts' },
    format: 'esm',
    target: 'node20',
    dts: process.env['FXRATES_BUILD_TYPES'] !== 'false',
    splitting: true,
    clean: true,
    outDir: 'dist',
    external: ['msw', 'undici', 'zod'],
  },
  {
    entry: { fxrates: 'src/cli/bin.ts' },
    format: 'esm',
    target: 'node20',
    dts: false,
    splitting: true,
    clean: true,
    outDir: 'dist/cli',
    noExternal: [/.*/],
    external: ['msw', 'undici'],
    minifySyntax: true,
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  },
]);
