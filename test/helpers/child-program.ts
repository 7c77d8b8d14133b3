import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { afterAll } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Inside the project, so that the programs find the installed packages. */
const CACHE = join(ROOT, 'node_modules/.cache');

/** Runs a script in a process of its own, without vitest and other tests. It imports as a file in the project's root does. */
export async function runScript(script: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const folder = cacheFolder();
  const program = await bundle(folder, { stdin: { contents: script, resolveDir: ROOT } });
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  return promisify(execFile)(process.execPath, [program]).finally(removeFolder);
}

/**
 * Bundles a TypeScript program that a test runs in processes of its own. Called once for a test file, whose last test
 * deletes the bundle. Returns its path.
 */
export function bundledProgram(source: URL): Promise<string> {
  const folder = cacheFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return bundle(folder, { entryPoints: [fileURLToPath(source)] });
}

function cacheFolder(): string {
  mkdirSync(CACHE, { recursive: true });
  return mkdtempSync(join(CACHE, 'child-'));
}

/** A bundle starts in a fifth of the time that tsx takes. */
async function bundle(folder: string, source: BuildOptions): Promise<string> {
  const outfile = join(folder, 'program.mjs');
  await build({ ...source, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
  return outfile;
}
