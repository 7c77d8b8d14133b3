import { existsSync } from 'node:fs';
import { join } from 'node:path';

const dist = join(import.meta.dirname, '../dist');

/** The package as users run it: bundled, and without the helpers that tsx adds to each function. */
export const CLIENT_MODULE = join(dist, 'index.js');
export const MOCK_MODULE = join(dist, 'mock-server.js');
export const CLI = join(dist, 'cli/fxrates.cjs');

/** The built client, with the types of its source. */
export function builtClient(): Promise<typeof import('../src/client/index.ts')> {
  return built(CLIENT_MODULE);
}

/** The built mock server, with the types of its source. */
export function builtMock(): Promise<typeof import('../src/mock-server/index.ts')> {
  return built(MOCK_MODULE);
}

function built<Module>(path: string): Promise<Module> {
  if (!existsSync(path)) throw new Error(`${path} is missing. Run: npm run build`);
  return import(path);
}
