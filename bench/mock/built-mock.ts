import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/** The mock server as users run it: bundled, without what tsx adds to each function. Gives the path of the module. */
export async function buildMock(): Promise<string> {
  const outdir = join(root, 'node_modules/.cache/bench-mock');
  await build({
    entryPoints: { 'mock-server': join(root, 'src/mock-server/index.ts') },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    external: ['esbuild'],
  });
  return join(outdir, 'mock-server.mjs');
}
