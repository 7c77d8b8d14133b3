import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

/** Runs a script in a process of its own, without vitest and other tests, in the root of the project. */
export async function runScript(script: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
}

/** Inside the project, so that the program finds the installed packages. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/**
 * Bundles a TypeScript program that a test runs in processes of its own: a start takes a fifth of that with tsx. Called
 * once for a test file, whose last test deletes the bundle. Returns its path.
 */
export async function bundledProgram(source: URL): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'child-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'program.mjs');
  const entryPoints = [fileURLToPath(source)];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
  return outfile;
}
